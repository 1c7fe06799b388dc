# SPDX-License-Identifier: BSD-3-Clause
"""Means over seeds and their confidence intervals, by Student's t, without scipy.

Runs with different seeds are independent samples. Runs with one seed and different settings are pairs. With few seeds
only the t distribution is correct, so it is used everywhere. Wilcoxon's signed-rank test, which assumes no
distribution, is computed beside it, exactly.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its confidence interval; nan with fewer than two samples."""

    mean: float
    half_width: float
    samples: int

    def __str__(self) -> str:
        return f"{self.mean:.6g}" if math.isnan(self.half_width) else f"{self.mean:.6g} ± {self.half_width:.3g}"


def mean(values: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Return the mean and its confidence interval, m ± t s / sqrt(n). Raises ValueError without values."""
    n = len(values)
    if not n:
        raise ValueError("no values to take the mean of")
    middle = math.fsum(values) / n
    if n == 1:
        return Estimate(middle, math.nan, 1)
    return Estimate(middle, t_quantile(0.5 + confidence / 2, n - 1) * deviation(values) / math.sqrt(n), n)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation estimated from a sample; nan for fewer than two values."""
    if len(values) < 2:
        return math.nan
    middle = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


@cache
def proportion(true: int, of: int, confidence: float = 0.95) -> Estimate:
    """Return the share of `true` among `of` cases. The half-width reaches the farther end of the exact interval
    (Clopper and Pearson)."""
    tail, share = (1 - confidence) / 2, true / of
    low = _where(lambda p: at_least(true, of, p) < tail) if true else 0.0
    high = _where(lambda p: 1 - at_least(true + 1, of, p) > tail) if true < of else 1.0
    return Estimate(share, max(share - low, high - share), of)


def at_least(true: int, of: int, p: float) -> float:
    """Return the probability of at least `true` successes in `of` trials of probability `p`."""
    return math.fsum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(true, of + 1))


def _where(below: Callable[[float], bool]) -> float:
    """Return the greatest p in [0, 1] up to which `below` is true."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low


def relative_change(values: Sequence[float], base: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Return the mean of value / base - 1 over pairs, in the order of seeds; 0.06 is 6 % more.

    Each seed is compared with itself, which removes the seed's effect on both. Raises ValueError if the lists are not
    pairs, or a base is zero.
    """
    if len(values) != len(base):
        raise ValueError(f"{len(values)} values and {len(base)} bases cannot be paired")
    if not all(base):
        raise ValueError("a change relative to zero is undefined")
    return mean([value / b - 1 for value, b in zip(values, base, strict=True)], confidence)


def paired_t(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's paired t-test: the probability of a mean difference at least this large
    if the true mean is zero. nan with fewer than two pairs.
    """
    if len(differences) < 2:
        return math.nan
    estimate, degrees = mean(differences), len(differences) - 1
    if not estimate.half_width:
        return 0.0 if estimate.mean else 1.0
    t = estimate.mean / estimate.half_width * t_quantile(0.975, degrees)
    return 2 * t_probability(-abs(t), degrees)


def signed_rank(differences: Sequence[float]) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test: the share of all assignments of signs to the
    ranks that are at least as far from the middle. Differences of zero are ignored; equal ones share the mean of their
    ranks. nan with fewer than two pairs.
    """
    if len(differences) < 2:
        return math.nan
    sizes = sorted(abs(difference) for difference in differences if difference)
    # Twice the rank, so that shared ranks are whole numbers. Ranks count from 1.
    ranks = {size: 2 * sizes.index(size) + 1 + sizes.count(size) for size in sizes}
    ways = [1]  # number of assignments, by the sum of the positive ranks
    for size in sizes:
        longer = [0] * ranks[size]
        ways = [a + b for a, b in zip(ways + longer, longer + ways, strict=True)]
    positive = sum(ranks[difference] for difference in differences if difference > 0)
    least = min(positive, len(ways) - 1 - positive)
    return min(1.0, 2 * sum(ways[: least + 1]) / sum(ways))


@cache
def t_quantile(p: float, degrees: int) -> float:
    """Return the value below which Student's t with `degrees` (1, 2, …) of freedom lies with probability `p`. Raises
    ValueError unless 0 < p < 1."""
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


def chi_square_quantile(p: float, degrees: int) -> float:
    """Return the value below which a chi-square with `degrees` of freedom lies with probability `p`, within 0.5 % from
    five degrees on (Wilson and Hilferty, 1931)."""
    part = 2 / (9 * degrees)
    return degrees * (1 - part + NormalDist().inv_cdf(p) * math.sqrt(part)) ** 3


def t_probability(t: float, degrees: int) -> float:
    """Return the probability that Student's t with `degrees` of freedom is below `t`. Exact for whole degrees: the
    finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
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
