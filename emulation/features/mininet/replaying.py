# SPDX-License-Identifier: BSD-3-Clause
"""Replayed positions, from `sta.p` or a file. A station moves between them at its speed, by default 1 m/s."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.mobility import apart
from emulation.features.mininet.node import Node, place
from emulation.features.mininet.refusals import check
from emulation.lane.errors import Misuse
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.wifi import Mininet_wifi

USUAL_MPS = 1.0


class ReplayingMobility:
    """Move stations along their positions from the start of the session, or at once if it has started."""

    def __init__(self, net: Mininet_wifi, nodes: Any = None, **said: Any) -> None:
        check("ReplayingMobility", said, ())
        there: list[Node] = list(nodes) if nodes else [*net.stations, *net.cars]
        ways = {node.name: way_of(node) for node in there if positions(node)}
        if not ways:
            raise Misuse("ReplayingMobility: no node has positions: fill sta1.p or sta1.coord first")
        net.replay(ways)


def positions(node: Node) -> list[Any]:
    return list(getattr(node, "p", None) or node.coord)


def way_of(node: Node) -> list[Waypoint]:
    """Return waypoints from position to position at the node's speed."""
    speed = float(node.params.get("speed") or USUAL_MPS)
    points = [place(f"{node.name}.p", each) for each in positions(node)]
    at, way = 0.0, [Waypoint(0.0, points[0])]
    for before, where in pairwise(points):
        at += math.dist(before, where) / speed
        way.append(Waypoint(at, where))
    return apart(way)
