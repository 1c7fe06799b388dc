# SPDX-License-Identifier: BSD-3-Clause
"""TCP as in ns-2 (`--tcp-like ns2`): each setting has its effect, in TCP and on the air."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from analysis.tcp import senders
from analysis.tcp.senders import Event
from analysis.traces import trace

MS = 1_000_000
HEADER = 26 + 8 + 20  # of a QoS frame, of LLC and SNAP, of IPv4: TCP begins there
ROUTINGS: list[dict[str, Any]] = [
    {"routing": "static"},
    {"routing": "etx-frozen,probes=20"},
    {"routing": "aodv"},
    {"routing": "batman-adv"},
    {"routing": "hwmp", "link": "mesh"},
]


def played(bench: Any, plan: dict[str, Any]) -> Any:
    """Play a plan; return what woke its only sender, from the first ACK of a segment on."""
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    assert bench.run("plan").status == 0
    (records,) = senders.read(bench.folder / "tcp.trace").values()
    return records


@pytest.mark.parametrize("options", ROUTINGS, ids=str)
def test_routes_of_all_kinds_tell_tcp_its_initial_window_and_least_timeout(bench: Any, options: dict[str, Any]) -> None:
    """A record has the state before it: at the first ACK, the whole first flight has been sent."""
    told = {"initial_window": 3, "rto_min_ms": 1500}
    usual, set_ = (played(bench, bench.plan(stations=3, seconds=4, **options, **more)) for more in ({}, told))
    assert (usual["cwnd"][0], set_["cwnd"][0], set_["packets_out"][0]) == (10, 3, 3)
    assert usual["rto_us"].min() < 1_000_000 < 1_500_000 <= set_["rto_us"].min()


def test_the_timer_expires_no_sooner_than_its_least_and_nothing_is_sent_before(bench: Any) -> None:
    """The receiver is away after 2 s: there is no tail loss probe, and the timer sends the first retransmission."""
    made = bench.plan(stations=2, seconds=9, tcp_like="ns2", rto_min_ms=1000, window_limit=8)
    records = played(bench, {**made, "presence": {"sta2": [[0, 2]]}})
    acks, again, timers = (
        records["time_ns"][records["event"] == event] for event in (Event.ACK, Event.RETRANSMIT, Event.TIMER)
    )
    assert again[0] == timers[0]
    assert 1000 * MS < timers[0] - acks[-1] < 1200 * MS
    assert timers[1] - timers[0] == pytest.approx(2 * (timers[0] - acks[-1]), rel=0.1)


def test_segments_are_acknowledged_one_by_one_without_options(bench: Any) -> None:
    """Losses cause duplicate ACKs, which would have SACK blocks."""
    records = played(bench, bench.plan(stations=5, seconds=20, rts="full", tcp_like="ns2"))
    told = bench.result()["applications"][0]["tcp_info"]["receiver"]
    assert records["total_retrans"][-1] > 0
    seen = trace.read(bench.folder / "air.trace")
    acks = np.flatnonzero((seen.tx["kind"] == trace.Kind.TCP_ACK) & (seen.tx["caplen"] >= HEADER + 20))
    lengths = seen.data[seen.frame[acks] + HEADER + 12] >> 4
    assert acks.size > 100 and set(lengths[1:].tolist()) == {5}  # but of the handshake's, no options
    assert told["segs_out"] >= told["data_segs_in"] > 100


@pytest.mark.parametrize(("small_queues", "least", "most"), [(True, 1, 5), (False, 10, 30)])
def test_the_window_waits_in_the_interfaces_queue(bench: Any, small_queues: bool, least: int, most: int) -> None:
    """Once the round-trip time is known; before, the whole first flight does."""
    (line,) = bench.script(f"""
from emulation.net import Net
net = Net(window_limit=30, rts="full", small_queues={small_queues})
first, *_, last = [net.addStation(f"sta{{i}}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3, 4)]
net.addFlow(first, last)
with net:
    net.start()
    queued = []
    with net.play() as stage:
        for at_ms in range(2000, 12000, 20):
            stage.until(at_ms * {MS})
            queued.append(stage.looks()[0]["queued"])
    print(max(queued))
""")
    assert least <= int(line) <= most


@pytest.mark.parametrize(("options", "learns"), [({}, True), ({"max_reordering": 3}, False)], ids=str)
def test_three_duplicate_acks_are_enough(bench: Any, options: dict[str, Any], learns: bool) -> None:
    """Even after many that reordering caused."""
    (line,) = bench.script(f"""
from emulation.lane import netem
from emulation.net import Net
net = Net(window_limit=30, small_queues=False, **{options})
a, b = (net.addStation(f"sta{{i}}", position=(200.0 * i, 0, 0)) for i in (1, 2))
net.addFlow(a, b)
with net:
    net.start()
    waits = netem.pack({{"latency_ns": 10 * {MS}, "jitter_ns": 10 * {MS}}})
    a.route.replace_qdisc(a.radio.index, "netem", waits)
    print(net.run(10.0)["applications"][0]["tcp_info"]["sender"]["reordering"])
""")
    assert int(line) > 3 if learns else int(line) == 3


def test_a_node_that_sends_may_have_its_acks_thinned(bench: Any) -> None:
    """Below the qdisc that avoids small queues; when all has arrived, both queues are empty."""
    lines = bench.script(f"""
import struct
from emulation.lane.netlink import parse, text
from emulation.lane.rtnetlink import TCA_KIND
from emulation.net import Net
STATS2, QUEUE = 7, 3
net = Net(window_limit=30, rts="full", small_queues=False, ackthin="delayed", bytes=400_000)
first, *_, last = [net.addStation(f"sta{{i}}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3, 4)]
net.addFlow(first, last)
net.addFlow(last, first)
def queues():
    found = [of for index, _, of in last.route.qdiscs() if index == last.radio.index]
    return {{text(of[TCA_KIND]): struct.unpack_from("=II", parse(of[STATS2])[QUEUE]) for of in found}}
with net:
    net.start()
    most = 0
    with net.play() as stage:
        for at_ms in range(500, 40000, 100):
            stage.until(at_ms * {MS})
            most = max(most, stage.looks()[-1]["queued"])
        print(most)
        for name, (packets, octets) in sorted(queues().items()):
            print(name, packets, octets)
        with last:
            print(*max([int(n) for n in flow.split()[3:7]] for flow in open("/proc/net/ackthin").readlines()[1:]))
""")
    most, ackthin, netem, flow = lines
    acks, passed, thinned, held = map(int, flow.split())
    assert int(most) >= 10
    assert (ackthin, netem) == ("ackthin 0 0", "netem 0 0")
    assert acks > 100 and thinned > acks / 3 and (passed + thinned, held) == (acks, 0)
