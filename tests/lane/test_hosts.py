# SPDX-License-Identifier: BSD-3-Clause
"""The delay of hosts: it is drawn from the seed, keeps the order of frames, and leaves beacons alone."""

from __future__ import annotations

from typing import Any

from lane_bench import Bench

from analysis.traces import trace
from analysis.traces.trace import Kind, Trace


def played(bench: Bench, **options: Any) -> Trace:
    bench.plan("string", **{"stations": 3, "seconds": 3, **options})
    assert bench.run("plan").status == 0
    return trace.read(bench.folder / "air.trace")


def test_one_seed_is_one_trace(bench: Bench) -> None:
    plain, delayed, again, other = (
        played(bench, **options).data.tobytes()
        for options in ({}, {"host_delay_us": 25}, {"host_delay_us": 25}, {"host_delay_us": 25, "seed": 2})
    )
    assert delayed == again
    assert len({plain, delayed, other}) == 3


def test_frames_keep_their_order(bench: Bench) -> None:
    """On one hop, where none is lost, TCP has no reason to send anything again."""
    played(bench, stations=2, host_delay_us=1000)
    flow = bench.result()["applications"][0]
    assert flow["retransmits"] == 0 and flow["delivered_bytes"] > 100_000


def test_beacons_keep_their_time(bench: Bench) -> None:
    beacons = []
    for delay_us in (0, 1000):
        found = played(bench, beacon_tu=100, traffic="udp,start_s=2", host_delay_us=delay_us)
        early = found.tx[found.tx["start_ns"] < found.start_ns + 1_900_000_000]
        assert {*early["kind"].tolist()} == {Kind.MANAGEMENT}
        beacons.append((early["start_ns"] - found.start_ns).tolist())
    assert beacons[0] == beacons[1] and len(beacons[0]) > 40
