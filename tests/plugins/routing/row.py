# SPDX-License-Identifier: BSD-3-Clause
"""Nodes in a row, in the plan's order: a packet goes to the next node towards its destination."""

from __future__ import annotations

from typing import Any

from emulation.lane import routing
from emulation.lane.network import Network
from emulation.lane.node import Node
from emulation.lane.routing import Demand, Planned, Reach, Unreachable


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """For each node, the routes to all nodes beyond its neighbours."""
    for demand in demands:
        first, last = sorted((demand.source, demand.destination))
        if not unreachable and any(at + 1 not in reach[at] for at in range(first, last)):
            raise Unreachable(demand.source, demand.destination)
    planned = []
    for at, near in enumerate(reach):
        beside = [side for side in (at - 1, at + 1) if side in near]
        ways = {ips[to]: ips[side] for side in beside for to in range(len(ips)) if (to - side) * (side - at) > 0}
        planned.append(Planned({"ways": ways}, beside))
    return planned


class Routing(routing.Routing):
    """Routes through the next node, which ARP finds."""

    def start(self, net: Network) -> None:
        for node in net.nodes.values():
            self.restore(node)

    def restore(self, node: Node) -> None:
        for to, via in node.plan["routing"]["ways"].items():
            node.route.add_route(node.interfaces[0].index, to, via)
