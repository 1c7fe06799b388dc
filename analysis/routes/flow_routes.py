# SPDX-License-Identifier: BSD-3-Clause
"""Routes over time of protocols that report nothing (batman-adv, 802.11s, Babel), and the cost of routing. A recorder
writes to `routes.jsonl` the path by which the kernels would send each flow's packets. The cost is from the air's trace.

The length of a route is known if its path reaches the destination. If the path ends earlier or loops, the source has a
route of unknown length (UNKNOWN), and sends in vain. A break lasts from when no path reaches the destination until one
does again.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from analysis.results.summaries import RoutingSummary
from analysis.routes.control import Control
from analysis.routes.paths import addresses
from analysis.routes.routes import NO_ROUTE, RECORD, UNKNOWN, Event, Routes, flow_times
from analysis.traces.trace import NEVER, Array
from emulation.files.foreign import LONGEST_NS, parsed, reading

RECORDER = "flow_routes"


def read(path: Path) -> dict[str, list[tuple[int, list[str]]]]:
    """Return for each recorded flow its paths and their times (ns of the lane). Raises Damaged if malformed, OSError if
    unreadable."""
    found: dict[str, list[tuple[int, list[str]]]] = {}
    with reading(path):
        lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        with reading(Path(f"{path}, line {number}")):
            match parsed(line):
                case [int() as at, str() as flow, [*stations]] if 0 <= at <= LONGEST_NS and {*map(type, stations)} <= {
                    str
                }:
                    found.setdefault(flow, []).append((at, stations))
                case _:
                    raise ValueError("neither a flow nor a time")
    return found


def routes(
    reported: Mapping[str, list[tuple[int, list[str]]]], plan: Mapping[str, Any], lane: Mapping[str, Any]
) -> dict[str, Routes]:
    times = flow_times(plan, lane)
    ends = {flow["name"]: flow["destination"] for flow in plan["applications"]}
    return {name: follow(reported[name], ends[name], *times[name]) for name in reported if name in times}


def events(reported: Mapping[str, list[tuple[int, list[str]]]], plan: Mapping[str, Any]) -> Array:
    """Convert them to records of `routes.routes`, by time, as if a routing protocol had written them. Hops are 0 if the
    path does not reach the destination."""
    ip, found = addresses(plan), []
    for flow in (flow for flow in plan["applications"] if flow["name"] in reported):
        ends, had = (ip.get(flow["source"], 0), ip.get(flow["destination"], 0)), False
        for at_ns, path in reported[flow["name"]]:
            event = (Event.CHANGED if had else Event.FOUND) if len(path) > 1 else Event.LOST_ROUTE
            if had or event is Event.FOUND:
                hops = len(path) - 1 if len(path) > 1 and path[-1] == flow["destination"] else 0
                found.append((at_ns, event, *ends, hops))
            had = len(path) > 1
    records = np.zeros(len(found), RECORD)
    records["size"] = RECORD.itemsize
    for column, values in zip(("time_ns", "event", "node", "to", "hops"), zip(*found, strict=True), strict=False):
        records[column] = values
    return records[np.argsort(records["time_ns"], kind="stable")]


def follow(reported: list[tuple[int, list[str]]], to: str, zero_ns: int, start_ns: int, stop_ns: int) -> Routes:
    """Return a flow's routes from its start to its stop; `zero_ns` is the run's start."""
    before = [path for at_ns, path in reported if at_ns <= start_ns]
    within = [(at_ns, path) for at_ns, path in reported if start_ns < at_ns < stop_ns]
    paths = [before[-1] if before else [], *(path for _, path in within)]
    edges = np.array([start_ns, *(at_ns for at_ns, _ in within), stop_ns]) - zero_ns
    hops = [NO_ROUTE if len(path) < 2 else len(path) - 1 if path[-1] == to else UNKNOWN for path in paths]
    had = [(a != NO_ROUTE, b != NO_ROUTE) for a, b in pairwise(hops)]
    breaks: list[list[int]] = []
    for at_ns, (was, now) in zip(edges[1:].tolist(), pairwise(hops), strict=False):
        if was > 0 >= now:
            breaks.append([at_ns, NEVER])
        elif now > 0 >= was and breaks:
            breaks[-1][1] = at_ns
    counts = [had.count((False, True)), had.count((True, True)), had.count((True, False))]
    return Routes(edges, np.array(hops), np.array(breaks, np.int64).reshape(-1, 2), *counts)


def summary(control: Control | None, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> RoutingSummary:
    """Summarise the cost of routing in a run. Without the air's trace, only the air's counters are known: they include
    retransmissions and do not distinguish kinds."""
    counters = [station["counters"] for station in lane["air"]["stations"]]
    frames = {kind: int(times.size) for kind, times in control.time_ns.items()} if control else {
        "frames": sum(each["tx"].get("routing", 0) for each in counters)
    }  # fmt: skip
    return RoutingSummary(
        protocol=plan["routing"]["kind"],
        control_frames=frames,
        control_bytes=control.octets if control else None,
        airtime_s=sum(each["airtime_ns"].get("routing", 0) for each in counters) / 1e9,
        dropped=None,
        dropped_control=None,
        events=None,
    )
