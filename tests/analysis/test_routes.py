# SPDX-License-Identifier: BSD-3-Clause
"""Routes from their trace: by hand, and with every byte checked."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from analysis.routes import routes
from analysis.routes.paths import Paths
from analysis.routes.routes import NO_ROUTE, RECORD, UNKNOWN, DropReason, Event, Packet, Routes
from analysis.tcp.senders import Flow as TcpFlow
from analysis.tcp.senders import Phase
from analysis.traces.trace import NEVER, Array
from emulation.files.foreign import Damaged
from emulation.lane import manet_protocol

MS = 1_000_000
ZERO, STOP = 1000 * MS, 11_000 * MS
PLAN: dict[str, Any] = {
    "routing": {"kind": "aodv"},
    "applications": [{"name": "flow1", "source": "sta1", "destination": "sta4", "start_s": 1.0, "port": 5001}],
    "nodes": [
        {"name": f"sta{n}", "interfaces": [{"kind": "radio", "address": "", "ip": f"10.0.0.{n}/24"}]}
        for n in range(1, 6)
    ],
}


def ip(station: int) -> int:
    return 10 << 24 | station


def record(event: Event, ms: int, node: int, to: int = 4, **values: int) -> Array:
    """Return a record of station `node`, about another, this many ms after the run's start."""
    new = np.zeros(1, RECORD)
    fields = {"size": RECORD.itemsize, "event": event, "time_ns": ZERO + ms * MS, "node": ip(node), "to": ip(to)}
    for name, value in (fields | values).items():
        new[name] = value
    return new


def lane(delivered: int = 1, finished_s: float | None = None) -> dict[str, Any]:
    counters = [{"counters": {"airtime_ns": {"routing": 2 * MS, "tcp_data": 7}}}, {"counters": {"airtime_ns": {}}}]
    return {
        "started_ns": ZERO, "stopped_ns": STOP, "recorders": {"manet_trace": {"lost_records": 0}},
        "applications": [{"name": "flow1", "delivered_bytes": delivered, "finished_s": finished_s}],
        "air": {"stations": counters},
    }  # fmt: skip


def found(*records: Array, took: Paths | None = None, **of_lane: Any) -> Routes:
    all_ = np.concatenate([np.zeros(0, RECORD), *records])
    return routes.routes(all_, PLAN, lane(**of_lane), {"flow1": took} if took else {})["flow1"]


def took(*packets: tuple[int, list[int]]) -> Paths:
    """Return packets that arrived this many ms after the run's start, over these stations, from 1."""
    rows = [[n - 1 for n in path] + [-1] * (5 - len(path)) for _, path in packets]
    hops = [len(path) - 1 for _, path in packets]
    return Paths(np.array([ZERO + ms * MS for ms, _ in packets]), np.array(hops), np.array(rows))


def spans(rows: Array) -> list[list[int]]:
    """In ms."""
    return [[time // MS if time < NEVER else NEVER for time in row] for row in rows.tolist()]


def test_the_names_are_the_modules() -> None:
    of = {Event: manet_protocol.EVENTS, Packet: manet_protocol.KINDS, DropReason: manet_protocol.REASONS}
    for enum, names in of.items():
        assert [name.name.lower() for name in enum] == [name.lower() for name in names]


def test_a_route_that_is_found_changed_and_lost() -> None:
    """Others' routes, and to elsewhere, are not the flow's, which begins at 1 s."""
    way = found(
        record(Event.FOUND, 2000, 1, hops=3), record(Event.FOUND, 2500, 2, hops=9),
        record(Event.LOST_ROUTE, 2600, 1, 5),
        record(Event.CHANGED, 4000, 1, hops=2), record(Event.LOST_ROUTE, 6000, 1), record(Event.FOUND, 6500, 1, hops=4),
    )  # fmt: skip
    assert (way.time_ns // MS).tolist() == [1000, 2000, 4000, 6000, 6500, 10_000]
    assert way.hops.tolist() == [NO_ROUTE, 3, 2, NO_ROUTE, 4]
    assert spans(way.without()) == [[1000, 2000], [6000, 6500]]
    assert spans(way.breaks) == [[6000, 6500]]
    summary = way.summary(None, None)
    assert (summary.found, summary.changed, summary.lost, summary.changes) == (2, 1, 1, 4)
    assert (summary.without_s, summary.length_mean) == (1.5, (3 * 2 + 2 * 2 + 4 * 3.5) / 7.5)
    assert (summary.breaks, summary.recovered, summary.recovery_mean_s, summary.recovery_max_s) == (1, 1, 0.5, 0.5)
    assert (summary.packets_by_hops, summary.hops_mean, summary.rto_without_s) == (None, None, None)


@pytest.mark.parametrize(
    ("records", "delivered", "hops"),
    [
        ([], 1, [UNKNOWN]),  # static routes: nobody speaks of them
        ([], 0, [NO_ROUTE]),
        ([record(Event.SEARCH, 1000, 1)], 1, [NO_ROUTE]),
        ([record(Event.CHANGED, 3000, 1, hops=2)], 1, [UNKNOWN, 2]),
        ([record(Event.LOST_ROUTE, 3000, 1)], 1, [UNKNOWN, NO_ROUTE]),
        ([record(Event.FOUND, 500, 1, hops=2)], 0, [2]),  # before the flow began
        ([record(Event.FOUND, 10_000, 1, hops=2)], 0, [NO_ROUTE]),  # when all was over
    ],
)
def test_what_was_known_before(records: list[Array], delivered: int, hops: list[int]) -> None:
    assert found(*records, delivered=delivered).hops.tolist() == hops


def test_a_flow_between_stations_without_an_address_has_no_route() -> None:
    nodes = [
        {"name": node["name"], "interfaces": [{"kind": "radio", "address": "", "ip": None}]} for node in PLAN["nodes"]
    ]
    records = record(Event.FOUND, 2000, 1, hops=3)
    assert routes.routes(records, PLAN | {"nodes": nodes}, lane(0), {})["flow1"].hops.tolist() == [NO_ROUTE]


def test_a_flow_that_finishes() -> None:
    way = found(record(Event.FOUND, 2000, 1, hops=3), record(Event.LOST_ROUTE, 6000, 1), finished_s=3.0)
    assert (way.time_ns // MS).tolist() == [1000, 2000, 4000] and way.lost == 0


def test_a_link_that_is_lost_on_the_way() -> None:
    """A break begins where the packets went last; lost links elsewhere, and the same again, make no other. It is over
    when the source, or who lost the link, has a way again, not when others do."""
    path = took((1500, [1, 2, 4]), (5000, [1, 3, 4]))
    way = found(
        record(Event.LINK_LOST, 1200, 2, 4),  # nothing had come yet
        record(Event.LINK_LOST, 1600, 3, 4), record(Event.LINK_LOST, 1700, 4, 2),
        record(Event.LINK_LOST, 2000, 2, 4), record(Event.LOST_ROUTE, 2100, 1), record(Event.FOUND, 2200, 5, hops=1),
        record(Event.FOUND, 2500, 1, hops=2), record(Event.FOUND, 2600, 2, hops=2),
        record(Event.LINK_LOST, 6000, 3, 4), record(Event.REPAIRED, 6300, 3, hops=2),
        record(Event.LINK_LOST, 7000, 1, 3),
        took=path,
    )  # fmt: skip
    assert spans(way.breaks) == [[2000, 2500], [6000, 6300], [7000, NEVER]]
    summary = way.summary(path, None)
    assert (summary.breaks, summary.recovered) == (3, 2)
    assert (summary.recovery_mean_s, summary.recovery_max_s) == (pytest.approx(0.4), 0.5)
    assert (summary.packets_by_hops, summary.hops_mean) == ({2: 2}, 2.0)


def test_timeouts_without_a_route() -> None:
    """Of a wait from 3 s to 8 s and another from 9 s, what lies within 5 to 7 s and from 9.5 s on."""
    way = found(
        record(Event.FOUND, 1000, 1, hops=3), record(Event.LOST_ROUTE, 5000, 1), record(Event.FOUND, 7000, 1, hops=3),
        record(Event.LOST_ROUTE, 9500, 1),
    )  # fmt: skip
    edges = np.array([1000, 3000, 8000, 9000, 10_000]) * MS
    phase = np.array([Phase.SLOW_START, Phase.RTO, Phase.SLOW_START, Phase.RTO])
    none = np.zeros(0, np.int64)
    tcp = TcpFlow(edges, none, none, none, none, phase, none, none, (0, 0), None)
    assert way.summary(None, tcp).rto_without_s == 2.5


def test_what_routing_cost_and_lost() -> None:
    """Within the time that is measured."""
    sent, dropped = Event.SENT_CONTROL, Event.DROPPED
    records = np.concatenate([
        record(sent, -1, 1, kind=Packet.RREQ, len=48), record(sent, 1, 1, kind=Packet.RREQ, len=48),
        record(sent, 2, 2, kind=Packet.RREQ, len=50), record(sent, 3, 4, kind=Packet.RREP, len=44),
        record(dropped, 4, 1, reason=DropReason.NO_ROUTE), record(dropped, 5, 1, reason=DropReason.NO_ROUTE),
        record(dropped, 6, 2, reason=DropReason.DUPLICATE, kind=Packet.RREQ), record(Event.LINK_LOST, 7, 2, 3),
    ])  # fmt: skip
    summary = routes.summary(records, PLAN, lane())
    assert (summary.protocol, summary.airtime_s) == ("aodv", 0.002)
    assert (summary.control_frames, summary.control_bytes) == ({"rreq": 2, "rrep": 1}, {"rreq": 98, "rrep": 44})
    assert (summary.dropped, summary.dropped_control) == ({"no_route": 2}, {"duplicate": 1})
    assert summary.events == {"dropped": 3, "link_lost": 1, "sent_control": 3}
    assert (summary.frames, summary.bytes, summary.drops, summary.links_lost, summary.searches) == (3, 142, 2, 1, 0)
    assert {kind: times.tolist() for kind, times in routes.control_s(records, lane()).items()} == {
        "RREQ": [0.001, 0.002],
        "RREP": [0.003],
    }


def test_a_reader_that_fell_behind() -> None:
    behind = lane() | {"recorders": {"manet_trace": {"lost_records": 7}}}
    with pytest.raises(Damaged, match="lost 7 records"):
        routes.read(None, behind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("size", 40, "48 bytes"),
        ("event", 99, "an unknown event"),
        ("kind", 99, "unknown kind"),
        ("reason", 99, "unknown reason"),
    ],
)
def test_no_byte_is_believed(field: str, value: int, said: str) -> None:
    records = np.concatenate([record(Event.FOUND, 1, 1), record(Event.FOUND, 2, 1)])
    records[field][1] = value
    data = records.tobytes()
    with pytest.raises(Damaged, match=f"at byte 48.*{said}"):
        routes.parse(data)
    with pytest.raises(Damaged, match="truncated: at byte 48: 5 bytes"):
        routes.parse(data[:53])


@examples(50)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(Damaged):
        assert len(routes.parse(data)) * RECORD.itemsize == len(data)
