# SPDX-License-Identifier: BSD-3-Clause
"""Roads of Mininet-WiFi: its user clicks them into a picture, end to end, and then where access points stand. Here the
seed draws them, in the area of `plotGraph`; access points without a position stand beside them, evenly spaced. Cars
without one drive from end to end and back, one way or the other, with a new speed on each road."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.node import Node, Position
from emulation.features.mininet.refusals import note, numeric
from emulation.lane.errors import Misuse
from topologies.motion import position_at
from topologies.network import Waypoint

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet

SPEEDS = {"min_speed": 1.0, "max_speed": 10.0}  # m/s, by keyword of cars
SIDE_M = 100.0  # of an area that nobody says
DRAWN = (
    "roads={}: nobody clicks them here: the seed draws them, end to end, in the area of plotGraph; access points"
    " without a position stand beside them. For others use mobility() or ReplayingMobility"
)
Point = tuple[float, float]


class Roads:
    """The roads of a network, end to end."""

    def __init__(self, many: Any, area: dict[str, Any], seed: Any) -> None:
        self.many, self.seed = int(numeric("roads", many)), seed
        if self.many < 1:
            raise Misuse(f"roads={many!r}: give how many there are")
        low = [numeric(name, area.get(name, 0)) for name in ("min_x", "min_y")]
        high = [numeric(name, area.get(name, SIDE_M)) for name in ("max_x", "max_y")]
        draw = Random(f"{seed} roads")
        self.points: list[Point] = [
            (draw.uniform(low[0], high[0]), draw.uniform(low[1], high[1])) for _ in range(self.many + 1)
        ]
        note(DRAWN.format(self.many))

    def at(self, share: float) -> Position:
        """Return the point after this share of their length."""
        passed = [*accumulate((math.dist(a, b) for a, b in pairwise(self.points)), initial=0.0)]
        path = [Waypoint(length, (*point, 0.0)) for length, point in zip(passed, self.points, strict=True)]
        return position_at(path, share * passed[-1])

    def line(self, nodes: list[Node]) -> None:
        """Put nodes beside the roads, evenly spaced."""
        for number, node in enumerate(nodes):
            node.noted_position = self.at((number + 0.5) / len(nodes))

    def drive(self, car: Node, number: int) -> Iterator[tuple[float, Point]]:
        """Yield when a car is where: it begins on one of the roads. Raises Misuse."""
        draw = Random(f"{self.seed} {car.name}")
        slow, fast = sorted(
            numeric(f"{car.name}: {name}", car.params.get(name, usual)) for name, usual in SPEEDS.items()
        )
        if slow <= 0:
            raise Misuse(f"{car.name}: min_speed={slow:g}: speeds are above 0 m/s")
        step = 1 if number % 2 else -1
        place = draw.randrange(self.many) + (step < 0)
        at, here = 0.0, self.points[place]
        yield at, here
        while True:
            if not 0 <= place + step <= self.many:
                step = -step
            place += step
            at += max(math.dist(here, self.points[place]) / draw.uniform(slow, fast), 1e-3)
            here = self.points[place]
            yield at, here


def build(net: Mininet) -> None:
    """Make the roads that a script has asked for, and put access points beside them. Raises Misuse."""
    plan = net.mobility_plan
    if many := net.params.get("roads"):
        plan.roads = Roads(many, net.drawn, plan.seed)
        plan.roads.line([node for node in net.aps if node.noted_position is None and node.name not in plan.stages])
