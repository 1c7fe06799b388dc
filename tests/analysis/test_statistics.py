# SPDX-License-Identifier: BSD-3-Clause
"""Student's t against printed tables, and intervals by hand."""

import math
import random

import pytest

from analysis.tables import statistics


@pytest.mark.parametrize(
    ("degrees", "p", "t"),
    [
        (1, 0.975, 12.706), (2, 0.975, 4.303), (3, 0.975, 3.182), (4, 0.975, 2.776), (5, 0.95, 2.015),
        (9, 0.995, 3.250), (10, 0.9, 1.372), (29, 0.975, 2.045), (30, 0.975, 2.042), (120, 0.975, 1.980),
    ],
)  # fmt: skip
def test_quantiles(degrees: int, p: float, t: float) -> None:
    """The usual table of the t distribution."""
    assert statistics.t_quantile(p, degrees) == pytest.approx(t, abs=5e-4)
    assert statistics.t_quantile(1 - p, degrees) == pytest.approx(-t, abs=5e-4)


def test_no_such_quantile() -> None:
    """Probability 1, and no degrees of freedom."""
    for p, degrees in ((1.0, 3), (0.0, 3), (0.5, 0)):
        with pytest.raises(ValueError, match="no quantile"):
            statistics.t_quantile(p, degrees)


def test_mean() -> None:
    """1..5: mean 3, s = sqrt(2.5), half-width 2.776 sqrt(2.5 / 5) = 1.963."""
    of = statistics.mean([1, 2, 3, 4, 5])
    assert of.mean == 3 and of.half_width == pytest.approx(1.9632, abs=1e-4) and of.samples == 5
    assert str(of) == "3 ± 1.96"


def test_one_sample_and_none() -> None:
    """One sample has a mean and no interval; without samples there is nothing."""
    one = statistics.mean([7.0])
    assert one.mean == 7 and math.isnan(one.half_width) and str(one) == "7"
    with pytest.raises(ValueError, match="no values"):
        statistics.mean([])


def test_coverage() -> None:
    """Of 2000 95 % intervals from four normal samples each, close to 95 % hold the true mean."""
    r = random.Random(1)
    held = 0
    for _ in range(2000):
        of = statistics.mean([r.gauss(10, 3) for _ in range(4)])
        held += abs(of.mean - 10) <= of.half_width
    assert 0.935 < held / 2000 < 0.965


def test_relative_change() -> None:
    """Pairs: 10 % and 20 % more are 15 % more, ± 12.706 · 0.05; each seed is compared with itself."""
    change = statistics.relative_change([110, 240], [100, 200])
    assert change.mean == pytest.approx(0.15) and change.half_width == pytest.approx(12.706 * 0.05, rel=1e-4)
    with pytest.raises(ValueError, match="cannot be paired"):
        statistics.relative_change([1, 2], [1])
    with pytest.raises(ValueError, match="zero"):
        statistics.relative_change([1], [0])


@pytest.mark.parametrize(
    ("differences", "t", "wilcoxon"),
    [
        ([1, 2, 2, -1, 3, 0, 2], 0.048804, 0.09375), ([5, 6, 7], 0.0091326, 0.25), ([1, 1, 1], 0.0, 0.25),
        ([0, 0, 0], 1.0, 1.0), ([1, -1], 1.0, 1.0), ([3.1, 0.4, -0.2, 1.9, 2.2, 0.8, 1.1, -0.6], 0.043929, 0.0546875),
        (range(1, 21), 1.88351e-7, 1.9073486e-6),
    ],
)  # fmt: skip
def test_pairs_that_differ(differences: list[float], t: float, wilcoxon: float) -> None:
    """As SciPy's ttest_1samp and wilcoxon have it, with an exact permutation where ranks are shared."""
    assert statistics.paired_t(differences) == pytest.approx(t, rel=1e-4)
    assert statistics.signed_rank(differences) == pytest.approx(wilcoxon)
    assert statistics.signed_rank([-d for d in differences]) == pytest.approx(wilcoxon)


def test_one_pair_shows_nothing() -> None:
    assert math.isnan(statistics.paired_t([1.0])) and math.isnan(statistics.signed_rank([1.0]))


def test_a_proportion_has_an_exact_interval() -> None:
    """Of all cases the lower end is that of the rule of three, (1 - confidence) / 2 to the power of 1 / n; the table of
    Clopper and Pearson has 0.1871 to 0.8129 for 5 of 10 (95 %)."""
    assert statistics.proportion(12, 12, 0.99).half_width == pytest.approx(1 - 0.005 ** (1 / 12))
    assert statistics.proportion(5, 10).half_width == pytest.approx(0.3129, abs=1e-4)
    assert statistics.proportion(0, 12, 0.99).half_width == pytest.approx(1 - 0.005 ** (1 / 12))
    assert statistics.at_least(2, 2, 0.5) == 0.25
