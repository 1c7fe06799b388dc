# SPDX-License-Identifier: BSD-3-Clause
"""Arrival times and sizes: their distributions, and that they depend on seed and name alone."""

from itertools import islice, pairwise, takewhile

import pytest

from traffic import arrivals

MANY = 40_000


def due(kind: str, n: int = 8, seed: int = 1, interval_s: float = 0.02, on_s: float = 1.0, off_s: float = 1.0):
    return list(islice(arrivals.due(kind, interval_s, on_s, off_s, arrivals.stream(seed, "flow1")), n))


def test_constant_intervals_do_not_drift() -> None:
    """The n-th is due n intervals after the first, rounded once."""
    third = due("constant", 3_000_001, interval_s=1 / 3)
    assert third[:4] == [0, 333_333_333, 666_666_667, 1_000_000_000]
    assert third[-1] == 10**15


def test_a_poisson_process() -> None:
    """With the given mean, and as many gaps below the median as above."""
    gaps = [b - a for a, b in pairwise([0, *due("poisson", MANY)])]
    assert sum(gaps) / MANY == pytest.approx(20e6, rel=0.02)
    assert sum(gap < 20e6 * 0.6931 for gap in gaps) / MANY == pytest.approx(0.5, abs=0.01)


def test_bursts() -> None:
    """Constant while on, beginning with on; on and off take equal time, so half as many as without pauses."""
    times = due("onoff", MANY)
    assert times[0] == 0
    gaps = [b - a for a, b in pairwise(times)]
    assert sum(gap == 20_000_000 for gap in gaps) > 0.95 * MANY
    assert times[-1] / MANY == pytest.approx(2 * 20e6, rel=0.1)
    whole = due("onoff", MANY, off_s=0)
    assert whole[-1] / MANY == pytest.approx(20e6, rel=0.05)


def test_a_burst_shorter_than_an_interval_has_one() -> None:
    times = due("onoff", 1000, interval_s=10, on_s=0.001, off_s=1)
    assert len(times) == len(set(times)) == 1000


@pytest.mark.parametrize("kind", ["poisson", "onoff"])
def test_seed_and_name_say_when(kind: str) -> None:
    assert due(kind, 300) == due(kind, 300)
    assert due(kind, 300) != due(kind, 300, seed=2)
    other = arrivals.due(kind, 0.02, 1.0, 1.0, arrivals.stream(1, "flow2"))
    assert due(kind, 300) != list(islice(other, 300))


@pytest.mark.parametrize(
    ("sizes", "shape", "median"),
    [("exponential", 0, 693.1), ("lognormal", 1.0, 606.5), ("pareto", 2.5, 600 * 2 ** (1 / 2.5)), ("fixed", 0, 1000)],
)
def test_sizes(sizes: str, shape: float, median: float) -> None:
    """All have the given mean; medians follow their formulas."""
    random = arrivals.stream(1, "flow1")
    drawn = sorted(arrivals.size(sizes, 1000, shape, 10**9, random) for _ in range(MANY))
    assert sum(drawn) / MANY == pytest.approx(1000, rel=0.03)
    assert drawn[MANY // 2] == pytest.approx(median, rel=0.03)


def test_sizes_have_bounds() -> None:
    random = arrivals.stream(1, "flow1")
    drawn = [arrivals.size("pareto", 100, 1.1, 5000, random) for _ in range(MANY)]
    assert (min(drawn) >= 9, max(drawn)) == (True, 5000)
    assert {arrivals.size("exponential", 0.01, 0, 10, random) for _ in range(100)} == {1}


def test_no_thinking_takes_no_time() -> None:
    assert arrivals.exponential(0, arrivals.stream(1, "flow1")) == 0
    assert (
        len(list(takewhile(lambda at: at < 10**9, arrivals.due("constant", 0.1, 1, 1, arrivals.stream(1, ""))))) == 10
    )
