# SPDX-License-Identifier: BSD-3-Clause
"""A network that a script builds, in Mininet's words; the script runs in a lane.

    net = Net(rts="full")
    a, b = net.addStation("sta1", position=(0, 0, 0)), net.addStation("sta2", position=(200, 0, 0))
    net.addLink(a, b, cls=Adhoc, ssid="lab", freq=2412)
    with net:
        net.start()
        print(a.cmd("ip route"))

This file stands outside the wall: what a script asks for is specified and planned as everything is, with the packages
of the environment, and only then is it a network as `emulation.lane.net` has it.
"""

from __future__ import annotations

from typing import Any

import topologies
from emulation import plan, specification
from emulation.lane import links
from emulation.lane import net as lane
from emulation.lane.links.adhoc import Link as Adhoc
from emulation.lane.links.mesh import Link as Mesh
from emulation.lane.node import Node, Position

__all__ = ["Adhoc", "Mesh", "Net"]


class Net(lane.Net):
    """Build it, `start` it, use it or `run` it, `stop` it; `with net:` stops it whatever happens.

    `options` are those of a specification: rate=2, rts="full", propagation="free_space", seed=7, plugins=["mine"] …
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options
        self.members: list[tuple[type[links.Link] | str, topologies.Link]] = []
        self.flows: list[topologies.Application] = []
        self.own: dict[str, dict[str, Any]] = {}  # settings of nodes, by name

    def addStation(self, name: str, position: Position = (0.0, 0.0, 0.0), **settings: Any) -> Node:
        """A station, at a position in metres; its name has at most nine characters, as its interface's has fifteen.
        What it shall have otherwise than the others: `rts`, `rate`."""
        self.nodes[name], self.own[name] = Node(name, position), settings
        return self.nodes[name]

    def addLink(self, *nodes: Node, cls: type[links.Link] | str = Adhoc, **settings: Any) -> None:
        """Put nodes on one link: `ssid`, `freq` (MHz), `beacon_tu`. `cls` may be a class of the script's own, or the
        name of a kind. Nodes without a link share one."""
        names, kind = tuple(node.name for node in nodes), cls if isinstance(cls, str) else links.kind_of(cls)
        self.members.append((cls, topologies.Link(nodes=names, kind=kind, settings=settings)))

    def addFlow(self, source: Node, destination: Node, kind: str | None = None, **settings: Any) -> None:
        """A flow for `run`; settings as in a plan's applications: bytes, start_s, congestion …"""
        flow = topologies.Application(source=source.name, destination=destination.name, kind=kind, settings=settings)
        self.flows.append(flow)

    def build(self) -> dict[str, Any]:
        """Make the plan, unless there is one. Raises ValueError, or PlanError, which is one."""
        if not self.plan:
            network = topologies.Network(
                nodes={
                    name: topologies.Node(kind=node.kind, position=node.position, settings=self.own[name])
                    for name, node in self.nodes.items()
                },
                links=tuple(link for _, link in self.members),
                applications=tuple(self.flows),
            )
            made = plan.plan(specification.specify(network, self.options))
            pairs = zip(made["links"], self.members, strict=False)  # the script's come first
            self.adopt(made, {link["name"]: cls for link, (cls, _) in pairs if not isinstance(cls, str)})
        return self.plan
