# SPDX-License-Identifier: BSD-3-Clause
"""A film of a run: positions, links, the paths of flows' packets, frames on the air, and routing events. It is one
object; `page` makes a file that a browser plays, `still` a picture.

Everything comes from the run's folder: motion from plan.json and lane.json, frames from air.pcapng.gz (`taps.aired`),
paths from these (`routes.paths`), routes from manet.trace. Times are seconds since measuring began.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import dist
from typing import Any

import numpy as np

from analysis.routes import routes
from analysis.routes.paths import Legs, Paths, addresses, of_stations, paths
from analysis.routes.routes import Event
from analysis.taps.aired import Aired
from analysis.taps.phy import radios
from analysis.traces.columns import begins, one_of
from analysis.traces.trace import Array, Kind, Outcome
from topologies.motion import position_at
from topologies.network import Position, Waypoint

HOLD_S = 1.0  # how long a path is shown after its last packet
MOST_FRAMES = 2_500_000  # with more, first frames of the MAC are left out, then all
BIN_S = 0.1  # interval in which arrivals are counted
NO_STATION = 255  # in place of a station; there are at most 250
# Events of a flow's own route.
ROUTE_EVENTS = (Event.FOUND, Event.CHANGED, Event.LOST_ROUTE, Event.SEARCH, Event.SEARCH_FAILED)


@dataclass(frozen=True)
class Run:
    """Consecutive packets of a flow over the same stations: the first and the last arrival."""

    first_s: float
    last_s: float
    stations: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """A flow: the numbers of its ends, the paths of its packets, and the arrivals in each BIN_S."""

    name: str
    source: int
    destination: int
    runs: Sequence[Run]
    arrived: Array

    def path(self, at_s: float) -> tuple[int, ...]:
        """Return the stations on its packets' path, from the last arrival; empty if that is more than HOLD_S ago."""
        row = bisect_right(self.runs, at_s, key=lambda run: run.first_s) - 1
        shown = row >= 0 and at_s <= self.runs[row].last_s + HOLD_S
        return self.runs[row].stations if shown else ()


@dataclass(frozen=True)
class Frames:
    """Transmissions in order, as columns. `station`, `receiver` and `culprit` may be NO_STATION. Times are in us. A
    PPDU of several MPDUs is one, of which some were lost; outcome and culprit are those of the first of these."""

    start_us: Array
    duration_us: Array
    kind: Array
    outcome: Array
    station: Array
    receiver: Array
    culprit: Array
    mpdus: Array
    lost: Array


@dataclass(frozen=True)
class RoutingEvents:
    """Routing events, as columns: the Event, the station, the other station that it is about, and hops."""

    time_us: Array
    event: Array
    station: Array
    other: Array
    hops: Array


@dataclass(frozen=True)
class Film:
    """The whole film. `trajectories` has each station's waypoints, with straight lines between them. Two stations can
    exchange frames if each is within the other's `reach_m`. If distance alone does not decide it, `reach_m` is None and
    `toggles` has the times at which a pair changed, beginning with no links. `presence`: when stations that come and go
    are present."""

    title: str
    seconds: float
    stations: Sequence[str]
    trajectories: Sequence[Sequence[Waypoint]]
    reach_m: Sequence[float] | None
    toggles: Sequence[tuple[float, int, int]]
    presence: Mapping[int, Sequence[tuple[float, float]]]
    flows: Sequence[Flow]
    frames: Frames
    routing_events: RoutingEvents

    def positions(self, at_s: float) -> list[Position]:
        """Return each station's position, in metres."""
        return [position_at(trajectory, at_s) for trajectory in self.trajectories]

    def is_present(self, station: int, at_s: float) -> bool:
        spans = self.presence.get(station)
        return spans is None or any(begin <= at_s < end for begin, end in spans)

    def links(self, at_s: float) -> list[tuple[int, int]]:
        """Return the pairs that can exchange frames, once each."""
        present = [self.is_present(station, at_s) for station in range(len(self.stations))]
        return [(a, b) for a, b in self._within_reach(at_s) if present[a] and present[b]]

    def _within_reach(self, at_s: float) -> list[tuple[int, int]]:
        if self.reach_m is None:
            linked: set[tuple[int, int]] = set()
            for _, a, b in self.toggles[: bisect_right(self.toggles, at_s, key=lambda toggle: toggle[0])]:
                linked ^= {(a, b)}
            return sorted(linked)
        at, reach = self.positions(at_s), self.reach_m
        pairs = ((a, b) for b in range(len(at)) for a in range(b))
        return sorted((a, b) for a, b in pairs if dist(at[a], at[b]) <= min(reach[a], reach[b]))


def make(
    title: str, plan: Mapping[str, Any], lane: Mapping[str, Any], air: Aired, records: Array | None = None,
    reach_m: Sequence[float] | None = None,
) -> Film:  # fmt: skip
    """Return the film of a run. `records` has those of routing (`analysis.routes.routes`; None: none). `reach_m` is
    each station's range, if distance alone decides it."""
    names = [radio["name"] for radio in radios(plan)]
    paths_taken = paths(Legs.of_air(air, lane["stopped_ns"]), plan)
    return Film(
        title=title,
        seconds=lane["air_s"],
        stations=names,
        trajectories=trajectories(plan, lane),
        reach_m=reach_m,
        toggles=[] if reach_m is not None else list(toggles(plan)),
        presence={
            names.index(name): [(begin, lane["air_s"] + HOLD_S if end is None else end) for begin, end in spans]
            for name, spans in plan.get("presence", {}).items()
            if name in names
        },
        flows=[
            flow(names, planned, paths_taken[planned["name"]], lane)
            for planned in plan["applications"]
            if {planned["source"], planned["destination"]} <= {*names}
        ],
        frames=frames(air, lane["started_ns"]),
        routing_events=events(records, plan, lane),
    )


def trajectories(plan: Mapping[str, Any], lane: Mapping[str, Any]) -> list[list[Waypoint]]:
    """Return each station's stops: the plan's, replaced from where a script moved it."""
    planned = (plan.get("motion") or {}).get("waypoints", {})
    found = {}
    on_air = {radio["name"] for radio in radios(plan)}
    for node in (node for node in plan["nodes"] if node["name"] in on_air):
        waypoints = planned.get(node["name"]) or [(0, *(metres * 1000 for metres in node["position"]))]
        found[node["name"]] = [Waypoint(at / 1e6, (x / 1e3, y / 1e3, z / 1e3)) for at, x, y, z in waypoints]
    for move in lane.get("moves", ()):
        trajectory, at_s, here, to = found[move["node"]], move["at_s"], move["from"], move["to"]
        trajectory = [waypoint for waypoint in trajectory if waypoint.at_s < at_s]
        last_s = at_s + (dist(here, to) / move["speed"] if move["speed"] else 0.0)
        found[move["node"]] = [*trajectory, Waypoint(at_s, tuple(here)), Waypoint(last_s, tuple(to))]
    return [found[radio["name"]] for radio in radios(plan)]


def toggles(plan: Mapping[str, Any]) -> list[tuple[float, int, int]]:
    """Return when pairs gained or lost their link, from the plan's powers, which may change in steps."""
    least = plan["air"]["rx_threshold_mdbm"]

    def receives(row: Sequence[int | None]) -> list[bool]:
        return [power is not None and power >= least for power in row]

    heard = np.array([receives(row) for row in plan["air"]["power_mdbm"]])
    before, found = np.zeros_like(heard), []
    steps = [{"at_s": 0.0, "power_mdbm": {}}, *(plan.get("motion") or {}).get("steps", [])]
    for step in steps:
        for number, row in step["power_mdbm"].items():
            heard[int(number)] = receives(row)
        both = np.triu(heard & heard.T, 1)
        found += [(step["at_s"], int(a), int(b)) for a, b in np.argwhere(both != before)]
        before = both
    return found


def flow(names: Sequence[str], planned: Mapping[str, Any], paths_taken: Paths, lane: Mapping[str, Any]) -> Flow:
    time_s = (paths_taken.time_ns - lane["started_ns"]) / 1e9
    new = np.diff(time_s, prepend=-np.inf) > HOLD_S
    new[paths_taken.changes()] = True
    first = np.flatnonzero(new)
    last = np.append(first[1:] - 1, time_s.size - 1)[: first.size]
    stations = [tuple(station for station in row if station >= 0) for row in paths_taken.stations[first].tolist()]
    runs = [Run(*of) for of in zip(time_s[first].tolist(), time_s[last].tolist(), stations, strict=True)]
    bins = int(np.ceil(lane["air_s"] / BIN_S)) or 1
    arrived = np.bincount((time_s / BIN_S).astype(np.int64).clip(0, bins - 1), minlength=bins)
    source, destination = (names.index(planned[end]) for end in ("source", "destination"))
    return Flow(planned["name"], source, destination, runs, arrived)


def frames(air: Aired, started_ns: int) -> Frames:
    """Return the transmissions, reduced to MOST_FRAMES."""
    first, bad = np.flatnonzero(begins(air.ppdu)), air.outcome != Outcome.OK
    shown = np.lexsort((~bad, np.cumsum(begins(air.ppdu))))[first]  # the first lost, or the first
    mpdus, upto = np.diff(first, append=bad.size), np.append(0, np.cumsum(bad))
    lost = upto[first + mpdus] - upto[first]
    for left_out in ((Kind.CTS, Kind.ACK), (Kind.RTS,), tuple(Kind)):
        if shown.size > MOST_FRAMES:
            which = ~one_of(air.kind[shown], left_out)
            shown, mpdus, lost = shown[which], mpdus[which], lost[which]
    start = (air.start_ns[shown] - started_ns) // 1000
    duration = -((started_ns - air.end_ns[shown]) // 1000) - start
    station, receiver, culprit = (
        np.where(column[shown] < 0, NO_STATION, column[shown]) for column in (air.station, air.receiver, air.culprit)
    )
    return Frames(start, duration, air.kind[shown], air.outcome[shown], station, receiver, culprit, mpdus, lost)


def events(records: Array | None, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> RoutingEvents:
    """Return lost links, repairs, and what the sources of flows recorded about their routes."""
    records = np.zeros(0, routes.RECORD) if records is None else records
    ip = addresses(plan)
    number = {address: at for at, address in reversed([*enumerate(of_stations(plan))])}
    pairs = [
        (records["node"] == ip[planned["source"]]) & (records["to"] == ip[planned["destination"]])
        for planned in plan["applications"]
        if {planned["source"], planned["destination"]} <= ip.keys()
    ]
    own = np.any([np.zeros(records.size, bool), *pairs], axis=0) & np.isin(records["event"], ROUTE_EVENTS)
    shown = records[(own | np.isin(records["event"], (Event.LINK_LOST, Event.REPAIRED)))]
    shown = shown[(shown["time_ns"] >= lane["started_ns"]) & (shown["time_ns"] <= lane["stopped_ns"])]
    at, of = (
        np.array([number.get(ip_, NO_STATION) for ip_ in shown[end].tolist()], np.int64) for end in ("node", "to")
    )
    return RoutingEvents((shown["time_ns"] - lane["started_ns"]) // 1000, shown["event"], at, of, shown["hops"])
