# SPDX-License-Identifier: BSD-3-Clause
"""The routes of `static`, in a routing interface (`emulation.lane.manet`).

There is no protocol, but the interface's queue, counters and trace. It shows the cost of the interface itself, and the
link layer's feedback.
"""

from __future__ import annotations

from emulation.lane import manet
from emulation.lane.routing import Demand, Planned, Reach, static
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node


MODULES, RECORDERS, PUNCTUAL = manet.MODULES, manet.RECORDERS, manet.PUNCTUAL


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Return the routes of `static`, and the neighbours, which are added to the kernel's table. Raises Unreachable."""
    chosen = manet.plan("static", reach, ips, demands, unreachable, **options)
    routes = static.routes_of(reach, demands, unreachable)
    for at, planned in enumerate(chosen):
        mine = {to: (via, hops) for (by, to), (via, hops) in sorted(routes.items()) if by == at}
        planned.node["routes"] = [{"to": ips[to], "via": ips[via], "metric": hops} for to, (via, hops) in mine.items()]
    return chosen


class Routing(manet.Routing):
    """The planned routes."""

    def start(self, net: Network) -> None:
        super().start(net)
        for name, interface in self.interfaces.items():
            node = net.nodes[name]
            self.restore(node)
            for route in node.plan["routing"]["routes"]:
                interface.control.set_route(route["to"], route["via"], route["metric"])

    def restore(self, node: Node) -> None:
        for ip, mac in node.radio.plan["neighbours"].items():
            node.route.add_neighbour(node.radio.index, ip, hardware_address(mac))
