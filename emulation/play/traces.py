# SPDX-License-Identifier: BSD-3-Clause
"""From the traces that a lane left to those that are kept, and to what is seen in them.

What this imports takes longer to load than to use, so it is loaded when it is used: in a worker, while its lane runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from emulation.lanes import LaneError, Reason

if TYPE_CHECKING:
    from analysis.flight import Flight
    from analysis.growing import Growing
    from analysis.tcp_flows import Flow

RAW, TRACE, VIEWS, TCP_TRACE = "air.trace", "air.pcapng", "stations.pcapng", "tcp.trace"
TCP_TAP = "tcp_tap"


def load() -> None:
    """Load all that reading traces takes, so that workers which are made from now on have it already."""
    from analysis import flight, growing, hops, tcp_flows  # noqa: F401


@dataclass(frozen=True)
class Kept:
    """The SHA-256 of TRACE and VIEWS, and the segments in flight."""

    trace_sha256: str
    views_sha256: str
    flight: Flight


def check_whole(lane: Mapping[str, Any]) -> None:
    """Raises LaneError if something was lost on the way that nothing else would tell of."""
    air = lane.get("air") or {}
    if lost := air.get("lost_records"):
        raise LaneError(Reason.PROGRAM, f"the trace lost {lost} records: its reader fell behind")
    if lost := air.get("lost_messages"):
        raise LaneError(Reason.PROGRAM, f"{lost} frames were lost between air and kernel: for want of memory or room")


class Keeper:
    """Turns the trace of a run into pcapngs, which take its place: as far as it has come whenever there is `progress`,
    and the rest at the end. If that is not reached they are gone again at the end of the block."""

    def __init__(self, where: Path, plan: Mapping[str, Any]) -> None:
        self.where, self.plan = where, plan
        self.growing: Growing | None = None
        self.cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup.close()

    def progress(self) -> None:
        """The trace has grown."""
        if self.plan["air"]["trace"]:
            self._growing().more()

    def finish(self) -> Kept | None:
        """The trace is whole; None if there is none."""
        if not self.plan["air"]["trace"]:
            return None
        from analysis import flight, hops
        from analysis.medium import radios

        trace, (air, views) = self._growing().finish()
        (self.where / RAW).unlink()
        return Kept(air, views, flight.in_flight(hops.of_trace(trace, radios(self.plan))))

    def _growing(self) -> Growing:
        if not self.growing:
            from analysis.growing import Growing
            from analysis.medium import radios

            growing = Growing(self.where / RAW, radios(self.plan), self.where)
            self.growing = self.cleanup.enter_context(growing)
        return self.growing


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
