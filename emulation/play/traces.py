# SPDX-License-Identifier: BSD-3-Clause
"""From the traces that a lane left to those that are kept, and to what they show.

Importing this takes longer than using it, so it is imported on use: in a worker, while its lane runs.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from emulation.files import compressed
from emulation.files.foreign import Damaged
from emulation.lane.errors import Failure
from emulation.lanes import LaneError, Reason

if TYPE_CHECKING:
    from analysis.growing import GrowingTrace
    from analysis.results.result import Aggregates
    from analysis.results.summaries import RouteSummary, RoutingSummary
    from analysis.routes.control import Control
    from analysis.routes.paths import Paths
    from analysis.routes.routes import Routes
    from analysis.tcp.in_flight import Flight
    from analysis.tcp.senders import Flow
    from analysis.traces.trace import Array

RAW, TRACE, VIEWS, TCP_TRACE, ROUTING_TRACE = "air.trace", "air.pcapng.gz", "views.gz", "tcp.trace", "manet.trace"
FLOW_ROUTES_FILE = "routes.jsonl"
LONGEST = 300  # characters of an error about what was read
TCP_TAP, MANET_TRACE, FLOW_ROUTES = "tcp_tap", "manet_trace", "flow_routes"


def load() -> None:
    """Import everything that reads traces, so that workers forked later already have it."""
    from analysis import growing  # noqa: F401
    from analysis.routes import flow_routes, paths, routes  # noqa: F401
    from analysis.tcp import hops, journeys, senders  # noqa: F401


@contextlib.contextmanager
def reading_lane(where: Path) -> Iterator[None]:
    """In this block, read what a lane left in a folder. Programs in the lane may have written anything, so every
    malformed input raises LaneError."""
    try:
        yield
    except (LaneError, Failure, OSError):
        raise
    except Damaged as error:
        raise LaneError(Reason.PROGRAM, f"its results cannot be read: {error}") from error
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"[:LONGEST]
        found = f"its results cannot be read: {said} ({Path(at.filename).name}, line {at.lineno})"
        raise LaneError(Reason.PROGRAM, f"{where}: {found}") from error


@dataclass(frozen=True)
class SeenRouting:
    """What the air's trace shows of a run's routing: the paths of packets by flow, and control packets. Empty and None
    without a trace or a protocol."""

    paths: dict[str, Paths]
    control: Control | None


NOTHING = SeenRouting({}, None)


@dataclass(frozen=True)
class ConvertedTrace:
    """What is kept of a trace: SHA-256 of TRACE and VIEWS (None: omitted), segments in flight (None: some are
    encrypted), what is seen of routing, collisions in one slot, and aggregates (None: legacy rates only)."""

    trace_sha256: str
    views_sha256: str | None
    flight: Flight | None
    seen: SeenRouting
    same_slot: int
    aggregates: Aggregates | None


def check_complete(lane: Mapping[str, Any]) -> None:
    """Raises LaneError if records or frames were lost."""
    air = lane.get("air") or {}
    if lost := air.get("lost_records"):
        raise LaneError(Reason.PROGRAM, f"the trace lost {lost} records: its reader fell behind")
    if lost := air.get("lost_messages"):
        raise LaneError(
            Reason.PROGRAM, f"{lost} frames were lost between air and kernel, because memory or buffers were full"
        )


class TraceConverter:
    """Converts the trace of a run into TRACE and VIEWS, which replace it: what there is at each `progress`, and the
    rest in `finish`. What stations received is omitted if it exceeds `most_views` bytes. Without `finish`, the end of
    the block removes both."""

    def __init__(self, where: Path, plan: Mapping[str, Any], most_views: float) -> None:
        self.where, self.plan, self.most_views = where, plan, most_views
        self.growing: GrowingTrace | None = None
        self.cleanup = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cleanup.close()

    def progress(self) -> None:
        """Convert what was added to the trace."""
        if self.plan["air"]["trace"]:
            self._growing().convert_new()

    def finish(self) -> ConvertedTrace | None:
        """Convert the rest of the complete trace; return None if there is no trace."""
        if not self.plan["air"]["trace"]:
            return None
        from analysis.results.result import Aggregates
        from analysis.routes import paths

        found = self._growing().finish()
        (self.where / RAW).unlink()
        seen = SeenRouting(paths.paths(found.legs, self.plan), found.control) if found.legs else NOTHING
        flight = None if found.hidden else found.flight
        aggregates = Aggregates.of(found.aggregates, found.airtime_s) if found.aggregates[0] else None
        return ConvertedTrace(found.air_sha256, found.views_sha256, flight, seen, found.same_slot, aggregates)

    def _growing(self) -> GrowingTrace:
        if not self.growing:
            from analysis.growing import GrowingTrace
            from analysis.taps.phy import radios

            slot_ns = self.plan["air"]["slot_ns"]
            routed = any({"kind": kind} in self.plan["recorders"] for kind in (MANET_TRACE, FLOW_ROUTES))
            growing = GrowingTrace(
                self.where / RAW, radios(self.plan), self.where, self.most_views, slot_ns=slot_ns, routed=routed
            )
            self.growing = self.cleanup.enter_context(growing)
        return self.growing


def reread_flight(where: Path, plan: Mapping[str, Any]) -> Flight:
    """Return the segments in flight, from the pcapng."""
    from analysis.taps.observe import observe
    from analysis.taps.phy import Medium
    from analysis.tcp.hops import of_observation
    from analysis.tcp.journeys import in_flight
    from analysis.traces.capture import read

    shown = read(where / TRACE)
    return in_flight(of_observation(observe(shown, Medium.of_plan(plan, shown.start_ns))))


def pack(where: Path, lane: Mapping[str, Any]) -> None:
    """Compress the files of recorders."""
    for recorder, name in ((TCP_TAP, TCP_TRACE), (MANET_TRACE, ROUTING_TRACE)):
        if recorder in lane["recorders"]:
            compressed.pack(where / name)


def tcp_flows(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> dict[str, Flow]:
    """Return the TCP flows of a run over time; empty if they were not recorded."""
    from analysis.tcp.senders import flows

    return flows(where / TCP_TRACE, plan, lane) if TCP_TAP in lane["recorders"] else {}


@dataclass(frozen=True)
class Routing:
    """The routing of a run: its summary; each flow's routes, and the paths of its packets, by name (no paths without
    the air's trace); and the times at which control packets were sent (s)."""

    summary: RoutingSummary
    routes: dict[str, Routes]
    paths: Mapping[str, Paths]
    control_s: dict[str, Array]

    def flow_summaries(self, tcp: Mapping[str, Flow]) -> dict[str, RouteSummary]:
        """Return each flow's summary, by name; `tcp` has its sender, if known."""
        return {name: of.summary(self.paths.get(name), tcp.get(name)) for name, of in self.routes.items()}

    def for_figures(self) -> Routing:
        """Return it reduced to what a figure can show."""
        return replace(self, paths={name: of.shown() for name, of in self.paths.items()})


def routing(
    where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any], seen: SeenRouting | None = None
) -> Routing | None:
    """Return the routing of a run; None without a protocol. `seen` is what the air showed (None: read the pcapng)."""
    from analysis.routes import flow_routes, routes

    if not {MANET_TRACE, FLOW_ROUTES} & lane["recorders"].keys():
        return None
    seen = reread_routing(where, plan, lane) if seen is None else seen
    if FLOW_ROUTES in lane["recorders"]:
        of_flows = flow_routes.routes(flow_routes.read(where / FLOW_ROUTES_FILE), plan, lane)
        sent = {} if seen.control is None else seen.control.time_ns
        control_s = {kind: (times - lane["started_ns"]) / 1e9 for kind, times in sent.items()}
        return Routing(flow_routes.summary(seen.control, plan, lane), of_flows, seen.paths, control_s)
    records = routes.read(where / ROUTING_TRACE, lane)
    return Routing(
        routes.summary(records, plan, lane), routes.routes(records, plan, lane, seen.paths), seen.paths,
        routes.control_s(records, lane),
    )  # fmt: skip


def reread_routing(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> SeenRouting:
    """Return what is seen of routing, from the pcapng."""
    from analysis.routes import paths
    from analysis.routes.control import Control
    from analysis.taps import aired

    if not (where / TRACE).is_file():
        return NOTHING
    air = aired.read(where / TRACE, plan)
    return SeenRouting(paths.paths(paths.Legs.of_air(air, lane["stopped_ns"]), plan), Control.of_air(air))
