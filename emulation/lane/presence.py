# SPDX-License-Identifier: BSD-3-Clause
"""Presence: nodes come and go, or are switched off and on. Off, a node's interfaces are down, as on any Linux: it hears
nothing, answers nothing and has no routes; its programs go on.

On again, it joins its links and has the routes that were planned; then it asks who is around, several times in a run,
as what is asked may be lost. Nobody waits for an answer: time goes on for the others.
"""

from __future__ import annotations

import time
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node
    from traffic.loop import Loop

GREETINGS, GREETING_NS = 10, 100_000_000  # how often it asks, and how far apart


class Presence:
    """Who is there in a network."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self.off: set[str] = set()  # nodes that are
        self.loop: Loop | None = None  # of a run

    def start(self, spans: Mapping[str, Sequence[tuple[float, float | None]]], loop: Loop, began_ns: int) -> None:
        """A run has begun: be there, by name, from each first to each second time (s since `began_ns`; None: its end).
        Raises NetlinkError."""
        self.loop = loop
        for name, mine in spans.items():
            node = self.net.nodes[name]
            self.switch(node, on=bool(mine) and mine[0][0] <= 0)
            for begin, end in mine:
                loop.at(began_ns + round(begin * 1e9), partial(self.switch, node, True))
                if end is not None:
                    loop.at(began_ns + round(end * 1e9), partial(self.switch, node, False))

    def switch(self, node: Node, on: bool) -> None:
        """Off or on, unless it is. Raises NetlinkError."""
        if on != (node.name in self.off):
            return
        self.off ^= {node.name}
        for interface, link in self._links(node):
            if on:
                link.rejoin(interface, patient=False)
            else:
                link.leave(interface)
        if on and self.net.routing:
            self.net.routing.restore(node)
            self.greet(node, GREETINGS)

    def greet(self, node: Node, times: int) -> None:
        """Let a node that has come ask who is around."""
        if node.name in self.off:
            return
        for interface, link in self._links(node):
            link.greet(interface)
        if self.loop and times > 1:
            self.loop.at(time.monotonic_ns() + GREETING_NS, partial(self.greet, node, times - 1))

    def _links(self, node: Node) -> list[tuple[Any, Any]]:
        return [(each, self.net.link_of(each)) for each in node.interfaces]
