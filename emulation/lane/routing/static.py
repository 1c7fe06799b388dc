# SPDX-License-Identifier: BSD-3-Clause
"""Static routes along shortest paths: no routing protocol influences a study of TCP and the MAC.

There are routes in both directions of every flow, and in a small network between all nodes. Next hops are permanent
neighbours, so no ARP is sent for them. If there are several shortest paths, the next hop is the node of lowest index.
`path=sta1:sta2:sta4` sets a path that its ends take instead, in both directions; semicolons separate several.
docs/interfaces.md, section 1, has the plan of a node.
"""

from __future__ import annotations

from itertools import pairwise

from emulation.lane import routing
from emulation.lane.routing import Demand, Planned, Reach, Unreachable
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

Routes = dict[tuple[int, int], tuple[int, int]]  # (at, to) -> (next hop, hops to go)

ALL_PAIRS = 25  # largest network with routes between all nodes; in larger ones only flows have routes

ANY_LINK = TAKES_PATHS = True


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False,
    path: Sequence[Sequence[int]] = (), **options: Any,
) -> list[Planned]:  # fmt: skip
    """Return the routes and next hops of all nodes (see `emulation.lane.routing`). The ends of each `path` have routes
    along it. Raises Unreachable, or ValueError if an option or a path is invalid."""
    if options:
        raise ValueError(f"static routing has no option {', '.join(options)}; there are: path")
    own = routes_along(path, reach)
    left = [one for one in demands if (one.source, one.destination) not in own]
    return planned_routes({**routes_of(reach, left, unreachable), **own}, ips, demands)


def routes_along(paths: Sequence[Sequence[int]], reach: Reach) -> Routes:
    """Return the routes along paths, in both directions. Raises ValueError if two hops are not in reach, or if two
    paths to one node diverge."""
    routes: Routes = {}
    for path in paths:
        for direction in (list(path), list(path)[::-1]):
            for place, (at, via) in enumerate(pairwise(direction)):
                if via not in reach[at]:
                    raise ValueError(f"path: hop {place + 1}, counted from an end, has no link")
                if routes.setdefault((at, direction[-1]), (via, len(direction) - 1 - place)) != (
                    via,
                    len(direction) - 1 - place,
                ):
                    raise ValueError("path: two paths to one node diverge; give one of them")
    return routes


def planned_routes(routes: Routes, ips: list[str], demands: list[Demand]) -> list[Planned]:
    """Return for each node its part of these routes, as it is installed."""
    planned: list[Planned] = [Planned({"routes": []}, []) for _ in ips]
    metrics = routing.metrics(demands)
    for (at, to), (via, hops) in sorted(routes.items()):
        if via not in planned[at].neighbours:
            planned[at].neighbours.append(via)
        if via != to or (at, to) in metrics:  # a route to a neighbour only carries metrics
            gateway = None if via == to else ips[via]
            route = {"to": ips[to], "via": gateway, "metric": hops, "tcp": metrics.get((at, to), {})}
            planned[at].node["routes"].append(route)
    return planned


def routes_of(reach: Reach, demands: list[Demand], unreachable: bool) -> Routes:
    """Return (at, to) -> (next hop, hops to go) for all pairs that must have a route. Raises Unreachable."""
    needed = {(demand.source, demand.destination) for demand in demands}
    routes: Routes = {}
    for to, sources in sorted(destinations(len(reach), needed).items()):
        hops = hops_to(to, reach)
        for at in sorted(sources):
            if hops[at] < 0 and (at, to) in needed and not unreachable:
                raise Unreachable(at, to)
            while hops[at] > 0 and (at, to) not in routes:
                via = next(other for other in reach[at] if hops[other] == hops[at] - 1)
                routes[at, to] = via, hops[at]
                at = via
    return routes


def destinations(count: int, needed: set[tuple[int, int]]) -> dict[int, set[int]]:
    """Return each destination with the nodes that must have a route to it."""
    all_nodes = set(range(count)) if count <= ALL_PAIRS else set()
    found = {to: all_nodes - {to} for to in all_nodes}
    for source, destination in needed:
        found.setdefault(destination, set()).add(source)
        found.setdefault(source, set()).add(destination)
    return found


def hops_to(to: int, reach: Reach) -> list[int]:
    """Return the hop counts of all nodes to one; -1: no path."""
    hops = [-1] * len(reach)
    hops[to], front = 0, [to]
    while front:
        distance = hops[front[0]] + 1
        front = sorted({near for node in front for near in reach[node] if hops[near] < 0})
        for node in front:
            hops[node] = distance
    return hops


class Routing(routing.Routing):
    """Installs the planned routes, and checks them."""

    def start(self, net: Network) -> None:
        for node in net.nodes.values():
            self.restore(node)

    def replace(self, node: Node, routes: list[dict[str, Any]], neighbours: dict[str, str]) -> None:
        """Replace the routes and neighbours of a node with one interface. Raises NetlinkError."""
        for route in node.plan["routing"]["routes"]:
            node.route.delete_route(route["to"])
        node.plan["routing"]["routes"], node.interfaces[0].plan["neighbours"] = routes, neighbours
        self.restore(node)

    def restore(self, node: Node) -> None:
        planned = {route["to"] for route in node.plan["routing"]["routes"]}
        for number, interface in enumerate(node.interfaces):
            for ip, address in interface.plan["neighbours"].items():
                node.route.add_neighbour(interface.index, ip, hardware_address(address))
                if number and ip not in planned:  # the subnet is on the first interface
                    node.route.add_route(interface.index, ip)
        for route in node.plan["routing"]["routes"]:
            add_route(node, route)


def next_hops(plan: dict[str, Any]) -> dict[str, str]:
    """Return the next hop of a node in a plan to each destination, including neighbours, as addresses."""
    near = {ip: ip for interface in plan["interfaces"] for ip in interface["neighbours"]}
    return near | {route["to"]: route["via"] or route["to"] for route in plan["routing"]["routes"]}


def add_route(node: Node, route: dict[str, Any]) -> None:
    """Add a route of the plan. Raises NetlinkError if the kernel did not keep its metrics."""
    to, via, metrics = route["to"], route["via"], route["tcp"]
    interface = next(each for each in node.interfaces if (via or to) in each.plan["neighbours"])
    node.route.add_route(interface.index, to, via, metrics, route["metric"])
    routing.check_metrics(node, to, metrics)
