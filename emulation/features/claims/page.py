# SPDX-License-Identifier: BSD-3-Clause
"""How what was found is told: in short, for each claim; and docs/claims.md, which is made from docs/claims.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy

import experiments
from analysis.tables.claims import Finding, Of, Sure, line_of
from analysis.tables.table import case_name, number
from emulation.features.claims.looks import State
from emulation.features.claims.record import FILE, Claims, Look, Record, Standing, Tested, text, versions
from emulation.lanes import CHECKOUT
from experiments import Study

PAGE = CHECKOUT / "docs/claims.md"
SEEDS = {
    "000": "Papanastasiou, Ould-Khaoua, Charissis: RTS/CTS under TCP, strings and meshes",
    "001": "Koutsonikolas et al.: windows, rates and RTS/CTS in a testbed",
    "002": "Hamadani, Rakocevic: TCP-DCR and the MAC's retries",
    "003": "Papanastasiou: TCP in mobile ad hoc networks, a thesis",
    "004": "Gopal, Paul, Raychaudhuri: skipping ACKs in a WLAN",
}
FEW = 4  # checks that are told one by one
MOST_NUMBERS = 6  # of ours beside theirs, in a claim's summary
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# The claims of the seeds

What each seed claims, in our words, and what came out here. This page is made from [claims.json](claims.json), which
has the numbers of every run; `./dcflab claims --write` makes both. Published numbers are in brackets after ours.
[studies.md](studies.md#the-claims-of-the-seeds) says how claims are tested, and what the states mean.

"""


def standing(claims: Claims, name: str) -> Standing:
    """What the record knows of a claim."""
    said = experiments.numbered()[name]
    tested = [claims.tested(study, claim) for study, claim in claims.of(name)]
    studies = list(dict.fromkeys(one.study.name for one in tested))
    findings = claims.findings(tested)
    missing = Counter((one.study.name, one.why) for one in tested if one.why)
    if not findings:
        why = said.untested or "; ".join(dict.fromkeys(why for _, why in missing))
        return Standing(state=State.UNTESTED.value, studies=studies, why=why)
    found = claims.state(tested)
    explained = bool(said.explained) and found in (State.NOT, State.IN_PART)
    ours = [(f"{one.study.name}, " if len(studies) > 1 else "") + summary(one) for one in tested if one.verdict]
    return Standing(
        state=(State.EXPLAINED if explained else found).value, found=found.value if explained else "",
        seeds=min(finding.seeds for finding in findings), checks=how_many(findings), studies=studies,
        ours=ours,
        why="; ".join(f"{study}: {why}" + (f" ({n} claims)" if n > 1 else "") for (study, why), n in missing.items()),
    )  # fmt: skip


def how_many(findings: Sequence[Finding]) -> str:
    decided = [finding.decided for finding in findings]
    open_ = decided.count(Sure.OPEN)
    return f"{decided.count(Sure.CONFIRMED)} of {len(decided)} hold" + (f", {open_} undecided" if open_ else "")


def summary(one: Tested) -> str:
    """What was found of a study's claim in short: its check, or how many of them hold, with our numbers beside the
    published ones if there are any, or else between which ratios they are."""
    findings = one.verdict.findings if one.verdict else ()
    lines = [line_of(finding, one.study.names, one.study.rows, one.study.quantities) for finding in findings]
    numbers = beside(one.study, findings) or (ratios(findings) if len(findings) > 1 else "")
    few = len(lines) == 1 or (len(lines) <= FEW and not numbers)
    return f"{one.claim.name}: " + "; ".join(
        [*(lines if few else [how_many(findings)]), *([numbers] if numbers else [])]
    )


def beside(study: Study, findings: Sequence[Finding]) -> str:
    """Ours, and theirs in brackets, of what was published of what these checks compare."""
    found = {}
    for finding in findings:
        for side, ours in ((finding.check.a, finding.a), (finding.check.b, finding.b)):
            if isinstance(side, Of) and isinstance(side.case, str):
                theirs = study.published.get(side.case, {}).get(side.variant, {}).get(side.path)
                words = [study.names.get(side.variant, side.variant)]
                words += [case_name(side.case, study.names, study.rows)] if side.case else []
                where = ", ".join(words)
                if theirs is not None:
                    found[where, side.path] = f"{where} {number(ours)} ({number(theirs)})"
    return ", ".join(found.values()) if len(found) <= MOST_NUMBERS else ""


def ratios(findings: Sequence[Finding]) -> str:
    """Between which ratios all of them are, if each has one."""
    found = [finding.ratio.mean for finding in findings if finding.ratio and len(finding.check.sides) == 2]
    return f"ratios {min(found):.3f} to {max(found):.3f}" if found and len(found) == len(findings) else ""


def file(claims: Claims) -> None:
    """Work out the state of all claims, by all seeds that there are, and write claims.json and claims.md. Raises
    OSError."""
    claims = copy(claims)
    claims.look = Look()
    claims.record.claims = standings(claims)
    for path, what in ((FILE, text(claims.record)), (PAGE, page(claims.record))):
        half = path.with_suffix(".new")
        half.write_text(what)
        half.rename(path)


def standings(claims: Claims) -> dict[str, Standing]:
    return {name: standing(claims, name) for name in experiments.numbered()}


def page(record: Record) -> str:
    """claims.md."""
    return HEAD + "\n".join(_page(record)) + "\n"


def in_all(known: Mapping[str, Standing]) -> str:
    """How many are of each state."""
    counts = Counter(one.state for one in known.values())
    told = [f"{state.value}: {counts[state.value]}" for state in State if counts[state.value]]
    return f"{len(known)} claims. {'; '.join(told).capitalize()}."


def _page(record: Record) -> Iterator[str]:
    yield in_all(record.claims)
    if made := sorted((one.kernel, one.behaviour) for one in versions(record).values()):
        yield "Found with " + ", ".join(f"Linux {kernel}, version `{behaviour}`" for kernel, behaviour in made) + "."
    numbered = experiments.numbered()
    for seed, title in SEEDS.items():
        yield from ("", f"## Seed {seed}", "", f"{title}.", "", "| | the seed | here | |", "|---|---|---|---|")
        for name, said in numbered.items():
            if said.seed == seed:
                found = record.claims[name]
                ours = "<br>".join([*found.ours, *([f"({found.why})"] if found.why else [])])
                studies = ", ".join(f"`{study}`" for study in found.studies)
                cells = (
                    name,
                    said.text + (f" ({said.section})" if said.section else ""),
                    _state(found, said),
                    f"{ours}<br>{studies}",
                )
                yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _state(found: Standing, said: experiments.Numbered) -> str:
    state = f"**{found.state}**" + (f" ({found.found})" if found.found else "")
    if found.seeds:
        state += f", {found.seeds} seeds: {found.checks}"
    if found.state == State.EXPLAINED.value:
        state += f". {said.explained} ([finding]({said.finding.removeprefix('docs/')}))"
    return state
