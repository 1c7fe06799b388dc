# SPDX-License-Identifier: BSD-3-Clause
"""Static routes: shortest paths, worked out beforehand, so that a study of TCP and the MAC has no third party in it.

Both ways of every flow have their routes; in a small network everybody reaches everybody. A route's metric is how many
hops it takes, as routing daemons set it. Neighbours are entered for good: no ARP is sent for them.
"""

from __future__ import annotations

from emulation.lane.routing import Planned, Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.routing import Demand, Reach

ALL_PAIRS = 25  # up to so many nodes everybody can reach everybody; beyond, only the flows have their routes


def hops_to(destination: int, reach: Reach) -> list[int]:
    """Hop counts of all nodes to one; -1: no path."""
    hops = [-1] * len(reach)
    front, distance = [destination], 0
    while front:
        for node in front:
            hops[node] = distance
        front = sorted({other for node in front for other in reach[node] if hops[other] < 0})
        distance += 1
    return hops


def next_hops(reach: Reach, hops: list[int]) -> list[int]:
    """The next node on everybody's shortest path, of several the lowest index; -1: none, or there already."""
    return [
        next((other for other in reach[node] if 0 <= hops[other] == hops[node] - 1), -1) for node in range(len(reach))
    ]


def plan(reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False) -> list[Planned]:
    """Everybody's routes. Raises Unreachable for a flow's end that no path leads to, unless that is allowed."""
    ends = {(demand.source, demand.destination) for demand in demands}  # links are symmetric, and so are paths
    prompt = {(demand.destination, demand.source) for demand in demands if demand.prompt}
    everybody = range(len(reach)) if len(reach) <= ALL_PAIRS else ()
    pairs = ends | {(to, at) for at, to in ends} | {(at, to) for at in everybody for to in everybody if at != to}
    routes: dict[tuple[int, int], tuple[int, int]] = {}  # (at, to) -> via, hops
    for to in sorted({to for _, to in pairs}):
        hops = hops_to(to, reach)
        via = next_hops(reach, hops)
        for at in sorted(at for at, other in pairs if other == to):
            if via[at] < 0 and (at, to) in ends and not unreachable:
                raise Unreachable(at, to)
            while via[at] >= 0 and (at, to) not in routes:
                routes[at, to] = via[at], hops[at]
                at = via[at]
    planned = [Planned({"routes": []}, []) for _ in reach]
    for (at, to), (by, count) in sorted(routes.items()):
        if by not in planned[at].neighbours:
            planned[at].neighbours.append(by)
        if by != to or (at, to) in prompt:  # a neighbour needs no route but for its metrics
            planned[at].node["routes"].append(
                {"to": ips[to], "via": None if by == to else ips[by], "quickack": (at, to) in prompt, "metric": count}
            )
    return planned
