# SPDX-License-Identifier: BSD-3-Clause
"""Results as tables for people, and whether the claims of a study hold.

A quantity is named by its path in a `Run` (`col.rtscts`, `in_flight.total`, `goodput_kbps`): the rows of tables, the
numbers of a publication and the checks of a claim all use these names, so that a study is data and needs no code.
Runs of one strategy under several seeds are shown as mean ± half-width of the 95 % confidence interval.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from analysis import statistics
from emulation.result import Run

Published = Mapping[str, Mapping[str, float]]  # strategy -> path -> number

QUANTITIES = {
    "col.rtscts": "COL_RTS/CTS",
    "col.data": "COL_DATA",
    "col.ack": "COL_ACK",
    "col.total": "COL_TOTAL",
    "col.any.rtscts": "COL_ANY_RTS/CTS",
    "col.any.data": "COL_ANY_DATA",
    "col.any.ack": "COL_ANY_ACK",
    "col.any.total": "COL_ANY_TOTAL",
    "fail.rtscts": "FAIL_RTS/CTS",
    "fail.data": "FAIL_DATA",
    "fail.ack": "FAIL_ACK",
    "fail.total": "FAIL_TOTAL",
    "in_flight.data": "DATA in flight, mean",
    "in_flight.ack": "ACK in flight, mean",
    "in_flight.total": "segments in flight, mean",
    "queue_drops": "queue drops",
    "goodput_segments": "goodput, segments",
    "goodput_kbps": "goodput, kb/s",
}
SECTIONS = ("col.total", "col.any.total", "fail.total", "in_flight.total", "queue_drops")  # a rule follows these
MUCH, ALIKE = 2.0, 0.25  # `>>`: at least twice as much; `~`: within a quarter of the larger one

RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    ">>": lambda a, b: a > b and a >= MUCH * b,
    "<<": lambda a, b: b > a and b >= MUCH * a,
    "~": lambda a, b: abs(a - b) <= ALIKE * max(abs(a), abs(b)),
}


def value(run: Run, path: str) -> float:
    """A quantity of a run by its path; nan where the run has none. Raises AttributeError for a path there is not."""
    found: object = run
    for name in path.split("."):
        found = getattr(found, name)
        if found is None:
            return math.nan
    return float(found)  # type: ignore[arg-type]


def by_strategy(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each RTS/CTS strategy, in the order in which strategies first come, sorted by seed."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.rts, []).append(run)
    return {rts: sorted(group, key=lambda run: run.seed) for rts, group in groups.items()}


def study_table(
    title: str, runs: Sequence[Run], *, published: Published | None = None, base: str = "full",
    names: Mapping[str, str] | None = None,
) -> Table:  # fmt: skip
    """One column per strategy, with the numbers of a publication beside it, and the change of goodput against `base`.

    `names`: what to call the strategies. Raises statistics' ValueError if strategies ran under different seeds.
    """
    published, names = published or {}, names or {}
    groups = by_strategy(runs)
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for rts in groups:
        table.add_column(names.get(rts, rts), justify="right")
        if rts in published:
            table.add_column("published", justify="right", style="dim")
    for path, label in QUANTITIES.items():
        cells = []
        for rts, group in groups.items():
            cells.append(number(statistics.mean([value(run, path) for run in group])))
            if rts in published:
                cells.append(number(published[rts].get(path)))
        table.add_row(label, *cells, end_section=path in SECTIONS)
    if base in groups and len(groups) > 1:
        changes = _changes(groups, "goodput_segments", published, base)
        table.add_row(f"change of goodput against {names.get(base, base)}", *changes)
    return table


def _changes(groups: Mapping[str, Sequence[Run]], path: str, published: Published, base: str) -> list[str]:
    cells = []
    bases = [value(run, path) for run in groups[base]]
    for rts, group in groups.items():
        known = bool(bases) and all(bases) and rts != base
        cells.append(percent(statistics.relative_change([value(run, path) for run in group], bases)) if known else "")
        if rts in published:
            ours, theirs = published[rts].get(path), published.get(base, {}).get(path)
            cells.append(percent(statistics.mean([ours / theirs - 1])) if ours and theirs and rts != base else "")
    return cells


def number(of: statistics.Estimate | float | None) -> str:
    """A number for a table: whole from 100 on, else to two digits after the point unless it is whole."""
    if of is None:
        return ""
    if isinstance(of, statistics.Estimate):
        spread = "" if math.isnan(of.half_width) else f" ± {number(of.half_width)}"
        return number(of.mean) + spread
    if math.isnan(of):
        return "-"
    return f"{of:,.0f}" if abs(of) >= 100 or of == int(of) else f"{of:.2f}"


def percent(of: statistics.Estimate) -> str:
    spread = "" if math.isnan(of.half_width) else f" ± {of.half_width * 100:.1f}"
    return f"{of.mean * 100:+.1f}{spread} %"


def run_table(title: str, run: Run) -> Table:
    """The summary of a single run: counters, goodput per flow and in sum."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for path, label in QUANTITIES.items():
        table.add_row(label, number(value(run, path)), end_section=path in SECTIONS)
    if len(run.flows) > 1:
        for flow in run.flows:
            table.add_row(f"{flow.name} {flow.source} to {flow.destination}, kb/s", number(flow.goodput_kbps))
    table.add_row("TCP retransmissions", number(sum(flow.retransmits for flow in run.flows)))
    return table


@dataclass(frozen=True)
class Check:
    """`a` RELATION `b`. Each side is a number, or "strategy.path" such as "none.goodput_segments"."""

    a: str | float
    relation: str
    b: str | float


@dataclass(frozen=True)
class Claim:
    """What a publication says, as checks that must all hold."""

    name: str
    text: str
    checks: Sequence[Check]


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds: in how many of the seeds all checks do, and for each check its means and seeds."""

    claim: Claim
    held: int
    seeds: int
    details: list[tuple[Check, float, float, int]]  # check, mean of a, mean of b, seeds in which it holds

    @property
    def text(self) -> str:
        if self.held == self.seeds:
            return "holds" if self.seeds == 1 else f"holds in all {self.seeds} seeds"
        if self.seeds == 1 or not self.held:
            return "does not hold" if self.seeds == 1 else f"does not hold in any of {self.seeds} seeds"
        return f"holds in {self.held} of {self.seeds} seeds"

    def lines(self) -> list[str]:
        """For people: the verdict, then each check with its numbers, and in how many seeds where that differs."""
        lines = [f"{self.claim.name}  {self.text}: {self.claim.text}"]
        for check, a, b, held in self.details:
            mark = "yes" if held == self.seeds else "no " if not held else f"{held}/{self.seeds}"
            lines.append(f"    {mark}  {_side(check.a, a)} {check.relation} {_side(check.b, b)}")
        return lines


def _side(side: str | float, mean: float) -> str:
    return f"{side} ({number(mean)})" if isinstance(side, str) else number(side)


def judge(claim: Claim, runs: Sequence[Run]) -> Verdict:
    """Check a claim in every seed. Raises ValueError if a strategy or seed that it needs was not run."""
    groups = {rts: {run.seed: run for run in group} for rts, group in by_strategy(runs).items()}
    seeds = sorted({run.seed for run in runs})

    def side(of: str | float, seed: int) -> float:
        if not isinstance(of, str):
            return of
        rts, _, path = of.partition(".")
        if seed not in groups.get(rts, {}):
            raise ValueError(f"claim {claim.name} needs a run of {rts} with seed {seed}")
        return value(groups[rts][seed], path)

    details, all_hold = [], [True] * len(seeds)
    for check in claim.checks:
        a, b = ([side(of, seed) for seed in seeds] for of in (check.a, check.b))
        holds = [RELATIONS[check.relation](x, y) for x, y in zip(a, b, strict=True)]
        all_hold = [both and this for both, this in zip(all_hold, holds, strict=True)]
        details.append((check, statistics.mean(a).mean, statistics.mean(b).mean, sum(holds)))
    return Verdict(claim, sum(all_hold), len(seeds), details)
