# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on a claim over all of its cases at once: a finding, and its numbers.

A *contrast* is all checks that compare the same quantities of the same variants, each in its own case, or all checks of
one group. In each seed a contrast is one number: the mean over its checks of the logarithm of a / b. Seeds are
independent samples, so one t interval decides a contrast, whatever its number of checks. Where the paper's numbers are
means of many runs, it is the logarithm of mean(a) / mean(b), by the jackknife. The *finding* of a contrast is
which side is greater, or that they are alike. Its *number*, if the paper has one, is by how much. Published values of
single quantities are numbers too. The tolerances and margins below are fixed before anything runs.

Without a margin, a contrast without an effect is never decided. So a side has more only if it has at least a margin
more: an interval that ends below the margin refutes it. Between no effect and the margin either verdict is right.
An interval that lies within the margin on both sides says that there is no effect (an equivalence test).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist, fmean
from typing import NamedTuple

from analysis.tables import statistics
from analysis.tables.claims import ALIKE, MOSTLY, MUCH, Check, Claim, Decision, Most, Of, Read, quantities_of, read_side
from analysis.tables.table import Published

# A gain agrees within a quarter of the published one, or within one percent; a value agrees within a quarter.
OF_GAIN, LEAST_GAIN, OF_VALUE = 0.25, 0.01, 0.25
MOST_VALUES = 0.75  # share of a claim's published values that must agree individually, in addition to their mean
# A difference below this is no effect: of goodput, and of counts, times and windows. Where the paper says how large the
# effect is, it is at most half of that. LITTLE_SHARE: above half of the seeds.
LITTLE_GOODPUT, LITTLE, SHARE_OF_EFFECT, LITTLE_SHARE = 0.01, 0.05, 0.5, 0.1
ORDERS = (">", ">=", "<", "<=")
GOODPUT = ("goodput_kbps", "goodput_segments", "share")  # how the paths of what counts as goodput end
FEWEST = 12  # runs of one side, over seeds and cases. The distribution of a mean of fewer may be far from normal.
KNOWN = 12  # seeds from which the deviation between runs is known well enough to judge a paper's means by it
SIGNIFICANT = NormalDist().inv_cdf(0.975)  # standard errors from which a difference is significant

Scale = Callable[[float], float]  # maps a ratio to a distance
Pairs = Sequence[tuple[float, float]]  # both sides of a check, by seed


class Verdict(Enum):
    """The verdict on a claim, under some conditions."""

    REPRODUCED = "reproduced"
    IN_KIND = "reproduced in kind"
    NOT = "not reproduced"
    NOISE = "within the paper's noise"
    OPEN = "open"


class Band(NamedTuple):
    """Bounds for the mean of a sample. Beyond a bound and up to `little` from it, either verdict is right: inside of it
    if the band is `strict`, else outside. A sample that lies exactly on the bound of a strict band is not in it."""

    low: float
    high: float
    strict: bool = False
    little: float = 0.0

    def decides(self, of: statistics.Estimate) -> Decision:
        """Return what a confidence interval says. One seed says nothing."""
        if math.isnan(of.half_width):
            return Decision.OPEN
        least, most = of.mean - of.half_width, of.mean + of.half_width
        if self.strict and (most <= self.low + self.little or least >= self.high - self.little):
            return Decision.REFUTED
        near = 0.0 if self.strict else self.little
        if self.low - near <= least and most <= self.high + near:
            return Decision.CONFIRMED
        return Decision.REFUTED if most < self.low or least > self.high else Decision.OPEN

    def room(self, mean: float) -> float:
        """Return the half-width below which an interval around this mean decides."""
        inner, outer = (self.little, 0.0) if self.strict else (0.0, self.little)
        inside = min(mean - self.low + outer, self.high + outer - mean)
        return max(inside, self.low + inner - mean, mean - self.high + inner)

    def nearest(self, mean: float) -> float:
        return min((end for end in (self.low, self.high) if math.isfinite(end)), key=lambda end: abs(end - mean))


@dataclass(frozen=True)
class Contrast:
    """Checks that compare the same quantities, each in its own case."""

    checks: Sequence[Check]

    @property
    def spread(self) -> bool:
        """Whether it compares the greatest with the least of the same quantities: then "greater" is no finding."""
        a, b = self.checks[0].a, self.checks[0].b
        return isinstance(a, Most) and isinstance(b, Most) and self.relation == "in" and a.of == b.of

    @property
    def relation(self) -> str:
        return self.checks[0].relation

    @property
    def counts(self) -> bool:
        """Whether the share of seeds in which it holds is estimated."""
        return self.relation == MOSTLY

    @property
    def runs(self) -> int:
        """How many runs a seed has that are of one side only: of the side with fewer."""
        cells = [
            {(side.variant, case) for check in self.checks for side in quantities_of(getattr(check, name))
             for case in (side.case if isinstance(side.case, tuple) else (side.case,))} for name in "ab"
        ]  # fmt: skip
        alone = [cells[0] - cells[1], cells[1] - cells[0]]
        return min((len(some) for some in alone if some), default=len(cells[0]))

    def little(self, scale: Scale, effect: float | None = None) -> float:
        """Return how far from a bound there is no difference yet. `effect`: the ratio of the values that the paper
        has for both sides, if it has these."""
        paths = [side.path for check in self.checks for side in check.sides]
        margin = scale(1 + (LITTLE_GOODPUT if all(path.endswith(GOODPUT) for path in paths) else LITTLE))
        effects = [abs(scale(effect))] if effect else []
        if self.relation == "in":
            low, high, *_ = self.published(scale)
            effects += [] if low < 0 < high else [abs(low + high) / 2]
        return min([margin, *(SHARE_OF_EFFECT * one for one in effects if one)])

    def published(self, scale: Scale) -> Band:
        """Return the paper's range, averaged over cases."""
        ranges = [(check.factor, check.to or check.factor) for check in self.checks]
        return Band(fmean(scale(low) for low, _ in ranges), fmean(scale(high) for _, high in ranges))

    @property
    def range(self) -> tuple[float, float]:
        low, high, *_ = self.published(_log)
        return math.exp(low), math.exp(high)

    def finding(self, scale: Scale, effect: float | None = None) -> Band:
        """Return the bounds of the mean if the paper is right: one side, or the range if that covers both sides.
        `effect` as in `little`."""
        if self.counts:
            return Band(0.5, math.inf, strict=True, little=LITTLE_SHARE)
        little, factor = self.little(scale, effect), self.checks[0].factor
        if self.relation == "in":
            low, high, *_ = self.published(scale)
            if low < 0 < high:
                return Band(low, high, little=little)
            return Band(0.0, math.inf, low > 0, little) if low >= 0 else Band(-math.inf, 0.0, high < 0, little)
        least, most = {
            ">": (factor, math.inf), ">=": (factor, math.inf), "<": (0.0, factor), "<=": (0.0, factor),
            ">>": (factor * MUCH, math.inf), "<<": (0.0, factor / MUCH),
            "~": (factor * (1 - ALIKE), factor / (1 - ALIKE)), "=": (factor, factor),
        }[self.relation]  # fmt: skip
        margin = little if self.relation in ORDERS else 0.0
        return Band(scale(least) if least else -math.inf, scale(most) if most < math.inf else math.inf,
                    self.relation in ("<", ">"), margin)  # fmt: skip

    def effect(self, scale: Scale, ratio: float | None) -> float | None:
        """Return the difference that the paper has, or up to which both sides are alike. `ratio`: that of the values
        that the paper has for both sides, if it has these."""
        if self.relation == "in":
            low, high, *_ = self.published(scale)
            return min(-low, high) if low < 0 < high else abs(low + high) / 2
        return abs(scale(ratio)) if ratio and self.relation in ORDERS and self.checks[0].factor == 1 else None

    def number(self, scale: Scale) -> Band | None:
        """Return the paper's range with its tolerance. None if it has no number, or says that both are alike."""
        if self.relation != "in":
            return None
        low, high, *_ = self.published(scale)
        if low < 0 < high:
            return None
        near = max(OF_GAIN * abs(low + high) / 2, scale(1 + LEAST_GAIN))
        return Band(low - near, high + near)


@dataclass(frozen=True)
class Found:
    """The result of a contrast. `estimate`: of its sample over seeds, with standard deviation `deviation`. `p`: p-value
    of the hypothesis that the mean lies on the nearer bound. `ratios`: of each check, the mean over seeds (nan: its
    other side is zero). `finding`: None if it has only a number."""

    contrast: Contrast
    estimate: statistics.Estimate
    deviation: float
    p: float
    ratios: Sequence[float]
    finding: Decision | None
    number: Decision | None
    needs: float  # seeds that may decide its finding, then its number, at this deviation; 0: decided; inf: never
    below: float | None = None  # the margin, if the finding is refuted as no side has more by that
    effect: float | None = None  # the published difference, in the units of the estimate; None: not published

    def noise(self, runs: int) -> float | None:
        """Return the least difference between the means of this many runs of each side that is significant (5 %, two
        sides), in the units of the estimate. None if unknown. It uses the least deviation that our seeds leave possible
        (95 %, one side), so it is rather too small."""
        seeds = self.estimate.samples
        if self.contrast.counts or seeds < KNOWN:
            return None
        least = math.sqrt((seeds - 1) / statistics.chi_square_quantile(0.95, seeds - 1))
        return SIGNIFICANT * least * self.deviation / math.sqrt(runs)

    def within(self, runs: int, effect: float | None = None) -> bool:
        """Return whether the published difference, or else `effect`, is less than is significant in this many runs."""
        apart, noise = self.effect or effect, self.noise(runs)
        return apart is not None and noise is not None and apart < noise

    @property
    def ratio(self) -> tuple[float, float, float] | None:
        """The mean ratio and its interval, if there is one."""
        if self.contrast.counts or any(math.isnan(ratio) or ratio <= 0 for ratio in self.ratios):
            return None
        mean, half = self.estimate.mean, self.estimate.half_width
        return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


@dataclass(frozen=True)
class Value:
    """A published value, ours as the mean over seeds, and the logarithm of ours over theirs."""

    of: Of
    theirs: float
    ours: float
    log_ratio: statistics.Estimate


@dataclass(frozen=True)
class Outcome:
    """All results for a claim. `agree`: whether our values match the published ones; None if there are none."""

    claim: Claim
    found: Sequence[Found]
    values: Sequence[Value]
    agree: Decision | None
    seeds: int

    @property
    def numbers(self) -> list[Decision]:
        return [number for number in (*(found.number for found in self.found), self.agree) if number]


def verdict(outcomes: Iterable[Outcome]) -> Verdict:
    """Return the verdict on a claim: every finding must be confirmed, then every number."""
    outcomes = list(outcomes)
    findings = {found.finding for outcome in outcomes for found in outcome.found} - {None}
    if Decision.REFUTED in findings:
        return Verdict.NOT
    if Decision.OPEN in findings or not findings:
        return Verdict.OPEN
    numbers = {number for outcome in outcomes for number in outcome.numbers}
    return Verdict.REPRODUCED if numbers <= {Decision.CONFIRMED} else Verdict.IN_KIND


def no_effect(outcomes: Sequence[Outcome]) -> float | None:
    """Return the margin below which all missing effects are; None if one fails for another reason."""
    refuted = [one.below for outcome in outcomes for one in outcome.found if one.finding is Decision.REFUTED]
    known = [below for below in refuted if below]
    return round(max(known), 4) if known and len(known) == len(refuted) else None


def contrasts(checks: Iterable[Check]) -> list[Contrast]:
    """Pool checks over their cases."""
    pooled: dict[tuple[object, ...], list[Check]] = {}
    for check in checks:
        sides = [(side.variant, side.path) if isinstance(side, Of) else side for side in (check.a, check.b)]
        factor = None if check.relation == "in" and not isinstance(check.b, (int, float)) else check.factor
        what = (check.group,) if check.group else (*sides, factor)
        pooled.setdefault((check.relation, *what), []).append(check)
    return [Contrast(some) for some in pooled.values()]


def weigh(
    claim: Claim, read: Read, seeds: Sequence[int], published: Published, confidence: float, means: bool = False
) -> Outcome:
    """Weigh a claim by the values of these seeds, or by their `means` where the paper compares means of many runs.
    Raises NotTested if a value is missing."""
    found = [
        _weigh(contrast, read, seeds, confidence, _effect(contrast, published), means)
        for contrast in contrasts(claim.checks)
    ]
    values = []
    for case, variant, path in claim.cells:
        if theirs := published.get(case, {}).get(variant, {}).get(path):
            ours = read_side(Of(variant, path, case), read, seeds)
            if all(one > 0 for one in ours):
                estimate = statistics.mean([math.log(one / theirs) for one in ours], confidence)
                values.append(Value(Of(variant, path, case), theirs, fmean(ours), estimate))
    return Outcome(claim, found, values, agree(values), len(seeds))


def agree(values: Sequence[Value]) -> Decision | None:
    """Return whether our values match the published ones: the interval of their mean, and most of them individually."""
    if not values:
        return None
    near = math.log(1 + OF_VALUE)
    if sum(abs(value.log_ratio.mean) <= near for value in values) < MOST_VALUES * len(values):
        return Decision.REFUTED
    return Band(-near, near).decides(over_theirs(values))


def over_theirs(values: Sequence[Value]) -> statistics.Estimate:
    """The logarithm of ours over the published values, in the mean of these."""
    half = math.sqrt(math.fsum(value.log_ratio.half_width**2 for value in values)) / len(values)
    middle = fmean(value.log_ratio.mean for value in values)
    return statistics.Estimate(middle, half, values[0].log_ratio.samples)


def _effect(contrast: Contrast, published: Published) -> float | None:
    """Return the ratio of the published values of both sides, in the mean over cases; None if one is missing."""
    found: list[float] = []
    for check in contrast.checks:
        for side in (check.a, check.b):
            if not isinstance(side, Of) or isinstance(side.case, tuple):
                return None
            value = published.get(side.case, {}).get(side.variant, {}).get(side.path)
            if not value or value <= 0:
                return None
            found.append(math.log(value))
    return math.exp(fmean(a - b for a, b in zip(found[::2], found[1::2], strict=True)))


def _weigh(
    contrast: Contrast, read: Read, seeds: Sequence[int], confidence: float, effect: float | None, means: bool
) -> Found:
    """Weigh a contrast. Ratios are compared by logarithms. If a side is zero in any case and seed, the difference
    relative to the mean of both sides is used instead. A comparison with zero uses the value itself."""
    scale: Scale
    cases = [list(zip(*(read_side(side, read, seeds) for side in (check.a, check.b)), strict=True))
             for check in contrast.checks]  # fmt: skip
    if contrast.checks[0].b == 0:
        scale, apart = _of_zero, [[a for a, _ in case] for case in cases]
    elif means and contrast.relation not in ("=", MOSTLY) and all(map(_means_compare, cases)):
        scale, apart = _log, [_of_means(case) for case in cases]
    elif all(a > 0 and b > 0 for case in cases for a, b in case):
        scale, apart = _log, [[math.log(a / b) for a, b in case] for case in cases]
    else:
        scale, apart = _relative, [[2 * (a - b) / (a + b) if a + b else 0.0 for a, b in case] for case in cases]
    sample = [fmean(of_seed) for of_seed in zip(*apart, strict=True)]
    won = sum(one > 0 for one in sample)
    estimate = (
        statistics.proportion(won, len(sample), confidence) if contrast.counts else statistics.mean(sample, confidence)
    )
    band, near = contrast.finding(scale, effect), contrast.number(scale)
    finding: Decision | None = band.decides(estimate)
    number = near.decides(estimate) if near else None
    if contrast.relation == "=":  # one seed refutes it
        finding = Decision.CONFIRMED if all(one == band.low for one in sample) else Decision.REFUTED
    bound = band.nearest(estimate.mean)
    p = statistics.paired_t([one - bound for one in sample])
    if contrast.counts:
        p = min(1.0, 2 * statistics.at_least(max(won, len(sample) - won), len(sample), bound))
    if contrast.counts and len(sample) < 2:
        finding = Decision.OPEN
    few = not contrast.counts and contrast.runs * len(sample) < FEWEST
    if few:
        finding = finding if contrast.relation == "=" and finding is Decision.REFUTED else Decision.OPEN
        number = number and Decision.OPEN
    if contrast.spread:
        finding = None
    none = 0.0 in band[:2] and finding is Decision.REFUTED and abs(estimate.mean) + estimate.half_width <= band.little
    spread = statistics.deviation(sample)
    open_ = [wanted for wanted, sure in ((band, finding), (near, number)) if wanted and sure is Decision.OPEN]
    needs = _needs(open_[0], estimate, spread, contrast, confidence) if open_ else 0.0
    return Found(
        contrast, estimate, spread, p, [_ratio(case, means) for case in cases],
        finding, number, needs, math.expm1(band.little) if none else None, contrast.effect(scale, effect),
    )  # fmt: skip


def _means_compare(case: Pairs) -> bool:
    """Return whether both sides have a mean above zero, also without any one seed."""
    return all(sum(value > 0 for value in side) > 1 for side in zip(*case, strict=True))


def _of_means(case: Pairs) -> list[float]:
    """Return a sample whose mean is the logarithm of the ratio of both sides' means, less its bias, and whose spread is
    that of this ratio: the jackknife's pseudo-values (Tukey, 1958). A seed in which both sides have little counts for
    little, as it does in a paper's means."""
    seeds, a, b = len(case), math.fsum(a for a, _ in case), math.fsum(b for _, b in case)
    whole = math.log(a / b)
    return [seeds * whole - (seeds - 1) * math.log((a - x) / (b - y)) for x, y in case]


def _ratio(case: Pairs, means: bool) -> float:
    """Return the ratio of both sides' means, or the mean of their ratios; nan if there is none."""
    if means:
        case = [(fmean(a for a, _ in case), fmean(b for _, b in case))]
    return fmean(a / b for a, b in case) if all(b for _, b in case) else math.nan


def _needs(band: Band, estimate: statistics.Estimate, spread: float, contrast: Contrast, confidence: float) -> float:
    """Return the number of seeds at which an interval decides, if mean and deviation stay as they are. As Student's t
    is wider than the normal distribution, z^2 / 2 more than that says."""
    room, fewest = band.room(estimate.mean), math.ceil(FEWEST / contrast.runs)
    if math.isnan(estimate.half_width) or not estimate.half_width:
        return fewest if estimate.samples < fewest else math.inf
    if room <= 0:
        return math.inf
    if contrast.counts:
        return max(fewest, estimate.samples * (estimate.half_width / room) ** 2)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    return max(fewest, (z * spread / room) ** 2 + z**2 / 2)


def _log(ratio: float) -> float:
    return math.log(ratio) if ratio > 0 else -math.inf


def _relative(ratio: float) -> float:
    return 2 * (ratio - 1) / (ratio + 1)


def _of_zero(factor: float) -> float:
    return 0.0
