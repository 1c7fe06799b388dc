# SPDX-License-Identifier: BSD-3-Clause
"""What was on the air, and the paths of packets: as in the tiny air, and by hand."""

from typing import Any

import numpy as np
import pytest
from sample import Sample
from tiny_air import ip, ipv4, mac, tcp

from analysis.routes.paths import Legs, Paths, addresses, of_stations, paths
from analysis.taps import aired
from analysis.taps.aired import NONE
from analysis.taps.phy import radios
from analysis.traces.dissect import Frames
from analysis.traces.trace import NOBODY, Kind, Outcome

FLOW = {"name": "flow1", "source": "sta1", "destination": "sta4", "port": 2}


def test_what_was_on_the_air_is_what_the_trace_says(sample: Sample) -> None:
    """The sender (of a CTS or an ACK, the station that it answers), the receiver, the time, and the outcome there."""
    air, trace = aired.read(sample.pcapng, sample.air.plan()), sample.trace
    tx, addressed = trace.tx, trace.rx["addressed"] != 0
    assert air.kind.tolist() == tx["kind"].tolist() and {*air.kind.tolist()} == {*Kind}
    assert air.start_ns.tolist() == tx["start_ns"].tolist()
    assert (air.end_ns - air.start_ns).tolist() == tx["duration_ns"].tolist()
    assert air.station.tolist() == tx["station"].tolist()
    assert air.receiver.tolist() == np.where(tx["receiver"] == NOBODY, NONE, tx["receiver"].astype(int)).tolist()
    outcome, culprit = np.zeros(tx.size, int), np.full(tx.size, NONE)
    outcome[trace.rx_tx[addressed]] = trace.rx["outcome"][addressed]
    spoilt = addressed & (trace.rx["outcome"] == Outcome.COLLISION) & (trace.rx["other"] != NOBODY)
    culprit[trace.rx_tx[spoilt]] = trace.rx["other"][spoilt]
    assert air.outcome.tolist() == outcome.tolist() and len({*outcome.tolist()}) > 3
    assert air.culprit.tolist() == culprit.tolist() and (culprit >= 0).any()


def test_the_radios_of_a_node_share_its_address() -> None:
    """Its first radio's, or another one's; a host without a radio is no station."""

    def radio(ip: str | None) -> dict[str, Any]:
        return {"kind": "radio", "address": mac(0), "ip": ip}

    nodes = {"a": [radio("10.0.0.1/8"), radio(None)], "h": [], "b": [radio(None), radio("10.0.0.2/8")]}
    plan = {"nodes": [{"name": name, "interfaces": made} for name, made in nodes.items()]}
    assert addresses(plan) == {"a": 0x0A000001, "b": 0x0A000002}
    assert of_stations(plan) == [0x0A000001] * 2 + [0x0A000002] * 2


def test_a_string_has_one_path(sample: Sample) -> None:
    """All arrivals, at their times; the trace and the capture give the same."""
    plan = sample.air.plan() | {"applications": [FLOW, {**FLOW, "name": "other", "port": 3}]}
    told = paths(Legs.of_trace(sample.trace, radios(plan)), plan)
    read = paths(Legs.of_air(aired.read(sample.pcapng, plan), sample.trace.stop_ns), plan)
    delay = 667  # of the last hop, after which the tiny air has it
    arrived = [left for n, (_, left) in sample.air.journeys.items() if sample.air.journey_kind[n] == Kind.TCP_DATA]
    given_up = {int(time) for time in arrived} - {time + delay for time in told["flow1"].time_ns.tolist()}
    for found in (told["flow1"], read["flow1"]):
        assert (found.stations == [0, 1, 2, 3]).all() and (found.hops == 3).all() and found.hops.size > 20
        assert len(given_up) + found.hops.size == len(set(arrived))
        assert found.changes().tolist() == [0]
    assert told["flow1"].time_ns.tolist() == read["flow1"].time_ns.tolist()
    assert told["other"].hops.size == 0


def legs(*rows: tuple[int, int, int, int]) -> Legs:
    """A leg: sender, receiver, end and packet, from station 0 to station 3."""
    bodies = [
        bytes([8, 0, 0, 0]) + mac(to) + mac(by) + bytes(8) + ipv4(ip(0), ip(3), 6, tcp(1, 2, n, 7, 0x10, b"x"), n)
        for by, to, _, n in rows
    ]
    at = np.cumsum([0, *map(len, bodies)])[:-1]
    frames = Frames(np.frombuffer(b"".join(bodies), np.uint8), at, np.array([len(body) for body in bodies]))
    columns: Any = (np.array(column) for column in list(zip(*rows, strict=True))[:3])
    return Legs.of(*columns, frames, [f"10.0.0.{n}" for n in range(1, 6)])


def found(*rows: tuple[int, int, int, int]) -> Paths:
    interfaces = [[{"kind": "radio", "address": "", "ip": f"10.0.0.{n}/24"}] for n in range(1, 6)]
    nodes = [{"name": f"sta{n}", "interfaces": on} for n, on in enumerate(interfaces, 1)]
    return paths(legs(*rows), {"nodes": nodes, "applications": [FLOW]})["flow1"]


def test_a_path_that_changes() -> None:
    """Two packets under way at once; the second takes a shorter path."""
    seen = found((0, 1, 10, 1), (1, 2, 20, 1), (0, 2, 25, 2), (2, 3, 30, 1), (2, 3, 40, 2))
    assert seen.time_ns.tolist() == [30, 40] and seen.hops.tolist() == [3, 2]
    assert seen.stations.tolist() == [[0, 1, 2, 3], [0, 2, 3, NONE]]
    assert seen.changes().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        ([(0, 1, 10, 1), (0, 1, 15, 1), (1, 3, 20, 1)], [0, 1, 3]),  # its ACK was lost: sent again
        ([(0, 1, 10, 1), (1, 2, 20, 1), (1, 4, 30, 1), (4, 3, 40, 1)], [0, 1, 4, 3]),  # salvaged after a lost ACK
        ([(0, 1, 10, 1), (1, 3, 20, 1), (1, 3, 30, 1)], [0, 1, 3]),  # it came twice: the first counts
        ([(1, 3, 20, 1)], [1, 3]),  # its first leg was before the start
    ],
)
def test_a_leg_that_was_there_twice(rows: list[tuple[int, int, int, int]], path: list[int]) -> None:
    seen = found(*rows)
    assert [station for station in seen.stations[0].tolist() if station >= 0] == path
    assert seen.hops.tolist() == [len(path) - 1]


def test_what_never_arrives_has_no_path() -> None:
    assert found((0, 1, 10, 1), (1, 2, 20, 1)).hops.size == 0


def test_stations_without_an_ipv4_address_are_nobodys_ends() -> None:
    interfaces = [[{"kind": "radio", "address": "", "ip": ip_}] for ip_ in ("10.0.0.1/24", "fd00::2/64", "", None)]
    plan = {"nodes": [{"name": f"sta{n}", "interfaces": on} for n, on in enumerate(interfaces, 1)]}
    assert addresses(plan) == {"sta1": 10 << 24 | 1, "sta2": NONE, "sta3": NONE, "sta4": NONE}
    assert paths(legs((0, 1, 10, 1), (1, 3, 20, 1)), plan | {"applications": [FLOW]})["flow1"].hops.size == 0
