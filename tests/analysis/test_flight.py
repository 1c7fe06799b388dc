# SPDX-License-Identifier: BSD-3-Clause
"""Segments in flight: journeys derived from the frames alone agree with those in the tiny air."""

from pathlib import Path

import numpy as np
import pytest
from sample import Sample, make_sample
from tiny_air import busy_string

from analysis.taps.observe import observe
from analysis.taps.phy import Medium, radios
from analysis.tcp.hops import Hops, of_observation, of_trace
from analysis.tcp.in_flight import BINS, Flight, Series
from analysis.tcp.journeys import in_flight, journeys
from analysis.traces.trace import NEVER, Kind

S = 1_000_000_000


def look(sample: Sample) -> Hops:
    return of_observation(observe(sample.capture, Medium.of_plan(sample.air.plan())))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("rts_above", [0, 100, 4000])
def test_journeys(seed: int, rts_above: int, tmp_path: Path) -> None:
    """Every segment enters and leaves when it did: delivered, given up (also after RTSs only), or dropped from a full
    queue. After four seconds of traffic there are six in which all of them settle."""
    sample = make_sample(busy_string(4, seed, rts_above=rts_above), 10, tmp_path)
    enter, leave, kind = journeys(look(sample))
    air = sample.air
    # A segment that its own station's queue refused was never on the air, nor on the path.
    wanted = [(came, left, int(air.journey_kind[n])) for n, (came, left) in air.journeys.items() if came != left]
    assert sorted(zip(enter.tolist(), leave.tolist(), kind.tolist(), strict=True)) == sorted(wanted)
    assert len(wanted) > 60 and {k for *_, k in wanted} == {Kind.TCP_DATA, Kind.TCP_ACK}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rts_above", [0, 100, 4000])
def test_the_trace_gives_the_same(seed: int, rts_above: int, tmp_path: Path) -> None:
    """The air's own records and the capture, from which everything is derived again, give the same journeys."""
    sample = make_sample(busy_string(6, seed, rts_above=rts_above), 6, tmp_path)
    told, derived = journeys(of_trace(sample.trace, radios(sample.air.plan()))), journeys(look(sample))
    assert told[0].size > 60 and all((a == b).all() for a, b in zip(told, derived, strict=True))


# From, to, handed over, received.
@pytest.mark.parametrize(
    ("legs", "left"),
    [
        ([(0, 1, 10, 20), (1, 0, 30, 40)], 40),  # back at its origin, which does not send it again
        ([(0, 1, 10, 20), (1, 2, 30, 40), (2, 1, 50, 60)], 60),  # back at a relay, which has others to send at 70
        ([(0, 1, 10, 20), (1, 2, 30, 40), (2, 1, 50, 60), (1, 3, 65, 68)], 68),  # through a loop, to its destination
    ],
)
def test_a_segment_that_routes_send_back(legs: list[tuple[int, int, int, int]], left: int) -> None:
    others = [(station, -1, 70, NEVER) for station in range(3)]
    station, receiver, queued, arrived = (np.array(each) for each in zip(*sorted(legs + others), strict=True))
    segment = receiver >= 0
    hops = Hops(
        station=station, kind=np.where(segment, int(Kind.TCP_DATA), int(Kind.OTHER)), queued=queued, first=queued,
        ended=queued + 5, arrived=arrived, lost=np.zeros(station.size, bool), receiver=receiver, shown=segment,
        packet=np.zeros(station.size, np.uint64), destination=np.full(station.size, 3), stations=4, start_ns=0,
        stop_ns=100,
    )  # fmt: skip
    came, gone, _ = journeys(hops)
    assert (came.tolist(), gone.tolist()) == ([10], [left])


def test_still_there_at_the_stop(sample: Sample) -> None:
    """A segment on its way at the stop has not left."""
    _, leave, _ = journeys(look(sample))
    assert (leave == NEVER).any()
    flight = in_flight(look(sample))
    assert flight.total.count[-1] == (leave == NEVER).sum()


def test_total_is_the_sum(sample: Sample) -> None:
    """Time-weighted means of DATA and ACK add up, and no count is ever negative."""
    flight = in_flight(look(sample))
    means = flight.means()
    assert means.total == pytest.approx(means.data + means.ack) and means.data > 0 and means.ack > 0
    assert min(series.count.min() for series in (flight.data, flight.ack, flight.total)) >= 0


def test_mean_is_weighted_with_time() -> None:
    """Two segments, one there for 1 s and one for 3 s of 10: 0.4 on average. By hand."""
    series = Series.of(np.array([2 * S, 4 * S]), np.array([3 * S, 7 * S]), 1 * S, 11 * S)
    assert series.time_s.tolist() == [1, 2, 3, 6] and series.count.tolist() == [1, 0, 1, 0]
    assert series.mean == pytest.approx(0.4)


def test_before_the_start_and_after_the_stop() -> None:
    """Segments from before the start count from the start; those that leave after the stop do not leave."""
    series = Series.of(np.array([0, 2 * S]), np.array([2 * S, NEVER]), 1 * S, 3 * S)
    assert series.time_s.tolist() == [0, 1, 1] and series.count.tolist() == [1, 2, 1]


def test_average_over_time() -> None:
    """Over a window of time, however many events are in it; at the ends over the available part."""
    series = Series(np.array([1.0, 2.0, 2.1, 2.2, 6.0]), np.array([4, 0, 1, 0, 2]), 10.0)
    average = series.average(np.array([2.0, 4.5, 7.0, 0.0, 10.0]), 2.0)
    assert average.tolist() == pytest.approx([4.1 / 2, 0, 2, 0, 2])
    whole = series.average(np.array([5.0]), 20.0)
    assert whole.tolist() == pytest.approx([series.mean])


def test_no_traffic(tmp_path: Path) -> None:
    """A run without TCP has nothing in flight."""
    air = busy_string(0)
    flight: Flight = in_flight(look(make_sample(air, 1, tmp_path)))
    assert flight.means().total == 0
    assert flight.total.average(np.array([0.5]), 1.0).tolist() == [0]


def test_of_very_many_the_times_are_rounded() -> None:
    """The mean is the same to five digits, and so is the count nearly everywhere."""
    rng = np.random.default_rng(1)
    enter = np.sort(rng.integers(0, 1000 * S, 2 * BINS))
    leave = enter + rng.integers(S // 100, S, enter.size)
    rounded = Series.of(enter, leave, 0, 1000 * S)
    held = (np.minimum(leave, 1000 * S) - enter).sum() / (1000 * S)
    assert rounded.time_s.size == BINS + 1 and rounded.mean == pytest.approx(held, rel=1e-5)
    at = rng.uniform(1, 999, 50)
    true = [np.count_nonzero((enter <= t * S) & (leave > t * S)) for t in at.tolist()]
    found = rounded.count[np.searchsorted(rounded.time_s, at, "right") - 1]
    assert np.abs(found - true).max() <= 4
