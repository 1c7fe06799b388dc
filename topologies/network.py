# SPDX-License-Identifier: BSD-3-Clause
"""A network as data: nodes, the links between them, the applications on them, and motion.

A topology makes one, a script builds one, a specification contains one. This module does not know kinds: a kind names
the file that implements it (docs/plugins), which gets the `settings`."""

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

MAX_NODES = 1000  # the air has room for 1024
FARTHEST = 1e6
WITH_RADIO, BRIDGES = ("station", "ap"), ("ap", "switch")  # kinds of nodes
NAME = r"[\w.-]{1,9}"  # its interface's name, NAME-wlan0, has at most fifteen characters
WIRED = r"[\w.-]{1,10}"  # of a node without a radio: NAME-eth0


def _position(value: Any) -> Any:
    """Convert three numbers, or their form in Mininet-WiFi: "10,20,0"."""
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
    """A node's position at a time (s since measuring began); it moves straight to the next, at constant speed."""

    at_s: float
    position: Position


class Span(NamedTuple):
    """A span of time, in seconds since measuring began."""

    from_s: float
    until_s: float


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(Model):
    """A node: its kind, its position (metres), and its settings that differ from other nodes: `rts`, `rate`,
    `tx_power_dbm`, `short_retry`, `long_retry`, `receive_dbm`, `sense_dbm` and `mac` of a radio.

    A `station` has a radio and forwards packets. An `ap` has a radio and is a bridge, as a `switch` is. A `host` is at
    the end of wires.
    """

    kind: Literal["station", "ap", "host", "switch"] = "station"
    position: Position = (0.0, 0.0, 0.0)
    settings: dict[str, JsonValue] = {}


class Link(Model):
    """A link between nodes: its kind, and settings that differ from others of that kind, such as `ssid` and `delay`."""

    nodes: tuple[str, ...]
    kind: str = "adhoc"
    settings: dict[str, JsonValue] = {}


class Application(Model):
    """An application between two nodes. Its kind and missing `settings` default to those of the specification.

    `settings`: those of flows (`tcp`, `bytes`, `start_s`, `stop_s` …) and of its kind (docs/traffic.md).
    """

    source: str
    destination: str
    kind: str | None = None
    settings: dict[str, JsonValue] = {}


class Network(Model):
    """Nodes by name, in order; links, applications, and waypoints by node. Stations and access points without a radio
    link share one.

    `presence`: when a node is present, for nodes that come and go (vehicles) or are switched off and on. Nodes not
    listed are always present; a node without spans never is.

    Raises ValueError, as pydantic does, for an invalid network.
    """

    nodes: dict[Annotated[str, Field(pattern=f"^{WIRED}$")], Node]
    links: tuple[Link, ...] = ()
    applications: tuple[Application, ...] = ()
    motion: dict[str, tuple[Waypoint, ...]] = {}
    presence: dict[str, tuple[Span, ...]] = {}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not 1 <= len(self.nodes) <= MAX_NODES:
            raise ValueError(f"a network has 1 to {MAX_NODES} nodes, not {len(self.nodes)}")
        for name, one in self.nodes.items():
            if one.kind in WITH_RADIO and not re.fullmatch(NAME, name):
                raise ValueError(f"{name}: the name of a node with a radio has at most nine characters")
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
                raise ValueError(f"motion of {node}: the times of waypoints must increase, from 0 s on")
        for node, spans in self.presence.items():
            self._know("presence", node)
            if not _rising([time for span in spans for time in span]):
                why = "arrivals and departures must alternate, at increasing times from 0 s on"
                raise ValueError(f"presence of {node}: {why}")
        return self

    def on_air(self) -> Self:
        """Return the part of the network that has radios, without its links and applications."""
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
    """A mobility model's result: waypoints by node, and the presence of nodes that are not always present."""

    waypoints: Mapping[str, Sequence[Waypoint]]
    presence: Mapping[str, Sequence[Span]] = MappingProxyType({})
