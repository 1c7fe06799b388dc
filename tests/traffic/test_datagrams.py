# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams: losses, delays, the spread of values, and speech quality, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traffic.applications import voice
from traffic.datagrams import Datagrams
from traffic.spread import spread

MS = 1_000_000


def of(sent: list[int], arrived: list[tuple[int, int]]) -> Datagrams:
    """Datagrams sent and received at these times (ms)."""
    made = Datagrams()
    for at in sent:
        made.send(at * MS)
    for number, at in arrived:
        made.arrive(number, at * MS)
    return made


def test_delay_jitter_and_loss() -> None:
    """Delays of 10, 26 and 10 ms: differences of 16, twice; RFC 3550's J is 1, and then 1 + 15/16."""
    found = of([0, 20, 40, 60], [(0, 10), (1, 46), (3, 70)]).report()
    assert (found["sent"], found["arrived"], found["lost_percent"]) == (4, 3, 25)
    assert found["delay_ms"] == {"mean": 46 / 3, "p50": 10, "p95": 26, "p99": 26, "max": 26}
    assert found["jitter_ms"] == pytest.approx((1 + 1.9375) / 2)


def test_those_out_of_order_and_those_that_come_twice() -> None:
    found = of([0, 20, 40], [(1, 30), (0, 35), (0, 36), (2, 50)]).report()
    assert (found["arrived"], found["reordered"], found["duplicates"], found["lost_percent"]) == (3, 1, 1, 0)


@given(
    at_once=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 15)), max_size=8),
    odd=st.lists(st.integers(-1, 40), max_size=5),
    alike=st.integers(1, 9),
)
def test_many_at_once_count_as_each_alone(at_once: list[tuple[int, int]], odd: list[int], alike: int) -> None:
    """Also those that come out of order, twice, or that nobody sent. `alike` of them arrive at one time."""
    one, many = (of([number // 9 * 9 for number in range(20)], []) for _ in range(2))
    batches = [list(range(first, min(first + count, 25))) for first, count in at_once] + [odd]
    for at, numbers in enumerate(batches):
        times_ns = [(100 + 9 * at + place // alike) * MS for place in range(len(numbers))]
        many.arrive_many(numbers, [1 + n % 3 for n in numbers], times_ns)
        for number, now_ns in zip(numbers, times_ns, strict=True):
            if 0 <= number < 20:
                one.arrive(number, now_ns, 1 + number % 3)
    assert vars(many) == vars(one)


def test_of_none_there_is_nothing_to_say() -> None:
    found = of([0, 20], []).report()
    assert (found["lost_percent"], found["delay_ms"], found["jitter_ms"]) == (100, None, None)
    assert of([], []).report()["lost_percent"] is None


def test_how_long_it_waits() -> None:
    """For the first one sent after the last that arrived; not at all if there is none."""
    assert of([0, 20, 40], [(0, 10)]).waiting_s(120 * MS) == 0.1
    assert of([0, 20], [(1, 30)]).waiting_s(120 * MS) is None


def test_samples_are_of_what_came_since() -> None:
    made = of([0, 20, 40], [(0, 10), (1, 40)])
    assert made.sample() == {"sent": 3, "arrived": 2, "delay_ms": 15, "jitter_ms": 10 / 16}
    assert (made.sample()["delay_ms"], made.sample()["arrived"]) == (None, 2)
    assert of([0, 20, 40], [(0, 10), (2, 50)]).within(0.01) == 2


def test_percentiles_are_values_that_there_were() -> None:
    assert spread(range(1, 101)) == {"mean": 50.5, "p50": 50, "p95": 95, "p99": 99, "max": 100}
    assert spread([7.0]) == {"mean": 7, "p50": 7, "p95": 7, "p99": 7, "max": 7}
    assert spread([]) is None


def test_the_e_model() -> None:
    """Its limits: no impairment below 100 ms, R 93.2 and MOS 4.41; the codec's own, and that of losses (G.107)."""
    assert voice.rating("g711", 0.06, 0) == 93.2
    assert voice.opinion(93.2) == pytest.approx(4.41, abs=0.005)
    assert voice.rating("g729", 0.06, 0) == pytest.approx(93.2 - 11)
    assert voice.rating("g711", 0.06, 25.1) == pytest.approx(93.2 - 95 / 2)
    assert voice.rating("g729", 0.06, 19) == pytest.approx(93.2 - 11 - 84 / 2)
    assert voice.too_late(400) == pytest.approx(25 * (65 ** (1 / 6) - 3 * (1 + (2 / 3) ** 6) ** (1 / 6) + 2))
    assert (voice.too_late(100), 0 < voice.too_late(160) < 2 < voice.too_late(250)) == (0, True)
    assert (voice.opinion(0), voice.opinion(6), voice.rating("g729", 5, 100)) == (1, 1, 0)
