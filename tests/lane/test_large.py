# SPDX-License-Identifier: BSD-3-Clause
"""Networks beyond what a kernel allows without being asked: hops, open files, memory."""

from __future__ import annotations


def test_a_packet_goes_over_more_hops_than_the_kernel_s_own_ttl(bench) -> None:  # type: ignore[no-untyped-def]
    bench.plan(stations=66, bytes=14_600, seconds=20)
    bench.run("plan")
    (flow,) = bench.result()["applications"]
    assert flow["outcome"] == "finished"
    assert flow["delivered_bytes"] == 14_600


def test_a_lane_may_have_more_than_a_thousand_files_open(bench) -> None:  # type: ignore[no-untyped-def]
    bench.plan(stations=230, flows=0, seconds=1)
    bench.run("plan")
    assert bench.result()["ok"]
    assert len(bench.result()["air"]["stations"]) == 230
