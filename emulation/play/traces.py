# SPDX-License-Identifier: BSD-3-Clause
"""From the traces that a lane left to those that are kept, and to what is seen in them.

What this imports takes longer to load than to use, so it is loaded when it is used: in a worker, while the next lane
runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulation.lanes import LaneError, Reason

if TYPE_CHECKING:
    from analysis.flight import Flight
    from analysis.tcp_flows import Flow

RAW, TRACE, VIEWS, TCP_TRACE = "air.trace", "air.pcapng", "stations.pcapng", "tcp.trace"
TCP_TAP = "tcp_tap"


def check_whole(lane: Mapping[str, Any]) -> None:
    """Raises LaneError if something was lost on the way that nothing else would tell of."""
    if lost := lane["air"]["lost_records"]:
        raise LaneError(Reason.PROGRAM, f"the trace lost {lost} records: its reader fell behind")
    if lost := lane["air"]["lost_messages"]:
        raise LaneError(Reason.PROGRAM, f"{lost} frames were lost between air and kernel: for want of memory or room")


def keep(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> tuple[str, str, Flight]:
    """Turn the lane's trace into pcapngs, which take its place: the SHA-256 of TRACE and VIEWS, and the segments in
    flight."""
    from analysis import flight, hops, pcapng, trace
    from analysis.medium import radios

    raw, stations = where / RAW, radios(plan)
    records = trace.read(raw)
    sha256 = pcapng.write(records, stations, where)
    raw.unlink()
    return *sha256, flight.in_flight(hops.of_trace(records, stations))


def flight_again(where: Path, plan: Mapping[str, Any]) -> Flight:
    """The segments in flight, from the pcapng."""
    from analysis.capture import read
    from analysis.flight import in_flight
    from analysis.hops import of_observation
    from analysis.medium import Medium
    from analysis.observe import observe

    return in_flight(of_observation(observe(read(where / TRACE), Medium.of_plan(plan))))


def tcp_flows(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> dict[str, Flow]:
    """The course of each TCP flow of a run; empty if it was not recorded."""
    from analysis.tcp_flows import flows

    return flows(where / TCP_TRACE, plan, lane) if TCP_TAP in lane["recorders"] else {}
