# SPDX-License-Identifier: BSD-3-Clause
"""Flows over the air: all bytes arrive once, for both kinds of flow, and a repeated run is the same."""

import hashlib
import json
from collections import defaultdict

import numpy as np
import pytest
from scapy.layers.inet import IP, TCP

from analysis.traces import trace


def test_a_flow_of_so_many_bytes(bench):
    bench.plan(stations=3, seconds=10, bytes=100_000)
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["delivered_bytes"] == flow["acked_bytes"] == 100_000
    assert flow["tcp_info"]["sender"]["snd_mss"] == 1460
    assert 0.4 < flow["finished_s"] < 10  # 0.4 s is what 100 kB take at 2 Mb/s


def windows(bench):
    """Return the windows that TCP offers on the air, in bytes and in order, by port."""
    seen, scale, offered = trace.read(bench.folder / "air.trace"), {}, defaultdict(list)
    for row in seen.frame[np.isin(seen.tx["kind"], (trace.Kind.TCP_DATA, trace.Kind.TCP_ACK, trace.Kind.OTHER))]:
        packet = seen.data[row + 26 + 8 :][:80].tobytes()  # after the headers of 802.11 with QoS, and LLC
        header = IP(packet)[TCP]
        if header.flags.S:
            scale[header.sport] = dict(header.options)["WScale"]
            offered[header.sport].append(header.window)
        else:
            offered[header.sport].append(header.window << scale[header.sport])
    return offered


@pytest.mark.parametrize("mss, limit", [(1460, 2), (1460, 8), (1460, 64), (540, 2), (540, 8), (540, 64)])
def test_no_window_above_the_limit_is_ever_offered(bench, mss, limit):
    """From the SYN on, by both ends; and the whole limit is used."""
    bench.plan(stations=3, seconds=3, window_limit=limit, mss=mss, seed=2)
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["delivered_bytes"] > 50_000
    offered = windows(bench)
    assert len(offered) == 2
    assert {max(of_end) for of_end in offered.values()} == {limit * mss}


def test_short_preambles_take_half_the_time(bench):
    """96 us instead of 192 before each frame; there are as many control frames as DATA."""
    airtimes = []
    for preamble in ("long", "short"):
        bench.plan(stations=2, seconds=1, traffic="udp", basic_rates="2", preamble=preamble)
        bench.run("plan")
        (counters,) = (s["counters"] for s in bench.result()["air"]["stations"] if "ack" in s["counters"]["tx"])
        airtimes.append(counters["airtime_ns"]["ack"] / counters["tx"]["ack"])
    assert airtimes == [192_000 + 56_000, 96_000 + 56_000]


def test_a_constant_bit_rate(bench):
    """1.9 Mb/s over one hop at 2 Mb/s is more than it carries, so the queue is full."""
    bench.plan(stations=2, seconds=3, traffic="udp", like="ns2")
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["datagrams"]["sent"] == 500
    assert 300 < flow["datagrams"]["arrived"] < 450
    assert flow["delivered_bytes"] == flow["datagrams"]["arrived"] * 1448


def test_a_datagram_tells_over_how_many_hops_it_came(bench):
    bench.plan(stations=3, seconds=1, traffic="udp")
    bench.run("plan")
    found = bench.result()["applications"][0]["datagrams"]
    assert 0 < found["arrived"] < found["sent"]
    assert found["hops_mean"] == 2


@pytest.mark.parametrize("amount", [10_000, None])
def test_iperf3_flows(bench, amount):
    """Its report is kept; both counts of delivered bytes agree, except for data in flight at the end."""
    bench.plan(stations=2, seconds=3, bytes=amount, traffic="iperf3")
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    report = json.loads((bench.folder / "iperf3-flow1.json").read_text())
    received = report["end"]["sum_received"]["bytes"]
    assert flow["congestion"] == "reno"
    assert flow["delivered_bytes"] == amount if amount else 0.8 * received < flow["delivered_bytes"] <= received
    assert report["start"]["test_start"]["bytes"] == (amount or 0)


def test_a_small_window_stays_open(bench):
    """The application reads at once, so a small receive buffer is a constant window."""
    bench.plan(stations=2, seconds=3, receive_buffer=32_768)
    bench.run("plan")
    seen = trace.read(bench.folder / "air.trace")
    acks = (seen.tx["kind"] == trace.Kind.TCP_ACK) & (seen.tx["start_ns"] > seen.start_ns + 10**9)
    at = seen.frame[acks] + 26 + 8 + 20 + 14  # headers of 802.11 with QoS, LLC and IPv4; the window in TCP's
    window = seen.data[at].astype(int) << 8 | seen.data[at + 1]
    assert window.size > 100
    assert window.min() > 0.9 * window.max()


def test_six_flows_side_by_side(bench):
    bench.plan(stations=3, seconds=60, flows=6, bytes=30_000)
    bench.run("plan")
    assert [flow["delivered_bytes"] for flow in bench.result()["applications"]] == [30_000] * 6


@pytest.mark.parametrize(
    ("tcp", "congestion"), [("newreno", "reno"), ("vegas", "vegas"), ("cubic", "cubic"), ("bbr", "bbr")]
)
def test_the_congestion_control_is_the_one_asked_for(bench, tcp, congestion):
    bench.plan(stations=2, seconds=2, tcp=tcp)
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["congestion"] == congestion
    assert flow["delivered_bytes"] > 100_000
    assert flow["delivered_bytes"] % 1460 == 0 or congestion in ("cubic", "bbr")  # whose segments carry timestamps


@pytest.mark.parametrize(("ack", "per_segment"), [("plain", 1.0), ("delayed", 0.5)])
def test_acks_for_each_or_every_other_segment(bench, ack, per_segment):
    bench.plan(stations=2, seconds=5, ack=ack)
    bench.run("plan")
    receiver = bench.result()["applications"][0]["tcp_info"]["receiver"]
    assert receiver["segs_out"] / receiver["data_segs_in"] == pytest.approx(per_segment, rel=0.1)


def digests(folder):
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("air.trace", "lane.json")}


def test_one_seed_one_run(new_bench):
    """Byte for byte, in another folder and from another directory; another seed gives another run."""
    seen = []
    for seed in (1, 1, 2):
        bench = new_bench()
        bench.plan(stations=3, seconds=5, seed=seed)
        bench.run("plan", seed=seed)
        seen.append(digests(bench.folder))
    assert seen[0] == seen[1]
    assert seen[0]["air.trace"] != seen[2]["air.trace"]


def test_progress_is_heard(bench):
    bench.plan(stations=2, seconds=20)
    heard = []
    from emulation.lanes import virtual

    listener = virtual.Listener(progress=lambda done, air_s: heard.append((done, air_s)))
    virtual.run(bench.prepared.kernel.linux, bench.prepared.modules, bench.folder, ["plan"], listener=listener)
    assert heard == [(0.0, 0.0), (0.25, 5.0), (0.5, 10.0), (0.75, 15.0)]
