# SPDX-License-Identifier: BSD-3-Clause
"""Manhattan: nodes move on streets between rectangular blocks; at each crossing they turn or go straight on.

ETSI TR 101 112 (UMTS 30.03), B.1.4.1.1, and Bai, Sadagopan and Helmy, "IMPORTANT", 2003: straight on with probability
1/2, left and right with 1/4 each; where a street ends, among the remaining ones. Nodes never turn back. They begin
anywhere on the streets, in either direction, and draw a new speed for each block.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from topologies.area import Area, sides
from topologies.motion import Path, Point, each, go
from topologies.network import Model, Network, Waypoint

Crossing = tuple[int, int]
EAST, NORTH, WEST, SOUTH = (1, 0), (0, 1), (-1, 0), (0, -1)
LEFT = {EAST: NORTH, NORTH: WEST, WEST: SOUTH, SOUTH: EAST}


def _blocks(blocks: str) -> str:
    if not re.fullmatch("[1-9][0-9]{0,2}x[1-9][0-9]{0,2}", blocks):
        raise ValueError(f"blocks are columns x rows, like 10x2, at most 999x999; not {blocks!r}")
    return blocks


class Parameters(Model):
    area: Area = Field("1500x300", description="metres, width x height")
    blocks: Annotated[str, AfterValidator(_blocks)] = Field("10x2", description="blocks, columns x rows")
    vmin: float = Field(5.0, ge=0.001, le=1000, description="lowest speed, m/s")
    vmax: float = Field(15.0, ge=0.001, le=1000, description="highest speed, m/s")
    turn: float = Field(0.5, ge=0, le=1, description="probability of a turn at a crossing")

    @model_validator(mode="after")
    def _speeds(self) -> Self:
        if self.vmin > self.vmax:
            raise ValueError(f"vmin, {self.vmin:g} m/s, must not be above vmax, {self.vmax:g} m/s")
        return self


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    return each(network, seconds, random, lambda own: path(p, own))


def path(p: Parameters, random: Random) -> Path:
    """Yield one node's path."""
    size = columns, rows = [int(number) for number in p.blocks.split("x")]
    width, height = sides(p.area)
    block = width / columns, height / rows
    axis = 0 if random.random() * ((rows + 1) * width + (columns + 1) * height) < (rows + 1) * width else 1
    # One of the blocks along this axis, one of the streets across it; then the position along the block.
    first = [int(random.random() * (number + (other != axis))) for other, number in enumerate(size)]
    part, back = random.random(), random.random() < 0.5
    ahead = ((EAST, WEST), (NORTH, SOUTH))[axis][back]
    at, here = 0.0, _place([number + part * (other == axis) for other, number in enumerate(first)], block)
    yield at, here
    crossing = first[0] + (ahead == EAST), first[1] + (ahead == NORTH)
    while True:
        at, here = go(at, here, _place(crossing, block), random.uniform(p.vmin, p.vmax))
        yield at, here
        ahead = _turn(p.turn, crossing, ahead, (columns, rows), random)
        crossing = crossing[0] + ahead[0], crossing[1] + ahead[1]


def _place(crossing: Sequence[float], block: Point) -> Point:
    return crossing[0] * block[0], crossing[1] * block[1]


def _turn(turn: float, crossing: Crossing, ahead: Crossing, last: Crossing, random: Random) -> Crossing:
    """Return the direction after a crossing: ahead, left or right, as far as there are streets."""
    ways = {ahead: 1 - turn, LEFT[ahead]: turn / 2, LEFT[LEFT[LEFT[ahead]]]: turn / 2}
    there = {way: share for way, share in ways.items() if _on(crossing, way, last)}
    if not any(there.values()):
        there = dict.fromkeys(there, 1.0)
    return random.choices(list(there), list(there.values()))[0]


def _on(crossing: Crossing, way: Crossing, last: Crossing) -> bool:
    return 0 <= crossing[0] + way[0] <= last[0] and 0 <= crossing[1] + way[1] <= last[1]
