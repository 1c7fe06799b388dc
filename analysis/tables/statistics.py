# SPDX-License-Identifier: BSD-3-Clause
"""Means over seeds, and how far to trust them: Student's t, without scipy.

Runs of different seeds are independent samples; runs of one seed under different settings are pairs. With few seeds
only the t distribution is honest, so that is what is used throughout; beside it stands Wilcoxon's signed-rank test,
which asks for no distribution, exactly as so few pairs allow.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its confidence interval; nan with fewer than two samples."""

    mean: float
    half_width: float
    samples: int

    def __str__(self) -> str:
        return f"{self.mean:.6g}" if math.isnan(self.half_width) else f"{self.mean:.6g} ± {self.half_width:.3g}"


def mean(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of `values` with its confidence interval, m ± t s / sqrt(n). Raises ValueError without values."""
    n = len(values)
    if not n:
        raise ValueError("no values to take the mean of")
    middle = math.fsum(values) / n
    if n == 1:
        return Estimate(middle, math.nan, 1)
    return Estimate(middle, t_quantile(0.5 + confidence / 2, n - 1) * deviation(values) / math.sqrt(n), n)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of what `values` are a sample of; nan of fewer than two."""
    if len(values) < 2:
        return math.nan
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def proportion(true: int, of: int, confidence: float = 0.95) -> Estimate:
    """The share of cases in which something is so; its half-width reaches to the farther end of the exact interval
    (Clopper and Pearson)."""
    tail, share = (1 - confidence) / 2, true / of
    low = _where(lambda p: at_least(true, of, p) < tail) if true else 0.0
    high = _where(lambda p: 1 - at_least(true + 1, of, p) > tail) if true < of else 1.0
    return Estimate(share, max(share - low, high - share), of)


def at_least(true: int, of: int, p: float) -> float:
    """How likely something that is so with probability `p` is so in that many cases, or more."""
    return math.fsum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(true, of + 1))


def _where(below: Callable[[float], bool]) -> float:
    """Up to which share something holds."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def relative_change(values: Sequence[float], base: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The mean of value / base - 1 over pairs, in the order of their seeds: 0.06 is 6 % more.

    Each seed is compared with itself, which takes out what the seed does to both. Raises ValueError if the two are
    not pairs, or a base is zero.
    """
    if len(values) != len(base):
        raise ValueError(f"{len(values)} values and {len(base)} bases are no pairs")
    if not all(base):
        raise ValueError("relative to zero there is no change")
    return mean([value / b - 1 for value, b in zip(values, base, strict=True)], confidence)


def paired_t(differences: Sequence[float]) -> float:
    """The two-sided p of Student's paired t-test: how likely so large a mean difference is where there is none.

    nan with fewer than two pairs.
    """
    if len(differences) < 2:
        return math.nan
    estimate, degrees = mean(differences), len(differences) - 1
    if not estimate.half_width:
        return 0.0 if estimate.mean else 1.0
    t = estimate.mean / estimate.half_width * t_quantile(0.975, degrees)
    return 2 * t_probability(-abs(t), degrees)


def signed_rank(differences: Sequence[float]) -> float:
    """The two-sided p of Wilcoxon's signed-rank test, exact: of all ways to sign the ranks, so many are as far from the
    middle. Differences of zero are left out, and equal ones share the mean of their ranks.

    nan with fewer than two pairs.
    """
    if len(differences) < 2:
        return math.nan
    sizes = sorted(abs(difference) for difference in differences if difference)
    # Twice the rank, so that shared ranks are whole: places count from 1.
    ranks = {size: 2 * sizes.index(size) + 1 + sizes.count(size) for size in sizes}
    ways = [1]  # by the sum of the positive ranks
    for size in sizes:
        longer = [0] * ranks[size]
        ways = [a + b for a, b in zip(ways + longer, longer + ways, strict=True)]
    positive = sum(ranks[difference] for difference in differences if difference > 0)
    least = min(positive, len(ways) - 1 - positive)
    return min(1.0, 2 * sum(ways[: least + 1]) / sum(ways))


@cache
def t_quantile(p: float, degrees: int) -> float:
    """The value that Student's t with `degrees` (1, 2, ...) of freedom stays below with probability `p` (0 < p < 1)."""
    if not 0 < p < 1 or degrees < 1:
        raise ValueError(f"no quantile at {p} with {degrees} degrees of freedom")
    if p < 0.5:
        return -t_quantile(1 - p, degrees)
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < p:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_probability(middle, degrees) < p else (low, middle)
    return high


def t_probability(t: float, degrees: int) -> float:
    """The probability that Student's t with `degrees` of freedom is below `t`.

    Exact for whole degrees: the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = term if degrees > 1 or not odd else 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    within = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return 0.5 + within / 2
