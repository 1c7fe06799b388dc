# SPDX-License-Identifier: BSD-3-Clause
"""A run's routes and paths of packets: trace, counters and deliveries agree."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.routes import routes
from analysis.routes.paths import Legs, paths
from analysis.taps.phy import radios
from analysis.traces import trace


@pytest.mark.parametrize(("routing", "hops"), [("manet_static", [routes.UNKNOWN]), ("olsr", [routes.NO_ROUTE, 2])])
def test_routes_of_a_run(bench: Any, routing: str, hops: list[int]) -> None:
    """Static routes exist before, and cause no events; OLSR finds a route of two hops, and all packets take it."""
    made = bench.plan("string", stations=3, seconds=12, routing=routing)
    assert bench.run("plan").status == 0
    lane = bench.result()
    took = paths(Legs.of_trace(trace.read(bench.folder / "air.trace"), radios(made)), made)
    records = routes.read(bench.folder / "manet.trace", lane)
    way = routes.routes(records, made, lane, took)["flow1"]
    summary, of_all = way.summary(took["flow1"], None), routes.summary(records, made, lane)
    delivered = lane["applications"][0]["delivered_bytes"] // 1460
    assert way.hops.tolist() == hops and (summary.without_s > 0) == (routes.NO_ROUTE in hops)
    assert summary.packets_by_hops is not None and summary.packets_by_hops.keys() == {2}
    assert 0 < delivered <= summary.packets_by_hops[2]
    sent = [node["sent"] for node in lane["recorders"]["manet_trace"]["nodes"].values()]
    for kind in ("hello", "tc"):  # counted since the interface was made, the trace since the measurement began
        assert of_all.control_frames.get(kind, 0) <= sum(of.get(kind, 0) for of in sent)
    assert (of_all.airtime_s > 0) == bool(of_all.control_frames) == (routing == "olsr")
