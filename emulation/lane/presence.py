# SPDX-License-Identifier: BSD-3-Clause
"""Presence: nodes come and go, or are switched off and on.

The interfaces of a node that is off are down: it receives and sends nothing and has no routes. Its programs keep
running.

When it is on again, it joins its links and gets its planned routes. Then it probes for its neighbours several times, as
probes may be lost. It does not wait for answers, so time passes for the others.
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

PROBES, PROBE_INTERVAL_NS = 10, 100_000_000  # number of probes, and their distance


class Presence:
    """Which nodes of a network are on."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self.off: set[str] = set()  # names of nodes that are off
        self.loop: Loop | None = None  # of a run

    def start(self, spans: Mapping[str, Sequence[tuple[float, float | None]]], loop: Loop, began_ns: int) -> None:
        """Start the presence of a run. `spans` has the times each node is on, by name. A span is its first and last
        second since `began_ns`; None: to the end of the run. Raises NetlinkError."""
        self.loop = loop
        for name, on_spans in spans.items():
            node = self.net.nodes[name]
            self.switch(node, on=bool(on_spans) and on_spans[0][0] <= 0)
            for begin, end in on_spans:
                loop.at(began_ns + round(begin * 1e9), partial(self.switch, node, True))
                if end is not None:
                    loop.at(began_ns + round(end * 1e9), partial(self.switch, node, False))

    def switch(self, node: Node, on: bool) -> None:
        """Switch a node off or on, unless it already is. Raises NetlinkError."""
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
            self.greet(node, PROBES)

    def greet(self, node: Node, times: int) -> None:
        """Let a node that is back probe for its neighbours."""
        if node.name in self.off:
            return
        for interface, link in self._links(node):
            link.greet(interface)
        if self.loop and times > 1:
            self.loop.at(time.monotonic_ns() + PROBE_INTERVAL_NS, partial(self.greet, node, times - 1))

    def _links(self, node: Node) -> list[tuple[Any, Any]]:
        return [(each, self.net.link_of(each)) for each in node.interfaces]
