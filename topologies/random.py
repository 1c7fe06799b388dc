# SPDX-License-Identifier: BSD-3-Clause
"""Stations at uniformly random positions in a rectangle, and flows between some of them.

These are the networks of paper 003's studies of motion: 50 stations in 1500x300 m, flows between random pairs.
`placement` is the number of the draw, separate from a run's seed: many seeds may use one placement. Stations that move
by a model with an area (docs/mobility.md) are placed by that model, from the run's seed.
"""

import math
import re
from functools import cache
from random import Random
from typing import Self

from pydantic import Field, model_validator

from topologies import Layout
from topologies.area import Area, random_point, sides
from topologies.motion import Point, stream
from topologies.network import MAX_NODES, Model

TRIES = 1000
PAIR = re.compile(r"(sta\d{1,4})-(sta\d{1,4})", re.ASCII)


class Parameters(Model):
    stations: int = Field(50, ge=2, le=MAX_NODES, description="stations in the area")
    area: Area = Field("1500x300", description="metres, width x height")
    flows: int = Field(
        1, ge=0, le=MAX_NODES // 2, description="flows between random pairs of stations; each station has one at most"
    )
    pairs: str | None = Field(None, description="flows between these pairs instead: sta1-sta9,sta4-sta2")
    connected: float | None = Field(
        None, gt=0, le=1e6, description="draw until all stations are connected by hops of at most this many metres"
    )
    placement: int = Field(1, ge=0, lt=2**63, description="number of the random draw")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.pairs and 2 * self.flows > self.stations:
            raise ValueError(
                f"flows: {self.flows} pairs that share no station need {2 * self.flows}, not {self.stations}"
            )
        for pair in self.pairs.split(",") if self.pairs else ():
            if not PAIR.fullmatch(pair):
                raise ValueError(f"pairs: {pair!r} is not a pair of stations; write sta1-sta9,sta2-sta8")
        return self


def layout(p: Parameters) -> Layout:
    names = [f"sta{number}" for number in range(1, p.stations + 1)]
    points = place(p.stations, p.area, p.connected, p.placement)
    said = [PAIR.fullmatch(pair) for pair in p.pairs.split(",")] if p.pairs else []
    flows = [(pair[1], pair[2]) for pair in said if pair] or _drawn(p, names)
    return Layout({name: (x, y, 0.0) for name, (x, y) in zip(names, points, strict=True)}, flows)


def _drawn(p: Parameters, names: list[str]) -> list[tuple[str, str]]:
    """Return pairs from their own stream: they depend on the placement, not on the area."""
    ends = stream(p.placement, "flows").sample(names, 2 * p.flows)
    return list(zip(ends[::2], ends[1::2], strict=True))


@cache
def place(stations: int, area: str, connected: float | None, placement: int) -> tuple[Point, ...]:
    """Return the positions, rounded to millimetres. Raises ValueError if none of TRIES draws is connected."""
    random = stream(placement, "places")
    for _ in range(TRIES if connected else 1):
        points = tuple(_drawn_point(sides(area), random) for _ in range(stations))
        if not connected or is_connected(points, connected):
            return points
    raise ValueError(
        f"connected: none of {TRIES} draws of {stations} stations in {area} m is connected by hops of {connected:g} m"
    )


def _drawn_point(area: Point, random: Random) -> Point:
    x, y = random_point(area, random)
    return round(x, 3), round(y, 3)


def is_connected(points: tuple[Point, ...], reach: float) -> bool:
    """Return whether all stations reach each other by hops of at most `reach` metres."""
    left, near = set(points[1:]), [points[0]]
    while near and left:
        here = near.pop()
        found = {point for point in left if math.dist(here, point) <= reach}
        left -= found
        near += found
    return not left
