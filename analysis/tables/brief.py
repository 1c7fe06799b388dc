# SPDX-License-Identifier: BSD-3-Clause
"""The first output of a run: a table without repeated rows, bars of the first quantity, a few sentences, and a line on
the claims. `--full` and the report show the rest (`analysis.tables.findings`).

The first quantity of a study is goodput, or else the first in its list. One seed gives no verdict.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from analysis.results.result import Result, Run
from analysis.tables import statistics
from analysis.tables.findings import NOT_TESTED, Findings
from analysis.tables.table import Published, by_case, change_of, number, shown, study_tables, value

if TYPE_CHECKING:
    from rich.table import Table

GOODPUT = "goodput_kbps"  # every run has it
GOODPUTS = ("goodput_segments", GOODPUT)
AGAIN = {"col.any.": "col."}  # these counts repeat others, over more stations
BAR, MOST_BARS, MOST_SENTENCES = 36, 8, 3


@dataclass(frozen=True)
class Source:
    """The input of the first output. `names`: of variants and cases. `phrases`: how a sentence names a variant, such as
    "without RTS/CTS"; by default "with NAME". `rows`: what the cases are. `published`: by case, variant and path."""

    findings: Findings
    result: Result
    quantities: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)
    rows: str = ""
    published: Published = field(default_factory=dict)

    @property
    def runs(self) -> Sequence[Run]:
        return self.result.runs

    @property
    def first(self) -> str:
        """Path of the first quantity."""
        return next((path for path in (*GOODPUTS, *self.quantities) if path in self.quantities), GOODPUT)

    def called(self, variant: str) -> str:
        return self.phrases.get(variant) or f"with {self.names.get(variant, variant)}"


def tables(of: Source) -> "list[Table]":
    """Return the tables: with one case, its table without rows that repeat others or are zero; with several, the table
    of the first quantity."""
    groups = by_case(of.runs)
    if len(groups) > 1:
        kept = {of.first: of.quantities.get(of.first, of.first)}
    else:
        kept = {path: of.quantities[path] for path in rows(of)}
    return study_tables("", of.runs, published=of.published, names=of.names, rows=of.rows, quantities=kept)


def rows(of: Source) -> list[str]:
    """Return the quantities that the table of one case keeps."""
    there = shown(of.quantities, of.runs, of.published)
    variants = {run.variant for run in of.runs}
    kept: dict[tuple[float, ...], str] = {}
    for path in there:
        measured = tuple(value(run, path) for run in of.runs)
        theirs = [numbers.get(path, 0.0) for case in of.published.values() for numbers in case.values()]
        repeats = any(
            path.startswith(again) and path.replace(again, first, 1) in there for again, first in AGAIN.items()
        )
        in_bars = path == GOODPUT and (len(variants) > 1 or "goodput_segments" in there)
        nothing = not any(number for number in measured if not math.isnan(number)) and not any(theirs)
        if not (repeats or in_bars or nothing):
            kept.setdefault(measured, path)
    return list(kept.values())


def bars(of: Source) -> list[str]:
    """Return a line with a bar for each variant of one case: goodput in kb/s, or the first quantity."""
    groups = by_case(of.runs)
    variants = next(iter(groups.values()))
    if len(groups) > 1 or not 1 < len(variants) <= MOST_BARS:
        return []
    path = GOODPUT if of.first in GOODPUTS else of.first
    unit = "goodput, kb/s" if path == GOODPUT else of.quantities[path]
    found = {variant: statistics.mean([value(run, path) for run in group]) for variant, group in variants.items()}
    most = max((one.mean for one in found.values() if one.mean > 0), default=0.0)
    if not most:
        return []
    wide = max(len(of.names.get(variant, variant)) for variant in found)
    lines = [unit]
    for variant, one in found.items():
        filled = 0 if math.isnan(one.mean) else round(BAR * max(one.mean, 0.0) / most)
        lines.append(f"  {of.names.get(variant, variant):{wide}}  {'█' * filled:{BAR}}  {number(one)}")
    return lines


def sentences(of: Source) -> list[str]:
    """Return sentences that compare each variant's first quantity with that of the first variant."""
    groups = by_case(of.runs)
    variants = list(dict.fromkeys(variant for group in groups.values() for variant in group))
    if len(variants) < 2:
        return _alone(of) if len(groups) == 1 else []
    first = variants[0]
    compared = {
        variant: found
        for variant in variants[1:]
        if (found := {case: c for case, group in groups.items()
                      if (c := change_of(group.get(variant, []), group.get(first, []), of.first))})
    }  # fmt: skip
    if not compared:
        return []
    middle = {variant: fmean(each.mean for each in found.values()) for variant, found in compared.items()}
    chosen = list(compared)
    if len(chosen) > MOST_SENTENCES:
        chosen = list(dict.fromkeys((max(middle, key=middle.__getitem__), min(middle, key=middle.__getitem__))))
    lines = [_compare(of, variant, first, compared[variant]) for variant in chosen]
    if left := len(compared) - len(chosen):
        lines.append(f"The other {'one is' if left == 1 else f'{left} are'} between these.")
    return lines


def _alone(of: Source) -> list[str]:
    """Return sentences about runs without a comparison, if they have flows."""
    if not any(run.flows for run in of.runs):
        return []
    goodput = statistics.mean([value(run, GOODPUT) for run in of.runs])
    lines = [] if math.isnan(goodput.mean) else [f"The flows carry {number(goodput)} kb/s in all."]
    if all(run.counted for run in of.runs):
        lost, gave_up = (statistics.mean([value(run, path) for run in of.runs]) for path in ("col.total", "fail.total"))
        lines.append(
            f"Collisions destroy {number(lost)} frames at their receivers; the MAC gives up on {number(gave_up)}."
        )
    return lines


def _compare(of: Source, variant: str, first: str, found: Mapping[str, statistics.Estimate]) -> str:
    what = "the goodput" if of.first in GOODPUTS else of.quantities.get(of.first, of.first)
    subject = f"{of.called(variant)[:1].upper()}{of.called(variant)[1:]}, {what} is"
    against = f"than {of.called(first)}"
    theirs = [
        numbers[variant][of.first] / numbers[first][of.first] - 1
        for case, numbers in of.published.items()
        if case in found and all(numbers.get(side, {}).get(of.first) for side in (variant, first))
    ]
    if len(found) == 1:
        [one] = found.values()
        spread = "" if math.isnan(one.half_width) else f" ± {100 * one.half_width:.1f}"
        said = f"{subject} {100 * abs(one.mean):.1f}{spread} % {_side(one.mean)} {against}"
        said += ", which may be chance" if abs(one.mean) < one.half_width else ""
        middle = one.mean
    else:
        middle = fmean(each.mean for each in found.values())
        least, most = min(each.mean for each in found.values()), max(each.mean for each in found.values())
        said = (f"{subject} on average {100 * abs(middle):.1f} % {_side(middle)} {against}; over {len(found)} cases "
                f"the change is {100 * least:+.1f} % to {100 * most:+.1f} %")  # fmt: skip
    if theirs:
        paper = fmean(theirs)
        same = (paper >= 0) == (middle >= 0)
        said += f"; the paper says {100 * abs(paper):.1f} %" + ("" if same else f" {_side(paper)}")
    return f"{said}."


def _side(of: float) -> str:
    return "higher" if of >= 0 else "lower"


def claims(of: Source, folder: str) -> str:
    """Return a line on how many claims agree; empty without claims."""
    tested = [claim for claim in of.findings.claims if claim.verdict != NOT_TESTED]
    if not tested:
        return ""
    agree = sum(claim.agrees for claim in tested)
    seeds = len({run.seed for run in of.runs})
    how = "agree (one seed; use --seeds 1..5)" if seeds == 1 else f"hold in all {seeds} seeds"
    untested = len(of.findings.claims) - len(tested)
    more = f"; {untested} more are not tested" if untested else ""
    return f"{agree} of {len(tested)} claims {how}{more}: ./dcflab view {folder}"


def show(of: Source, folder: str) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 200, emoji=False)
    console.print(of.findings.title, style="bold", highlight=False)
    console.print(of.findings.conditions, style="dim", highlight=False, markup=False)
    for table in (*tables(of), *of.findings.beside):
        table.box, table.show_edge, table.pad_edge = SIMPLE_HEAD, False, False
        console.print(table)
        console.print()
    for lines in (bars(of), sentences(of)):
        if lines:
            console.print(*lines, sep="\n", highlight=False, markup=False)
            console.print()
    for line in of.findings.troubles:
        console.print(line, style="bold", highlight=False, markup=False)
    if line := claims(of, folder):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
