# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of a network, for type checkers only.

Routing, recorders, motion, presence, measurements and the prompt use a network through them. `emulation.lane.net.Net`
implements `Network`, and `emulation.net.Net` also `Live`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from emulation.lane.air import Air
from emulation.lane.links import Link
from emulation.lane.motion import Motion
from emulation.lane.node import Node
from emulation.lane.routing import Routing


class Network(Protocol):
    """A network that has started. `air` is None if all radios hear each other."""

    plan: dict[str, Any]
    nodes: dict[str, Node]
    links: dict[str, Link]
    air: Air | None
    routing: Routing | None
    motion: Motion
    settings: list[dict[str, object]]
    folder: str

    def interfaces(self) -> list[Any]: ...

    def link_of(self, interface: Any) -> Link: ...


class Live(Protocol):
    """A network with a prompt, such as `emulation.net.Net`.

    Its nodes' `rts`, `position` and `tx_power_dbm` can be set at any time; an invalid value raises ValueError.
    """

    plan: dict[str, Any]
    air: Air | None
    routing: Routing | None
    folder: str
    began_ns: int
    settings: list[dict[str, object]]

    @property
    def nodes(self) -> Mapping[str, Any]: ...

    def interfaces(self) -> list[Any]: ...

    def link_of(self, interface: Any) -> Link: ...

    def reroute(self) -> dict[str, dict[str, str]]:
        """Recompute static routes for the current positions. Return each node's next hops, by addresses."""

    def switch(self, node: Node, on: bool) -> None:
        """Switch a node off (its interfaces go down), or on again: it joins and gets its routes back."""

    def heard_by(self, node: Node) -> list[tuple[str, float | None]]: ...

    def flow_between(self, source: str, destination: str, traffic: str | None = None, ahead: int = 0) -> dict[str, Any]:
        """Plan a flow of the network's kind, or of this one, and set up both ends. `ahead` flows have not run yet."""

    def add_report(self, flow: dict[str, Any], report: dict[str, Any]) -> None:
        """Keep the report of a flow."""

    def capture(self, file: str) -> None:
        """Write a capture of all frames so far."""
