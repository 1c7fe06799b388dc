# SPDX-License-Identifier: BSD-3-Clause
"""A film of a run: where stations are when, who can exchange frames, which way each flow's packets go, what is on the
air, and what routing tells; as one object, of which `page` makes a file that a browser plays and `still` a picture.

Everything is from the run's folder: motion from plan.json and lane.json, frames from air.pcapng.gz (`taps.aired`),
paths from these (`routes.paths`), routes from manet.trace. Times are seconds since the start of what was measured.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import dist
from typing import Any

import numpy as np

from analysis.routes import routes
from analysis.routes.paths import Legs, Paths, addresses, paths
from analysis.routes.routes import Event
from analysis.taps.aired import Aired
from analysis.taps.phy import radios
from analysis.traces.trace import Array, Kind

Stop = tuple[float, float, float, float]  # when, and where: s, m
Position = tuple[float, float, float]
HOLD_S = 1.0  # for so long after its last packet a path is shown
MOST_FRAMES = 2_500_000  # of more, those of the MAC are left out, and if that is not enough, all
BIN_S = 0.1  # what arrived is counted in parts of so long
NOBODY = 255  # for a station; there are at most 250
TOLD = (Event.FOUND, Event.CHANGED, Event.LOST_ROUTE, Event.SEARCH, Event.SEARCH_FAILED)  # of a flow's own route


@dataclass(frozen=True)
class Run:
    """Packets of a flow that came one after the other over the same stations: when the first and the last arrived."""

    first_s: float
    last_s: float
    stations: tuple[int, ...]


@dataclass(frozen=True)
class Flow:
    """A flow: its ends, by their numbers; the paths of its packets; how many arrived in each BIN_S."""

    name: str
    source: int
    destination: int
    runs: Sequence[Run]
    arrived: Array

    def path(self, at_s: float) -> tuple[int, ...]:
        """The stations that its packets go over, as the last did that arrived; empty if that is longer ago."""
        row = bisect_right(self.runs, at_s, key=lambda run: run.first_s) - 1
        shown = row >= 0 and at_s <= self.runs[row].last_s + HOLD_S
        return self.runs[row].stations if shown else ()


@dataclass(frozen=True)
class Frames:
    """Transmissions in order: columns. `station`, `receiver` and `culprit` may be NOBODY; times in us."""

    start_us: Array
    took_us: Array
    kind: Array
    outcome: Array
    station: Array
    receiver: Array
    culprit: Array


@dataclass(frozen=True)
class Told:
    """What routing told: columns. Which Event, at which station, about which other, and how many hops."""

    time_us: Array
    event: Array
    station: Array
    other: Array
    hops: Array


@dataclass(frozen=True)
class Film:
    """All of it. `ways` has each station's stops, between which it goes straight on. Two stations can exchange frames
    if each is within the other's `reach_m`; where distance alone does not say it (None), as `toggles` has it: when it
    changed between which two, from all being apart. `presence`: from when to when those are there that come and go."""

    title: str
    seconds: float
    stations: Sequence[str]
    ways: Sequence[Sequence[Stop]]
    reach_m: Sequence[float] | None
    toggles: Sequence[tuple[float, int, int]]
    presence: Mapping[int, Sequence[tuple[float, float]]]
    flows: Sequence[Flow]
    frames: Frames
    told: Told

    def positions(self, at_s: float) -> list[Position]:
        """Where each station is, in metres."""
        return [where(way, at_s) for way in self.ways]

    def there(self, station: int, at_s: float) -> bool:
        """Whether it is there."""
        spans = self.presence.get(station)
        return spans is None or any(begin <= at_s < end for begin, end in spans)

    def links(self, at_s: float) -> list[tuple[int, int]]:
        """Who can exchange frames, each pair once."""
        there = [self.there(station, at_s) for station in range(len(self.stations))]
        return [(a, b) for a, b in self._within_reach(at_s) if there[a] and there[b]]

    def _within_reach(self, at_s: float) -> list[tuple[int, int]]:
        if self.reach_m is None:
            linked: set[tuple[int, int]] = set()
            for _, a, b in self.toggles[: bisect_right(self.toggles, at_s, key=lambda toggle: toggle[0])]:
                linked ^= {(a, b)}
            return sorted(linked)
        at, reach = self.positions(at_s), self.reach_m
        pairs = ((a, b) for b in range(len(at)) for a in range(b))
        return sorted((a, b) for a, b in pairs if dist(at[a], at[b]) <= min(reach[a], reach[b]))


def where(way: Sequence[Stop], at_s: float) -> Position:
    """Where a station is on its way: before the first stop and after the last, there."""
    after = bisect_right(way, at_s, key=lambda stop: stop[0])
    before_s, *here = way[max(after - 1, 0)]
    after_s, *there = way[min(after, len(way) - 1)]
    part = min(max((at_s - before_s) / (after_s - before_s), 0.0), 1.0) if after_s > before_s else 0.0
    x, y, z = (a + (b - a) * part for a, b in zip(here, there, strict=True))
    return x, y, z


def make(
    title: str, plan: Mapping[str, Any], lane: Mapping[str, Any], air: Aired, told: Array | None = None,
    reach_m: Sequence[float] | None = None,
) -> Film:  # fmt: skip
    """The film of a run: of its plan and lane.json, what was on the air, what routing told (records of
    `analysis.routes.routes`, None: nothing), and how far each station reaches, where distance alone says it."""
    names = [radio["name"] for radio in radios(plan)]
    took = paths(Legs.of_air(air, lane["stopped_ns"]), plan)
    return Film(
        title=title,
        seconds=lane["air_s"],
        stations=names,
        ways=ways(plan, lane),
        reach_m=reach_m,
        toggles=[] if reach_m is not None else list(toggles(plan)),
        presence={
            names.index(name): [(begin, lane["air_s"] + HOLD_S if end is None else end) for begin, end in spans]
            for name, spans in plan.get("presence", {}).items()
            if name in names
        },
        flows=[
            flow(names, planned, took[planned["name"]], lane)
            for planned in plan["applications"]
            if {planned["source"], planned["destination"]} <= {*names}
        ],
        frames=frames(air, lane["started_ns"]),
        told=events(told, plan, lane),
    )


def ways(plan: Mapping[str, Any], lane: Mapping[str, Any]) -> list[list[Stop]]:
    """Each station's stops: those of the plan's motion; from where a script moved it on, these."""
    planned = (plan.get("motion") or {}).get("waypoints", {})
    found = {}
    on_air = {radio["name"] for radio in radios(plan)}
    for node in (node for node in plan["nodes"] if node["name"] in on_air):
        stops = planned.get(node["name"]) or [(0, *(metres * 1000 for metres in node["position"]))]
        found[node["name"]] = [(at / 1e6, x / 1e3, y / 1e3, z / 1e3) for at, x, y, z in stops]
    for move in lane.get("moves", ()):
        way, at_s, here, to = found[move["node"]], move["at_s"], move["from"], move["to"]
        way = [stop for stop in way if stop[0] < at_s]
        last_s = at_s + (dist(here, to) / move["speed"] if move["speed"] else 0.0)
        found[move["node"]] = [*way, (at_s, *here), (last_s, *to)]
    return [found[radio["name"]] for radio in radios(plan)]


def toggles(plan: Mapping[str, Any]) -> list[tuple[float, int, int]]:
    """When who could exchange frames changed, as the plan's powers have it, which may change in steps."""
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


def flow(names: Sequence[str], planned: Mapping[str, Any], took: Paths, lane: Mapping[str, Any]) -> Flow:
    """A flow, of the paths that its packets took."""
    time_s = (took.time_ns - lane["started_ns"]) / 1e9
    new = np.diff(time_s, prepend=-np.inf) > HOLD_S
    new[took.changes()] = True
    first = np.flatnonzero(new)
    last = np.append(first[1:] - 1, time_s.size - 1)[: first.size]
    stations = [tuple(station for station in row if station >= 0) for row in took.stations[first].tolist()]
    runs = [Run(*of) for of in zip(time_s[first].tolist(), time_s[last].tolist(), stations, strict=True)]
    bins = int(np.ceil(lane["air_s"] / BIN_S)) or 1
    arrived = np.bincount((time_s / BIN_S).astype(np.int64).clip(0, bins - 1), minlength=bins)
    source, destination = (names.index(planned[end]) for end in ("source", "destination"))
    return Flow(planned["name"], source, destination, runs, arrived)


def frames(air: Aired, started_ns: int) -> Frames:
    """The transmissions, as far as there is room for them."""
    which = np.ones(air.kind.size, bool)
    for left_out in ((Kind.CTS, Kind.ACK), (Kind.RTS,), tuple(Kind)):
        if which.sum() > MOST_FRAMES:
            which &= ~np.isin(air.kind, left_out)
    start = (air.start_ns[which] - started_ns) // 1000
    took = -((started_ns - air.end_ns[which]) // 1000) - start
    stations = (
        np.where(column[which] < 0, NOBODY, column[which]) for column in (air.station, air.receiver, air.culprit)
    )
    return Frames(start, took, air.kind[which], air.outcome[which], *stations)


def events(records: Array | None, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> Told:
    """Links that were lost, repairs, and what the sources of flows told of their routes."""
    records = np.zeros(0, routes.RECORD) if records is None else records
    ip = addresses(plan)
    number = {address: at for at, address in enumerate(ip.values())}
    pairs = [
        (records["node"] == ip[planned["source"]]) & (records["to"] == ip[planned["destination"]])
        for planned in plan["applications"]
        if {planned["source"], planned["destination"]} <= ip.keys()
    ]
    own = np.any([np.zeros(records.size, bool), *pairs], axis=0) & np.isin(records["event"], TOLD)
    shown = records[(own | np.isin(records["event"], (Event.LINK_LOST, Event.REPAIRED)))]
    shown = shown[(shown["time_ns"] >= lane["started_ns"]) & (shown["time_ns"] <= lane["stopped_ns"])]
    at, of = (np.array([number.get(ip_, NOBODY) for ip_ in shown[end].tolist()], np.int64) for end in ("node", "to"))
    return Told((shown["time_ns"] - lane["started_ns"]) // 1000, shown["event"], at, of, shown["hops"])
