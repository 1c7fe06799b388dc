# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of a network may ask of it: routing, recorders, motion, presence, a measurement and the prompt.
`emulation.lane.net.Net` is one, and for the prompt `emulation.net.Net`.

For type checkers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from emulation.lane.air import Air
from emulation.lane.links import Link
from emulation.lane.motion import Motion
from emulation.lane.node import Node
from emulation.lane.routing import Routing


class Network(Protocol):
    """A network that has started. `plan` is all of it; `air` is None where all radios hear each other."""

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
    """A network with a prompt, as `emulation.net.Net` is. Its nodes' `rts`, `position` and `tx_power_dbm` may be
    set at any time; what cannot be raises ValueError."""

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
        """Static routes as all stand now; says each node's next hops, by addresses."""

    def switch(self, node: Node, on: bool) -> None:
        """Off, its interfaces are down; on again, they have joined, and their routes are back."""

    def heard_by(self, node: Node) -> list[tuple[str, float | None]]: ...

    def flow_between(self, source: str, destination: str, traffic: str | None = None, ahead: int = 0) -> dict[str, Any]:
        """A flow as all are, or of this kind, set up at both ends; after so many that have not run yet."""

    def ran(self, flow: dict[str, Any], report: dict[str, Any]) -> None:
        """Remember what became of it."""

    def capture(self, file: str) -> None:
        """Have what has been on the air so far written."""
