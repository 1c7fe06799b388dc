# SPDX-License-Identifier: BSD-3-Clause
"""A flow's part of `result.json` (docs/file-formats.md): what it achieved, its outcome, and the reason."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from analysis.results.summaries import Datagrams, Outcome, RouteSummary, TcpSummary, Transactions
from analysis.results.timing import Model, Whole

OF_FLOWS = {  # what lane.json says of each flow
    *("name", "congestion", "delivered_bytes", "acked_bytes", "retransmits", "tcp_info", "finished_s", "error"),
    *("last_s", "waiting_s", "outcome", "why", "datagrams", "transactions"),
}


class FlowResult(Model):
    """One flow."""

    name: str
    kind: str = "bulk"
    """of application: `bulk`, `voice`, `web` …"""
    source: str
    destination: str
    congestion: str
    """of its TCP"""
    outcome: Outcome = Outcome.RAN
    """`ran`, `finished`, `not due`, `never started`, `fell silent`, `died`"""
    why: str | None = None
    """of the last three: the reason"""
    delivered_bytes: Whole
    """payload delivered to the application"""
    goodput_segments: Whole
    """the same in whole segments of the flow's MSS"""
    goodput_kbps: float
    """over the time in which it ran"""
    share: float | None
    """of what all flows delivered; null: nothing was"""
    retransmits: Whole
    """of TCP"""
    finished_s: float | None
    """when all data had arrived, since its start; null for an unlimited flow"""
    last_s: float | None = None
    """when the last data arrived, since its start; null: unknown"""
    hops: Whole | None = None
    """of its planned route; null without one"""
    datagrams: Datagrams | None = None
    """null without datagrams"""
    transactions: Transactions | None = None
    """null without transactions"""
    tcp: TcpSummary | None = None
    """null without a trace of TCP, if nothing was sent, and with a connection for each transaction"""
    route: RouteSummary | None = None
    """null without a routing protocol"""


def of_flow(
    plan: Mapping[str, Any], planned: Mapping[str, Any], report: Mapping[str, Any], air_s: float,
    delivered_by_all: int,
) -> FlowResult:  # fmt: skip
    """Return a flow's result, from its entry in the plan and its report in lane.json. Its rate is over the time it
    ran."""
    return FlowResult(
        name=report["name"],
        kind=planned.get("kind", "bulk"),
        source=planned["source"],
        destination=planned["destination"],
        congestion="" if report.get("datagrams") else planned["congestion"],
        outcome=Outcome(report.get("outcome", Outcome.RAN)),
        why=report.get("why"),
        delivered_bytes=report["delivered_bytes"],
        goodput_segments=report["delivered_bytes"] // planned["mss"],
        goodput_kbps=kbps(report["delivered_bytes"], [ran(planned, report, air_s)]),
        share=report["delivered_bytes"] / delivered_by_all if delivered_by_all else None,
        retransmits=report["retransmits"],
        finished_s=report["finished_s"],
        last_s=report.get("last_s"),
        datagrams=report.get("datagrams"),
        transactions=report.get("transactions"),
        hops=_hops(plan, planned["source"], planned["destination"]),
    )


def ran(planned: Mapping[str, Any], report: Mapping[str, Any], air_s: float) -> tuple[float, float]:
    """Return when a flow began and ended: it ends when it finishes or is stopped, or with the run."""
    start_s: float = planned["start_s"]
    if report["finished_s"] is not None:
        return start_s, start_s + report["finished_s"]
    return start_s, min(planned.get("stop_s") or air_s, air_s)


def kbps(delivered_bytes: int, spans: Iterable[tuple[float, float]]) -> float:
    """Return the rate of flows that ran in these spans, over the time in which at least one ran; 0 if that is zero."""
    over_s, until_s = 0.0, -math.inf
    for start_s, stop_s in sorted(spans):
        over_s += max(stop_s - max(start_s, until_s), 0.0)
        until_s = max(until_s, stop_s)
    return delivered_bytes * 8 / 1000 / over_s if over_s else 0.0


def _hops(plan: Mapping[str, Any], source: str, destination: str) -> int | None:
    """Return the hops of the planned static route: its metric, or 1 to a neighbour without a route."""
    nodes = {node["name"]: node for node in plan.get("nodes", [])}
    if not {source, destination} <= nodes.keys():
        return None
    ips = [interface["ip"].partition("/")[0] for interface in nodes[destination]["interfaces"] if interface["ip"]]
    routes = {route["to"]: route["metric"] for route in nodes[source]["routing"].get("routes", [])}
    neighbours = {ip for interface in nodes[source]["interfaces"] for ip in interface.get("neighbours", ())}
    return next((routes.get(ip, 1) for ip in ips if ip in routes or ip in neighbours), None)
