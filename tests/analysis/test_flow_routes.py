# SPDX-License-Identifier: BSD-3-Clause
"""Routes looked up in kernels, and control packets of protocols that keep no trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_dissect import A, B, batadv, header, ipv4, ipv6, udp

from analysis.routes import flow_routes
from analysis.routes.control import kinds
from analysis.routes.routes import NO_ROUTE, UNKNOWN, Event
from analysis.traces.dissect import Frames
from analysis.traces.trace import NEVER
from emulation.files.foreign import Damaged


def test_a_route_is_lost_found_and_another() -> None:
    """A path that does not reach the destination is broken; it is lost only if the source has no route."""
    told = [
        (5, ["a", "b", "c"]), (40, ["a", "d", "c"]), (50, ["a", "b"]), (60, ["a", "b", "c"]), (70, ["a"]), (90, []),
    ]  # fmt: skip
    found = flow_routes.follow(told, "c", 10, 20, 100)
    assert found.time_ns.tolist() == [10, 30, 40, 50, 60, 80, 90]
    assert found.hops.tolist() == [2, 2, UNKNOWN, 2, NO_ROUTE, NO_ROUTE]
    assert found.breaks.tolist() == [[40, 50], [60, NEVER]]
    assert (found.found, found.changed, found.lost) == (0, 3, 1)
    assert found.without().tolist() == [[60, 90]]


def test_what_a_flow_has_not_had_cannot_break() -> None:
    found = flow_routes.follow([(5, ["a"]), (30, ["a", "c"])], "c", 10, 20, 100)
    assert (found.hops.tolist(), found.breaks.size, found.found) == ([NO_ROUTE, 1], 0, 1)


def test_the_same_as_what_a_protocol_tells() -> None:
    """Two flows by time; a route that a flow has not had yet is not recorded."""
    nodes = [
        {"name": name, "interfaces": [{"kind": "radio", "address": "", "ip": f"10.0.0.{n}/24"}]}
        for n, name in enumerate("abc", 1)
    ]
    flows = [{"name": name, "source": "a", "destination": to} for name, to in (("flow1", "c"), ("flow2", "b"))]
    told = {
        "flow1": [(1, ["a"]), (5, ["a", "b", "c"]), (9, ["a", "b"]), (12, [])],
        "flow2": [(7, ["a", "b"])],
    }
    records = flow_routes.events(told, {"nodes": nodes, "applications": flows})
    found = [(at, Event(event), to & 255, hops) for at, event, to, hops in zip(
        *(records[name].tolist() for name in ("time_ns", "event", "to", "hops")), strict=True)]  # fmt: skip
    assert found == [
        (5, Event.FOUND, 3, 2), (7, Event.FOUND, 2, 1), (9, Event.CHANGED, 3, 0), (12, Event.LOST_ROUTE, 3, 0),
    ]  # fmt: skip
    assert flow_routes.events({}, {"nodes": nodes, "applications": flows}).size == 0


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    for line in ("[1, 2", "5", '[1, "flow1"]', '[1, "flow1", 3]'):
        (tmp_path / "routes.jsonl").write_text('[1, "flow1", ["a"]]\n' + line)
        with pytest.raises(Damaged, match="line 2: "):
            flow_routes.read(tmp_path / "routes.jsonl")


def test_control_packets_are_distinguished() -> None:
    ips = (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    packets = {
        "preq": header(0xD0) + b"\x0d\x01" + bytes([130, 37]) + bytes(37),
        "perr": header(0xD0) + b"\x0d\x01" + bytes([132, 15]) + bytes(15),
        "ogm": batadv(b"\x00\x0f" + bytes(22)),
        "broadcast": batadv(b"\x01\x0f" + bytes(12)),
        "babel": header() + ipv6(17, udp(6696, 6696, bytes(8))),
        "olsr": header() + ipv4(*ips, 17, udp(698, 698, bytes(8))),
        "other": batadv(b"\x77\x0f" + B + A),
    }
    sizes = np.array([len(octets) for octets in packets.values()])
    data = np.frombuffer(b"".join(packets.values()), np.uint8)
    names, before = kinds(Frames(data, np.cumsum(sizes) - sizes, sizes))
    assert names.tolist() == list(packets)
    assert before.tolist() == [24, 24, 32, 32, 32, 32, 32]
