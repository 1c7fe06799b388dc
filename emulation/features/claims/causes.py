# SPDX-License-Identifier: BSD-3-Clause
"""The causes of claims that do not hold under a column: changes of their studies' options.

A change that claims.toml names is tried first; it replaces options of cases, too. Then each option in which the studies
of the two columns differ, alone and in a fixed order; then all of them, if the claim holds under the other column. The
first change under which the claim holds is the cause."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

import experiments
from analysis.tables.claims import Claim
from analysis.tables.verdicts import Verdict
from emulation.features.claims.record import Claims
from experiments import Cause, Column, Options, Study

Unit = tuple[Study, Claim]
OTHER = {Column.PUBLISHED: Column.TODAY, Column.TODAY: Column.PUBLISHED}
COMES_OUT = (Verdict.REPRODUCED, Verdict.IN_KIND)
USUAL = {"like": "standard", "tcp_like": "linux", "routing": "static"}  # defaults
WORDS = {
    ("like", "ns2"): "ns-2's MAC rules",
    ("like", "standard"): "the standard's MAC rules",
    ("tcp_like", "ns2"): "a transport like ns-2's",
    ("tcp_like", "linux"): "Linux's transport",
    ("routing", "static"): "static routes",
}


@dataclass(frozen=True)
class Change:
    """Changed options, in words, and the claim's studies with them."""

    text: str
    units: list[Unit]


def changes(claims: Claims, number: str, column: Column) -> list[Change]:
    """Return the changes to try for a claim under a column, in order."""
    units = claims.of(number, column)
    named: list[Change] = []
    if cause := experiments.numbered()[number].cause(column):
        typed = [_typed(cause.options)] if cause.options else []
        alike: dict[str, list[str]] = {}
        for name, of in (*cause.variants.items(), *cause.cases.items()):
            alike.setdefault(_typed(of), []).append(name)
        typed += [f"{_names_said(names)} with {options}" for options, names in alike.items()]
        said = f"{cause.text} ({', '.join(typed)})"
        named = [Change(said, [(_under(study, cause), claim) for study, claim in units])]
    pairs = [(unit, _counterpart(unit, claims.of(number, OTHER[column]))) for unit in units]
    found = [(unit, other) for unit, other in pairs if other]
    if len(found) < len(pairs):
        return named
    options = dict.fromkeys(name for (ours, _), (theirs, _) in found for name in _differ(ours, theirs))
    alone = [_alone(name, found) for name in sorted(options, key=_rank)]
    whole = Change(f"all options of the column '{OTHER[column].value}'", [other for _, other in found])
    found_so: dict[tuple[str, ...], Change] = {}
    for change in (*named, *alone, *([whole] if len(alone) > 1 and decisive(claims, [whole]) else [])):
        found_so.setdefault(tuple(study.name for study, _ in change.units), change)
    return list(found_so.values())


def decisive(claims: Claims, tried: list[Change]) -> tuple[Change, Verdict] | None:
    """Return the first change under which the claim holds, and its verdict."""
    found = ((change, claims.verdict([claims.tested(*unit) for unit in change.units])) for change in tried)
    return next(((change, verdict) for change, verdict in found if verdict in COMES_OUT), None)


def _counterpart(unit: Unit, others: list[Unit]) -> Unit | None:
    """Return the other column's study of the same claim, cases and variants; of several, that with the most similar
    name."""
    study, claim = unit
    same = [
        (other, its) for other, its in others
        if its.name == claim.name and (other.cases, other.variants) == (study.cases, study.variants)
    ]  # fmt: skip
    return max(same, key=lambda one: _alike(study.name, one[0].name), default=None)


def _alike(a: str, b: str) -> int:
    """Return the length of the common prefix of two names."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(a, b, strict=False)))


def _alone(name: str, pairs: list[tuple[Unit, Unit]]) -> Change:
    """Return the change of one option to the other column's value. A study that has this value is unchanged; one that
    differs in nothing else is the other column's."""
    units, values = [], []
    for (ours, claim), (theirs, its) in pairs:
        differ = _differ(ours, theirs)
        if name not in differ:
            units.append((ours, claim))
            continue
        values.append(_value(theirs.options, name))
        units.append((theirs, its) if differ == [name] else (_with(ours, {name: values[-1]}), claim))
    words = list(dict.fromkeys(WORDS.get((name, str(value)), name) for value in values))
    typed = dict.fromkeys(_typed({name: value}) for value in values)
    return Change(f"{', '.join(words)} ({', '.join(typed)})", units)


def _with(study: Study, options: Options) -> Study:
    """Return the study with these options; None removes one. Its name contains them, so that claims share its runs."""
    said = [f"{name} {'as usual' if value is None else _value_said(value)}" for name, value in options.items()]
    kept = {name: value for name, value in {**study.options, **options}.items() if value is not None}
    return replace(study, name=", ".join([study.name, *said]), options=kept, also={})


def _under(study: Study, cause: Cause) -> Study:
    """Return the study with what a named cause changes, also in its cases. Variants and cases that it lacks are those
    of another study of the claim."""
    cases: dict[str, Options] = {
        case: {name: value for name, value in of.items() if name not in cause.options}
        for case, of in study.cases.items()
    }
    found = _with(study, cause.options)
    variants, said = dict(found.variants), [found.name]
    for there, changed in ((variants, cause.variants), (cases, cause.cases)):
        for name, of in changed.items():
            if name in there:
                there[name] = {**there[name], **of}
                said.append(
                    f"{name} with " + ", ".join(f"{option} {_value_said(value)}" for option, value in of.items())
                )
    return replace(found, name=", ".join(said), variants=variants, cases=cases)


def _differ(ours: Study, theirs: Study) -> list[str]:
    names = dict.fromkeys([*ours.options, *theirs.options])
    return [name for name in names if _value(ours.options, name) != _value(theirs.options, name)]


def _value(options: Options, name: str) -> object:
    """Return an option's value, or its default; None if unknown."""
    return options.get(name, USUAL.get(name))


def _rank(name: str) -> tuple[int, str]:
    """Return a sort key: the MAC's rules, the transport, routing, then the others by name."""
    known = list(USUAL)
    return known.index(name) if name in known else len(known), name


def _typed(options: Mapping[str, object]) -> str:
    """Format options as on a command line."""
    said = (f"--{name.replace('_', '-')} {_value_said(value)}" if value is not None
            else f"no --{name.replace('_', '-')}" for name, value in options.items())  # fmt: skip
    return f"`{' '.join(said)}`"


def _names_said(names: list[str]) -> str:
    """Format names of cases or variants: several with one beginning as a pattern."""
    start = names[0][: min(_alike(names[0], name) for name in names)]
    return f"{start}*" if len(names) > 1 and start else ", ".join(names)


def _value_said(value: object) -> object:
    return ",".join(f"{name}={of}" for name, of in value.items()) if isinstance(value, Mapping) else value
