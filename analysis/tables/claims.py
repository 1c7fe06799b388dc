# SPDX-License-Identifier: BSD-3-Clause
"""Test whether a paper's claim holds: in how many seeds, and whether the seeds decide it.

A claim consists of checks. A check compares two quantities (`Of`), or one with a number, in each seed. Over several
seeds the ratio of the two sides is a paired sample. If its confidence interval lies on the claim's side, the opposite
is excluded; if it lies on the other side, the claim is excluded; otherwise the seeds do not decide. If a side is zero
there is no ratio, and the difference to each bound is used instead.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from analysis.results.result import Run
from analysis.tables import statistics
from analysis.tables.findings import Judged
from analysis.tables.quantities import QUANTITIES
from analysis.tables.table import by_case, case_name, is_path, number, value

MUCH, ALIKE = 2.0, 0.25  # `>>`: at least twice as much; `~`: within a quarter of the larger one
MOSTLY = "mostly >"  # more in most seeds, by any amount


class Relation(NamedTuple):
    """Whether the relation holds between two numbers, and the bounds of their ratio if it does."""

    holds: Callable[[float, float], bool]
    low: float
    high: float


RELATIONS = {
    ">": Relation(operator.gt, 1.0, math.inf),
    "<": Relation(operator.lt, -math.inf, 1.0),
    ">=": Relation(operator.ge, 1.0, math.inf),
    "<=": Relation(operator.le, -math.inf, 1.0),
    MOSTLY: Relation(operator.gt, 1.0, math.inf),
    "=": Relation(operator.eq, 1.0, 1.0),
    ">>": Relation(lambda a, b: a > b and a >= MUCH * b, MUCH, math.inf),
    "<<": Relation(lambda a, b: b > a and b >= MUCH * a, -math.inf, 1 / MUCH),
    "~": Relation(lambda a, b: abs(a - b) <= ALIKE * max(abs(a), abs(b)), 1 - ALIKE, 1 / (1 - ALIKE)),
}


@dataclass(frozen=True)
class Of:
    """A quantity of a variant, in a case if the study has several, or its mean over some cases, which `cases` then
    names. `path` is as in `analysis.tables.table`."""

    variant: str
    path: str
    case: str | tuple[str, ...] = ""
    cases: str = ""


@dataclass(frozen=True)
class Most:
    """The greatest of several quantities in each seed, or the `least`; `name` is shown."""

    of: tuple[Of, ...]
    name: str
    least: bool = False

    def among(self, values: Iterable[float]) -> float:
        return min(values) if self.least else max(values)


Side = Of | Most | float


@dataclass(frozen=True)
class Check:
    """`a` RELATION `factor` x `b`. With `to`, `a` must be between `factor` and `to` times `b`, and the relation is
    "in". Checks with the same `group` are pooled across variants, and with no others (`analysis.tables.verdicts`)."""

    a: Side
    relation: str
    b: Side
    factor: float = 1.0
    to: float | None = None
    group: str = ""

    def __post_init__(self) -> None:
        if (self.relation == "in") != (self.to is not None) or self.relation not in (*RELATIONS, "in"):
            raise ValueError(f"there is no relation {self.relation!r} of this form")

    def holds(self, a: float, b: float) -> bool:
        if self.to is not None:
            return self.factor * b <= a <= self.to * b
        return RELATIONS[self.relation].holds(a, self.factor * b)

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of a / b within which the check holds."""
        if self.to is not None:
            return self.factor, self.to
        relation = RELATIONS[self.relation]
        return self.factor * relation.low, self.factor * relation.high

    @property
    def sides(self) -> list[Of]:
        return [one for side in (self.a, self.b) for one in quantities_of(side)]


def quantities_of(side: Side) -> tuple[Of, ...]:
    """Return the quantities of a side; none for a number."""
    if isinstance(side, Most):
        return side.of
    return (side,) if isinstance(side, Of) else ()


@dataclass(frozen=True)
class Claim:
    """A paper's statement, as checks that must all hold. `of` lists the numbered claims of the papers, such as C46,
    that the checks cover wholly or partly; by default those in `name`. () marks a study's own claim."""

    name: str
    text: str
    checks: Sequence[Check]
    of: tuple[str, ...] | None = None

    @cached_property
    def cells(self) -> list[tuple[str, str, str]]:
        """The case, variant and path of each quantity that its checks compare, without repeats."""
        sides = [side for check in self.checks for side in check.sides]
        return list(dict.fromkeys(
            (case, side.variant, side.path) for side in sides
            for case in (side.case if isinstance(side.case, tuple) else (side.case,))
        ))  # fmt: skip

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(re.findall(r"\bC\d+", self.name)) if self.of is None else self.of


def order(path: str, *variants: str, cases: Iterable[str] = ("",)) -> list[Check]:
    """Return checks that in every case each variant has more than the next."""
    return [Check(Of(a, path, case), ">", Of(b, path, case)) for case in cases for a, b in pairwise(variants)]


def compare(
    path: str, a: str, relation: str, b: str, factor: float = 1.0, to: float | None = None, *,
    cases: Iterable[str] = ("",),
) -> list[Check]:  # fmt: skip
    """Return a check in every case that compares two variants; `factor` and `to` are those of `Check`."""
    return [Check(Of(a, path, case), relation, Of(b, path, case), factor, to) for case in cases]


class Decision(Enum):
    """What a confidence interval says about a check."""

    CONFIRMED = "the opposite is excluded"
    OPEN = "undecided"
    REFUTED = "excluded"


@dataclass(frozen=True)
class Finding:
    """A check's means, the number of seeds in which it holds, and the ratio of its sides over several seeds, if each
    seed has one. `above`: by how much `a` exceeds the lower and the upper bound times `b` (None: no such bound). `t`
    and `wilcoxon`: the p-values of the hypothesis that `a` equals the factor times `b`; for a range, that `a` equals
    `b`.
    """

    check: Check
    a: float
    b: float
    held: int
    seeds: int
    ratio: statistics.Estimate | None
    above: tuple[statistics.Estimate | None, statistics.Estimate | None]
    t: float
    wilcoxon: float

    @property
    def decision(self) -> Decision | None:
        """What the intervals say; None without an interval, and for equality, which one seed refutes."""
        if self.check.relation == "=" or self.seeds < 2:
            return None
        lowest, highest = self.above
        of_bounds = [(lowest, 0.0, math.inf), (highest, -math.inf, 0.0)]
        intervals = [(self.ratio, *self.check.bounds)] if self.ratio else of_bounds
        said = [self._within(estimate, low, high) for estimate, low, high in intervals if estimate]
        return next((sure for sure in (Decision.REFUTED, Decision.OPEN) if sure in said), Decision.CONFIRMED)

    def _within(self, estimate: statistics.Estimate, low: float, high: float) -> Decision:
        """Compare an interval with bounds. If it has no width and lies on a bound, the seeds decide."""
        if not estimate.half_width and estimate.mean in (low, high):
            return Decision.CONFIRMED if self.held == self.seeds else Decision.REFUTED
        least, most = estimate.mean - estimate.half_width, estimate.mean + estimate.half_width
        if low <= least and most <= high:
            return Decision.CONFIRMED
        return Decision.REFUTED if most < low or least > high else Decision.OPEN

    @property
    def decided(self) -> Decision:
        """`sure`, or without an interval what all seeds agree on; one seed refutes an equality."""
        if self.decision:
            return self.decision
        if self.held == self.seeds:
            return Decision.CONFIRMED
        return Decision.REFUTED if self.check.relation == "=" or not self.held else Decision.OPEN


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds: the number of seeds in which all its checks do."""

    claim: Claim
    held: int
    seeds: int
    findings: Sequence[Finding]
    not_tested: Sequence[str] = ()  # what the other checks need

    @property
    def text(self) -> str:
        if self.seeds == 1:
            return "agrees" if self.held else "differs"  # one seed gives no verdict
        if self.held == self.seeds:
            said = f"holds in all {self.seeds} seeds"
        elif not self.held:
            said = f"does not hold in any of {self.seeds} seeds"
        else:
            said = f"holds in {self.held} of {self.seeds} seeds"
        found = {finding.decision for finding in self.findings} - {None}
        if Decision.REFUTED in found:
            return f"{said}; an interval excludes it"
        if Decision.OPEN in found:
            return f"{said}; the intervals leave it open"
        return f"{said}; the intervals exclude the opposite" if found and self.held == self.seeds else said

    def judged(self, names: Mapping[str, str], rows: str = "", quantities: Mapping[str, str] = QUANTITIES) -> Judged:
        """Return it as text for people: the verdict, and each check with its numbers. `names` are those of variants and
        cases, `rows` says what the cases are, `quantities` names the paths."""
        checks = []
        for finding in self.findings:
            mark = {self.seeds: "yes", 0: "no "}.get(finding.held, f"{finding.held}/{self.seeds}")
            checks.append(f"{mark}  {line_of(finding, names, rows, quantities)}")
        if self.not_tested:
            checks.append(f"{len(self.not_tested)} more not tested: {self.not_tested[0]}")
        return Judged(self.claim.name, self.text, self.claim.text, checks)


def line_of(finding: Finding, names: Mapping[str, str], rows: str, quantities: Mapping[str, str]) -> str:
    """Return a check with its numbers as text. What both sides share comes once, before them."""
    check = finding.check

    def case_of(side: Of) -> str:
        return case_name(side.case, names, rows) if isinstance(side.case, str) else side.cases

    cases, paths = {case_of(side) for side in check.sides}, {side.path for side in check.sides}

    def side(of: Side, mean: float) -> str:
        if isinstance(of, Most):
            return f"{of.name} {number(mean)}"
        if not isinstance(of, Of):
            return number(of)
        words = [names.get(of.variant, of.variant)]
        words += [case_of(of)] if len(cases) > 1 else []
        words += [quantities.get(of.path, of.path)] if len(paths) > 1 else []
        return f"{', '.join(filter(None, words))} {number(mean)}"

    shared = [*cases] if len(cases) == 1 else []
    shared += [quantities.get(path, path) for path in paths if len(paths) == 1]
    before = ", ".join(filter(None, shared))
    said = f"{side(check.a, finding.a)} {check.relation} "
    if isinstance(check.b, (int, float)):
        said += "..".join(number(bound * check.b) for bound in (check.factor, check.to) if bound is not None)
    elif check.to is not None:
        said += f"{check.factor:g}..{check.to:g} x {side(check.b, finding.b)}"
    else:
        said += f"{f'{check.factor:g} x ' if check.factor != 1 else ''}{side(check.b, finding.b)}"
    if finding.ratio is not None and quantities_of(check.a) and quantities_of(check.b):
        spread = f" ± {_ratio(finding.ratio.half_width)}" if finding.decision else ""
        said += f"; ratio {_ratio(finding.ratio.mean)}{spread}"
    if not math.isnan(finding.t) and check.relation != "=" and quantities_of(check.b):
        said += f" (p {_p(finding.t)}, W {_p(finding.wilcoxon)})"
    if finding.decision in (Decision.OPEN, Decision.REFUTED):
        said += f": {finding.decision.value}"
    return f"{before}: {said}" if before else said


def _p(of: float) -> str:
    return f"{of:.2g}" if of >= 0.001 else "< 0.001"


def _ratio(of: float) -> str:
    return f"{of:.3f}" if abs(of) < 10 else number(of)


class NotTested(ValueError):
    """The runs lack what a claim needs; the message says what."""


# Maps case, variant and path to the values of that quantity by seed. Raises NotTested if there are none.
Read = Callable[[str, str, str], Mapping[int, float]]


def read_side(side: Side, read: Read, seeds: Sequence[int]) -> list[float]:
    """Return a side's value in each seed; over several cases, their mean. Raises NotTested if a value is missing."""
    if isinstance(side, Most):
        return [side.among(each) for each in zip(*(read_side(one, read, seeds) for one in side.of), strict=True)]
    if not isinstance(side, Of):
        return [side] * len(seeds)
    values = []
    for case in side.case if isinstance(side.case, tuple) else (side.case,):
        found = read(case, side.variant, side.path)
        where = f"{side.variant}{', ' if case else ''}{case}"
        for seed in seeds:
            if seed not in found:
                raise NotTested(f"there is no run of {where} with seed {seed}")
            if math.isnan(found[seed]):
                raise NotTested(f"{side.path} was not recorded in {where}, seed {seed}")
        values.append([found[seed] for seed in seeds])
    return list(map(fmean, zip(*values, strict=True)))


def judge(claim: Claim, runs: Sequence[Run], confidence: float = 0.95) -> Verdict:
    """Check a claim in every seed, where the runs allow it. Raises NotTested if no check can be tested."""
    groups = by_case(runs)

    def read(case: str, variant: str, path: str) -> Mapping[int, float]:
        found = groups.get(case, {}).get(variant, [])
        return {run.seed: value(run, path) if is_path(path) else math.nan for run in found}

    return weigh(claim, read, sorted({run.seed for run in runs}), confidence)


def weigh(claim: Claim, read: Read, seeds: Sequence[int], confidence: float = 0.95) -> Verdict:
    """Check a claim with values from `read`, in these seeds. Raises NotTested if no check can be tested."""
    findings, all_hold, not_tested = [], [True] * len(seeds), []
    for check in claim.checks:
        try:
            a, b = (read_side(side, read, seeds) for side in (check.a, check.b))
        except NotTested as error:
            not_tested.append(str(error))
            continue
        finding = _compare(check, a, b, confidence)
        all_hold = [both and check.holds(x, y) for both, x, y in zip(all_hold, a, b, strict=True)]
        findings.append(finding)
    if not findings:
        raise NotTested(not_tested[0])
    return Verdict(claim, sum(all_hold), len(seeds), findings, not_tested)


def _compare(check: Check, a: Sequence[float], b: Sequence[float], confidence: float) -> Finding:
    pairs = list(zip(a, b, strict=True))
    paired = all(b) and check.relation != "="
    alike = [x - (1.0 if check.to is not None else check.factor) * y for x, y in pairs]
    low, high = (
        None if math.isinf(bound) else statistics.mean([x - bound * y for x, y in pairs], confidence)
        for bound in check.bounds
    )
    return Finding(
        check, statistics.mean(a).mean, statistics.mean(b).mean, sum(check.holds(x, y) for x, y in pairs), len(pairs),
        statistics.mean([x / y for x, y in pairs], confidence) if paired else None, (low, high),
        statistics.paired_t(alike), statistics.signed_rank(alike),
    )  # fmt: skip
