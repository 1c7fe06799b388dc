# SPDX-License-Identifier: BSD-3-Clause
"""A network, as data: nodes, the links that join them, the applications that run on them, and who moves how.

A topology makes one, a script builds one, a specification holds one. Nothing here knows what a kind means: a kind names
the file that carries it out (docs/plugins), and `settings` go there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

MAX_NODES = 1000  # the air has room for 1024
FARTHEST = 1e6
WITH_RADIO, BRIDGES = ("station", "ap"), ("ap", "switch")  # kinds of nodes
NAME = r"[\w.-]{1,9}"  # as its interface's, NAME-wlan0, has at most fifteen characters


def _position(value: Any) -> Any:
    """Three numbers, also as they are written in Mininet-WiFi: "10,20,0"."""
    try:
        value = tuple(map(float, value.split(","))) if isinstance(value, str) else value
        fits = len(value) == 3 and all(abs(number) <= FARTHEST for number in value)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(f"a position is three numbers, in metres, none beyond {FARTHEST:g}")
    return value


Position = Annotated[tuple[float, float, float], BeforeValidator(_position)]


class Waypoint(NamedTuple):
    """Where a node is at a time (s since the start of what is measured); straight on, evenly, to the next."""

    at_s: float
    position: Position


class Span(NamedTuple):
    """From when until when, in seconds since the start of what is measured."""

    from_s: float
    until_s: float


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(Model):
    """A node: of what kind, where (metres), and what it has otherwise than the others: `rts`, `rate`,
    `tx_power_dbm`, `short_retry`, `long_retry`, `receive_dbm`, `sense_dbm` and `mac` of a radio.

    A `station` has a radio, and passes packets on; an `ap` has one and is a bridge, as a `switch` is; a `host` is at
    the end of wires.
    """

    kind: Literal["station", "ap", "host", "switch"] = "station"
    position: Position = (0.0, 0.0, 0.0)
    settings: dict[str, JsonValue] = {}


class Link(Model):
    """What joins some nodes: of what kind, and what it has otherwise than the others of that kind: `ssid`, `delay`."""

    nodes: tuple[str, ...]
    kind: str = "adhoc"
    settings: dict[str, JsonValue] = {}


class Application(Model):
    """What runs between two nodes. Without a kind, and where `settings` say nothing, it is as the specification has it.

    `settings`: those of flows (`tcp`, `bytes`, `start_s`, `stop_s` …) and of its kind (docs/traffic.md).
    """

    source: str
    destination: str
    kind: str | None = None
    settings: dict[str, JsonValue] = {}


class Network(Model):
    """Nodes by name, in order; links, applications, and waypoints by node. Stations and access points on no link of
    radios share one.

    `presence`: when a node is there, of those that come and go (vehicles) or are switched off and on; the others are
    always there, and one with no span never.

    Raises ValueError, as pydantic does, for a network that makes no sense.
    """

    nodes: dict[Annotated[str, Field(pattern=f"^{NAME}$")], Node]
    links: tuple[Link, ...] = ()
    applications: tuple[Application, ...] = ()
    motion: dict[str, tuple[Waypoint, ...]] = {}
    presence: dict[str, tuple[Span, ...]] = {}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not 1 <= len(self.nodes) <= MAX_NODES:
            raise ValueError(f"a network has 1 to {MAX_NODES} nodes, not {len(self.nodes)}")
        for link in self.links:
            self._know(f"link {link.kind}", *link.nodes)
        for application in self.applications:
            ends = application.source, application.destination
            self._know(f"flow {' -> '.join(ends)}", *ends)
            if ends[0] == ends[1]:
                raise ValueError(f"flow {' -> '.join(ends)}: its ends are the same node")
        for node, waypoints in self.motion.items():
            self._know("motion", node)
            times = [waypoint.at_s for waypoint in waypoints]
            if not _rising(times):
                raise ValueError(f"motion of {node}: the times of waypoints rise, from 0 s on")
        for node, spans in self.presence.items():
            self._know("presence", node)
            if not _rising([time for span in spans for time in span]):
                raise ValueError(f"presence of {node}: it comes and leaves in turns, at times that rise, from 0 s on")
        return self

    def on_air(self) -> Self:
        """The part of it that has radios, without what is on it or between it."""
        nodes = {name: node for name, node in self.nodes.items() if node.kind in WITH_RADIO}
        if len(nodes) == len(self.nodes):
            return self
        motion = {name: way for name, way in self.motion.items() if name in nodes}
        return self.model_copy(update={"nodes": nodes, "motion": motion, "links": (), "applications": ()})

    def _know(self, what: str, *names: str) -> None:
        if unknown := next((name for name in names if name not in self.nodes), None):
            raise ValueError(f"{what}: there is no node {unknown}")


def _rising(times: list[float]) -> bool:
    return times == sorted(set(times)) and all(0 <= time < math.inf for time in times)


class Motion(NamedTuple):
    """What a mobility model finds: waypoints by node, and when those are there that are not always."""

    waypoints: Mapping[str, Sequence[Waypoint]]
    presence: Mapping[str, Sequence[Span]] = MappingProxyType({})
