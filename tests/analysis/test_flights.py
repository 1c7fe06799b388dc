# SPDX-License-Identifier: BSD-3-Clause
"""Segments in flight of a trace that comes in parts: the same result as for the whole, with little memory."""

from pathlib import Path

import numpy as np
import pytest
from sample import Sample, make_sample
from tiny_air import busy_string

from analysis.taps.phy import radios
from analysis.tcp.hops import of_trace
from analysis.tcp.in_flight import Flight
from analysis.tcp.in_flight_parts import Flights
from analysis.tcp.journeys import in_flight
from analysis.traces.packets import Packets
from analysis.traces.trace import GIVEN_UP, Kind, Outcome


def in_parts(sample: Sample, size: int, most: int, quiet_ns: int, early: int = 0) -> tuple[Flight, Flights, int]:
    """Return the result of a sample's trace, given in parts of this many transmissions, and their ends `early`
    transmissions before; and how many were held at most."""
    t, stations = sample.trace, radios(sample.air.plan())
    flights, held = Flights(stations, most, quiet_ns), 0
    own = (t.tx["kind"] != Kind.CTS) & (t.tx["kind"] != Kind.ACK)
    delivered = (t.rx["addressed"] != 0) & (t.rx["outcome"] == Outcome.OK)
    ended = np.isin(t.end["reason"], GIVEN_UP)
    for first in range(0, t.tx.size, size):
        rows = np.zeros(t.tx.size, bool)
        rows[first : first + size] = True
        ids, mine = t.tx["id"][rows], rows & own
        packets = Packets.of(t.data, t.tx[mine], t.frame[mine], [station["ip"].split("/")[0] for station in stations])
        since = ids.min() + early if first else 0
        end = t.end[ended & (t.end["id"] >= since) & (t.end["id"] <= ids.max() + early)]
        flights.add(t.tx[mine], t.rx[delivered & (rows & own)[t.rx_tx]], end, packets)
        held = max(held, flights.held)
    return flights.finish(t.start_ns, t.stop_ns), flights, held


@pytest.mark.slow
@pytest.mark.parametrize("early", [150, 0])
@pytest.mark.parametrize("rts_above", [0, pytest.param(4000, marks=pytest.mark.slow)])
def test_the_same_in_parts(tmp_path: Path, rts_above: int, early: int) -> None:
    """To the nanosecond, with and without RTS; nine of ten transmissions are forgotten meanwhile."""
    sample = make_sample(busy_string(12, 3, rts_above=rts_above), 12, tmp_path)
    whole = in_flight(of_trace(sample.trace, radios(sample.air.plan())))
    for size in (97, 1000):
        found, flights, held = in_parts(sample, size, 50, 1_000_000_000, early)
        for name in ("data", "ack", "total"):
            ours, all_ = getattr(found, name), getattr(whole, name)
            assert ours.mean == pytest.approx(all_.mean, rel=1e-12)
            assert np.unique(ours.time_s).tolist() == np.unique(all_.time_s).tolist()
            last = [series.count[np.append(np.diff(series.time_s) > 0, True)].tolist() for series in (ours, all_)]
            assert last[0] == last[1]
        assert flights.before.journeys[0].size > 100
        assert held < sample.trace.tx.size / 2
