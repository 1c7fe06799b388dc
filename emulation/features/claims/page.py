# SPDX-License-Identifier: BSD-3-Clause
"""Verdicts on claims in words, and the pages from docs/claims.json: docs/claims.md has a line for each claim and a
figure for each paper, docs/claims-in-detail.md the reasons of each verdict."""

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import experiments
from analysis.tables.claims import Decision, Most, Of, Side
from analysis.tables.table import case_name, number
from analysis.tables.verdicts import Contrast, Found, Outcome, Verdict, no_effect
from emulation.features.claims.causes import Change, changes, decisive
from emulation.features.claims.looks import CONFIDENCE
from emulation.features.claims.noise import Noise, hidden_in_noise, noise_of, runs_of
from emulation.features.claims.record import FILE, Claims, ClaimVerdict, Line, Record, Standing, Tested, text
from emulation.lanes import CHECKOUT
from experiments import Column, Numbered, Study

PAGE, DETAILS = CHECKOUT / "docs/claims.md", CHECKOUT / "docs/claims-in-detail.md"
PERCENT = f"{100 * CONFIDENCE:.3g} %"
FIGURES = f"""Each figure has a paper's ratios, and ours with intervals of {PERCENT}, as published and today:
what a variant has over another, on average over a claim's cases, and our values over the published ones."""
PAPERS = {
    "000": "Papanastasiou, Ould-Khaoua, Charissis: RTS/CTS under TCP, strings and meshes",
    "001": "Koutsonikolas et al.: windows, rates and RTS/CTS in a testbed",
    "002": "Hamadani, Rakocevic: TCP-DCR and the MAC's retries",
    "003": "Papanastasiou: TCP in mobile ad hoc networks, a thesis",
    "004": "Gopal, Paul, Raychaudhuri: skipping ACKs in a WLAN",
}
JUDGED = (Column.PUBLISHED, Column.TODAY)
WIDTH = 120
COUNTED = 1000  # needed seeds beyond this are only said to be more
UNTESTED = "not tested"
NO_CAUSE = "it does not hold, and no experiment shows why"
MOST = 12  # contrasts of a claim that are shown one by one
SAID = {Decision.CONFIRMED: "yes", Decision.OPEN: "open", Decision.REFUTED: "no"}
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# {title}

{text}

"""
ABOUT = """Five papers of 2002 to 2007 make 82 claims on TCP over multihop Wi-Fi. Each is judged twice.
*As published* means with the paper's own MAC rules, routing and TCP, as far as Linux can be set so.
*Today* means with the standard's DCF and unmodified Linux.
[studies.md](studies.md#the-claims-of-the-papers) says how; [what-holds.md](what-holds.md) sums it up.
This page is made from [claims.json](claims.json), which has the numbers of every run; `./dcflab claims --write` makes
both, and `./dcflab claims --report FILE.html` the same as one file."""
VERDICTS = {
    Verdict.REPRODUCED: "the findings hold, and the numbers agree",
    Verdict.IN_KIND: "the findings hold, the numbers do not agree",
    Verdict.NOT: "a finding does not hold; the row says with which change it does, or that there is no effect",
    Verdict.NOISE: "what is not confirmed is less than is significant in the paper's number of runs",
    Verdict.OPEN: "not decided, not run yet, or no change is known with which it holds",
}
HOW = f"""What each verdict of [claims.md](claims.md) rests on. Made from claims.json by `./dcflab claims --write`, too.
A row is a contrast ([studies](studies.md#the-claims-of-the-papers)):
its ratio over all cases with an interval of {PERCENT}, and whether the finding holds (yes, no, open).
If the paper has a range, the row also has it, and whether the number agrees."""


def standing_of(claims: Claims, name: str) -> Standing:
    """Return what the record has on a claim."""
    found = {column: verdict_of(claims, name, column) for column in JUDGED}
    controls = [claims.tested(*unit) for unit in claims.of(name, Column.CONTROL)]
    return Standing(
        columns={column.value: one for column, one in found.items() if one},
        controls=[line for one in controls for line in lines(one)],
    )


def verdict_of(claims: Claims, name: str, column: Column) -> ClaimVerdict | None:
    """Return a claim's verdict under a column; None if it has no study. A claim that is not reproduced is open until an
    experiment shows its cause, unless its missing effects are shown not to exist, or to be the paper's noise."""
    tested = [claims.tested(*unit) for unit in claims.of(name, column)]
    if not tested:
        return None
    found, outcomes = claims.verdict(tested), [one.outcome for one in tested if one.outcome]
    missing = Counter((one.study.name, one.why) for one in tested if one.why)
    whys = [f"{study}: {why}" + (f" ({n} claims)" if n > 1 else "") for (study, why), n in missing.items()]
    change = cause = ""
    tried: list[str] = []
    below = None
    noise = hidden_in_noise(tested, [claims.tested(*unit) for unit in claims.of(name, Column.PUBLISHED)])
    if found is Verdict.NOT:
        possible = changes(claims, name, column)
        made = decisive(claims, possible)
        others = possible[: possible.index(made[0]) if made else None]
        tried = [said for each in others if (said := evidence_against(claims, each))]
        if made:
            change, cause = made[0].text, made[1].value
        elif not (below := no_effect(outcomes)):
            found = Verdict.NOISE if noise else Verdict.OPEN
            whys = whys if noise else [NO_CAUSE, *whys]
    elif found is Verdict.OPEN and noise:
        found = Verdict.NOISE
    undecided = found is Verdict.OPEN and not whys
    open_ = [finding.needs for one in outcomes for finding in one.found if finding.finding is Decision.OPEN]
    needs = max(open_, default=0.0)
    return ClaimVerdict(
        verdict=found.value, seeds=min((one.seeds for one in outcomes), default=0), change=change,
        cause=cause, tried=tried, why="; ".join(whys), below=below,
        noise=noise.error if noise and found is Verdict.NOISE else None,
        runs=noise.runs if noise and found is Verdict.NOISE else 0,
        needs=rounded_up(needs) if undecided and math.isfinite(needs) else None,
        studies=list(dict.fromkeys(one.study.name for one in tested)),
        ours=[line for one in tested if one.outcome for line in lines(one)],
    )  # fmt: skip


def rounded_up(of: float) -> int:
    """Return the next whole number of two digits that is not below this one."""
    unit = int(10 ** max(math.ceil(math.log10(max(of, 1.0))) - 2, 0))
    return math.ceil(of / unit) * unit


def evidence_against(claims: Claims, change: Change) -> str:
    """Return the strongest evidence against a change as the cause, or what leaves it open; empty if there is none."""
    found = [(one, finding) for unit in change.units for one in [claims.tested(*unit)] if one.outcome
             for finding in one.outcome.found if finding.finding not in (None, Decision.CONFIRMED)]  # fmt: skip
    found.sort(key=lambda both: both[1].finding is not Decision.REFUTED)
    if not found:
        return ""
    one, finding = found[0]
    how = "not" if finding.finding is Decision.REFUTED else "undecided"
    return f"{how} with {change.text}: {line_of(one.study, one.claim.name, finding).words}"


def lines(one: Tested) -> list[Line]:
    """Return the contrasts of a study's claim, and its published values beside ours."""
    of = {"study": one.study.name, "claim": one.claim.name}
    if not one.outcome:
        return [Line(**of, ours=one.why)]
    contrasts = [line_of(one.study, one.claim.name, found) for found in one.outcome.found]
    if len(contrasts) > MOST:
        counts = Counter(SAID[found.finding] for found in one.outcome.found if found.finding)
        said = ", ".join(f"{n} {said}" for said, n in counts.items())
        contrasts = [Line(**of, what=f"{len(contrasts)} contrasts", ours=said)]
    return [*contrasts, *(Line(**of, **values) for values in of_values(one.outcome))]


def line_of(study: Study, claim: str, found: Found) -> Line:
    """Return a contrast in words: its sides, ratio, the paper's range, and the finding."""
    if ratio := found.ratio:
        mean, low, high = (number(of) if of >= 10 else f"{of:.3f}" for of in ratio)
        result = mean if math.isnan(found.estimate.half_width) else f"{mean} ({low} to {high})"
    elif found.contrast.counts:
        result = f"in {found.estimate.mean * found.estimate.samples:.0f} of {found.estimate.samples} seeds"
    else:
        result = f"{found.estimate.mean:.3g}"
    said = [SAID[found.finding]] if found.finding else []
    said += [f"number {SAID[found.number]}"] if found.number else []
    undecided = found.finding in (Decision.OPEN, Decision.REFUTED) and study.column is Column.PUBLISHED
    if undecided and (noise := noise_of(found, runs_of(study))):
        said.append(f"the paper's noise {noise}")
    return Line(
        study=study.name, claim=claim, what=compared(found.contrast, study),
        paper=_published(found.contrast), ours=result, said=", ".join(said),
    )  # fmt: skip


def compared(contrast: Contrast, study: Study) -> str:
    """Describe the sides of a contrast."""
    first = contrast.checks[0]
    paths = {side.path for side in first.sides}
    names = [_side(side, study, len(paths) > 1) for side in (first.a, first.b)]
    if names[0] == names[1] and isinstance(first.a, Of) and isinstance(first.b, Of):
        names = [f"{name}, {_case(side, study)}" for name, side in zip(names, (first.a, first.b), strict=True)]
        names[1] += " and so on" if len(contrast.checks) > 1 else ""
    what = [study.quantities.get(path, path) for path in paths if len(paths) == 1]
    relation = "over" if contrast.relation == "in" else contrast.relation
    factor = f"{first.factor:g} x " if contrast.relation != "in" and first.factor != 1 else ""
    return ", ".join([first.group or f"{names[0]} {relation} {factor}{names[1]}", *what, *_cases(contrast, study)])


def _side(side: Side, study: Study, with_path: bool) -> str:
    if isinstance(side, Most):
        return side.name
    if not isinstance(side, Of):
        return number(side)
    name = study.names.get(side.variant, side.variant)
    return f"{name}, {study.quantities.get(side.path, side.path)}" if with_path else name


def _case(side: Of, study: Study) -> str:
    return side.cases if isinstance(side.case, tuple) else case_name(side.case, study.names, study.rows)


def _cases(contrast: Contrast, study: Study) -> list[str]:
    """Return the case of a contrast, or the number of its cases."""
    cases = [side.case for check in contrast.checks for side in check.sides]
    there = dict.fromkeys(case for of in cases for case in (of if isinstance(of, tuple) else (of,)))
    if len(there) > 1:
        return [f"{len(there)} cases"]
    return [name for case in there if (name := case_name(case, study.names, study.rows))]


def _published(contrast: Contrast) -> str:
    if contrast.relation != "in":
        return ""
    low = min(check.factor for check in contrast.checks)
    high = max(check.to or check.factor for check in contrast.checks)
    return f"{low:.4g} to {high:.4g}"


def of_values(outcome: Outcome) -> list[dict[str, str]]:
    """Return published values beside ours, in words."""
    if not outcome.agree:
        return []
    ratios = sorted(math.exp(value.log_ratio.mean) for value in outcome.values)
    middle = f"{ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return [{"what": f"{len(ratios)} published values, ours over theirs: median (range)", "ours": middle,
             "said": f"number {SAID[outcome.agree]}"}]  # fmt: skip


def file(claims: Claims) -> None:
    """Compute all verdicts from all seeds, and write claims.json and the pages. Raises OSError."""
    claims = claims.whole()
    claims.record.claims = standings(claims)
    for path, what in ((FILE, text(claims.record)), (PAGE, page(claims.record)), (DETAILS, details(claims.record))):
        half = path.with_suffix(".new")
        half.write_text(what)
        half.rename(path)


def standings(claims: Claims) -> dict[str, Standing]:
    return {name: standing_of(claims, name) for name in experiments.numbered()}


def verdicts(known: Mapping[str, Standing], column: Column) -> Counter[str]:
    """Count the claims by verdict."""
    return Counter(one.columns[column.value].verdict for one in known.values() if column.value in one.columns)


def counts_in_words(known: Mapping[str, Standing]) -> str:
    """Return the counts of verdicts by column, in words."""
    parts = []
    for column in JUDGED:
        counts = verdicts(known, column)
        said = ", ".join(f"{counts[one.value]} {one.value}" for one in Verdict if counts[one.value])
        parts.append(f"{column.value}: {said or 'none was tested'}")
    return f"{len(known)} claims. {'; '.join(parts).capitalize()}."


def short_verdict(one: ClaimVerdict | None, said: Numbered) -> str:
    """Return a verdict in few words."""
    if one is None:
        return UNTESTED if said.untested else "-"
    if one.cause:
        return f"{one.verdict}; holds with {one.change}"
    if one.below:
        return f"{one.verdict}: the effect is below {100 * one.below:.2g} %"
    if one.noise:
        return f"{one.verdict}: {Noise(one.runs, one.noise)}"
    if one.verdict != Verdict.OPEN.value:
        return one.verdict
    if one.why.startswith(NO_CAUSE):
        return f"{one.verdict}: does not hold, cause not shown"
    if one.why:
        return f"{one.verdict}: some runs are missing"
    if not one.needs:
        return f"{one.verdict}: undecided"
    seeds = f"some {one.needs}" if one.needs <= COUNTED else f"over {COUNTED:,}"
    return f"{one.verdict}: undecided, needs {seeds} seeds"


def page(record: Record) -> str:
    """Return the content of claims.md."""
    return HEAD.format(title="The claims of the papers", text=ABOUT) + "\n".join(_page(record)) + "\n"


def _page(record: Record) -> Iterator[str]:
    known, numbered = record.claims, experiments.numbered()
    if made := sorted((one.kernel, one.behaviour) for one in record.versions().values()):
        yield "Found with " + ", ".join(f"Linux {kernel}, version `{behaviour}`" for kernel, behaviour in made) + "."
    counts = [verdicts(known, column) for column in JUDGED]
    yield from ("", f"| {len(known)} claims | | {' | '.join(column.value for column in JUDGED)} |", "|---|---|---|---|")
    for verdict, means in VERDICTS.items():
        yield f"| {verdict.value} | {means} | {' | '.join(str(of[verdict.value]) for of in counts)} |"
    for about in subjects():
        heads = " | ".join(column.value for column in JUDGED)
        yield from ("", f"## {capital(about)}", "", f"| | paper | says | {heads} |", "|---|---|---|---|---|")
        for name, said in numbered.items():
            if said.about == about:
                cells = [f"[{name}](claims-in-detail.md#{name.lower()})", said.paper, said.short]
                cells += [short_verdict(known[name].columns.get(column.value), said) for column in JUDGED]
                yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield from ("", "## The papers", "", *FIGURES.split("\n"))
    for paper, title in PAPERS.items():
        yield from ("", f"**{paper}**, {title}.")
        if picture(paper).exists():
            yield from ("", f"![Ratios of paper {paper} beside ours]({picture(paper).name})")


def subjects() -> list[str]:
    return list(dict.fromkeys(said.about for said in experiments.numbered().values()))


def capital(words: str) -> str:
    return words[0].upper() + words[1:]


def picture(paper: str) -> Path:
    return PAGE.with_name(f"claims-{paper}.svg")


def details(record: Record) -> str:
    """Return the content of claims-in-detail.md."""
    return HEAD.format(title="The claims in detail", text=HOW) + "\n".join(_details(record)) + "\n"


def _details(record: Record) -> Iterator[str]:
    for name, said in experiments.numbered().items():
        known = record.claims[name]
        there = {column: one for column in JUDGED if (one := known.columns.get(column.value))}
        yield from (f"## {name}", "", f"**{said.short}**", "", *wrapped(f"{said.text} ({said.where})."), "")
        for column, one in there.items():
            yield from _verdict(column, one, said)
        if said.untested:
            yield from wrapped(f"not tested: {said.untested}", "- ")
        yield from _table({column.value: one.ours for column, one in there.items()})
        if known.controls:
            yield from ("", "Controls, not counted:", *_table({"ours": known.controls}, with_study=True))
        if said.tried:
            where = f" ([finding]({said.finding.removeprefix('docs/')}))" if said.finding else ""
            yield from ("", *wrapped(f"{said.tried}{where}."))
        yield ""


def _verdict(column: Column, one: ClaimVerdict, said: Numbered) -> Iterator[str]:
    """Yield the verdict under a column, and its reasons."""
    seeds, studies = f", {one.seeds} seeds" if one.seeds else "", ", ".join(f"`{study}`" for study in one.studies)
    yield from wrapped(f"**{column.value}: {short_verdict(one, said)}**{seeds} ({studies})", "- ")
    if one.cause:
        yield from wrapped(f"the cause: with {one.change} it is {one.cause}", "  - ")
    for line in one.tried:
        yield from wrapped(line, "  - ")
    for why in one.why.split("; ") if one.why else ():
        yield from wrapped(why, "  - ")


def _table(found: Mapping[str, Sequence[Line]], with_study: bool = False) -> Iterator[str]:
    """Yield a table with a row for each contrast, and its findings under each column."""
    rows: dict[tuple[str, ...], dict[str, Line]] = {}
    for column, ours in found.items():
        times = Counter[tuple[str, ...]]()
        for line in ours:
            key = (*([line.study] if with_study else []), line.claim, line.what, line.paper)
            times[key] += 1
            rows.setdefault((*key, str(times[key])), {})[column] = line
    if not rows:
        return
    yield from ("", f"| claim | compared | paper | {' | '.join(found)} |", "|---|---|---|" + "---|" * len(found))
    for (*where, what, paper, _), by_column in rows.items():
        shown = [by_column.get(column) for column in found]
        cells = [", ".join(where), what, paper]
        cells += ["" if line is None else f"{line.ours}: {line.said}" if line.said else line.ours for line in shown]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def wrapped(text: str, mark: str = "") -> list[str]:
    """Wrap a paragraph, or an item of a list."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
