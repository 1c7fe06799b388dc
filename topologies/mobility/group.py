# SPDX-License-Identifier: BSD-3-Clause
"""Reference-point group mobility: groups move by random waypoint, and the members of each around its centre.

Hong, Gerla, Pei and Chiang, "A group mobility model for ad hoc wireless networks", MSWiM 1999. A member's position is
the centre's plus a vector. Every `step` seconds the vector's end is drawn uniformly from the disc around the centre,
and moves there in a straight line. Centres keep a radius away from the area's borders, so members stay inside. The
first node is in the first group, the second in the second, and so on in turn.
"""

import heapq
import math
from itertools import groupby
from random import Random
from typing import Self

from pydantic import Field, model_validator

from topologies.area import sides
from topologies.mobility import random_waypoint
from topologies.motion import Path, Point, follow, position_at, stream
from topologies.network import Network, Waypoint


class Parameters(random_waypoint.Parameters):
    """Speeds, pause and start apply to the centres. Members may be faster, by at most the disc's diameter per step."""

    groups: int = Field(5, ge=1, le=250, description="groups")
    radius: float = Field(50.0, ge=0, le=1000, description="how far members may be from the centre, metres")
    step: float = Field(10.0, ge=0.01, le=1e6, description="seconds between a member's places in the group")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if min(sides(self.area)) <= 2 * self.radius:
            raise ValueError(f"a group of radius {self.radius:g} m does not fit into an area of {self.area}")
        return self


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    draw = random.getrandbits(64)
    groups = min(p.groups, len(network.nodes))
    centres = [centre(p, stream(draw, f"group {number}"), seconds) for number in range(groups)]
    return {
        name: _member(centres[number % groups], follow(_within(p, stream(draw, name)), node.position[2], seconds))
        for number, (name, node) in enumerate(network.nodes.items())
    }


def centre(p: Parameters, random: Random, seconds: float) -> list[Waypoint]:
    """Return the waypoints of a group's centre."""
    width, height = sides(p.area)
    inner = width - 2 * p.radius, height - 2 * p.radius
    way = follow(random_waypoint.path(p, inner, random), 0.0, seconds)
    return [Waypoint(at, (x + p.radius, y + p.radius, z)) for at, (x, y, z) in way]


def _within(p: Parameters, random: Random) -> Path:
    """Yield a member's path relative to its centre."""
    at = 0.0
    while True:
        yield at, _in_disc(p.radius, random)
        at += p.step


def _in_disc(radius: float, random: Random) -> Point:
    far, turn = radius * math.sqrt(random.random()), random.uniform(0, 2 * math.pi)
    return far * math.cos(turn), far * math.sin(turn)


def _member(centre: list[Waypoint], about: list[Waypoint]) -> list[Waypoint]:
    """Return the sum of both, which is straight between the times of either."""
    times = (at for at, _ in groupby(heapq.merge(*([at for at, _ in way] for way in (centre, about)))))
    return [Waypoint(at, _sum(position_at(centre, at), position_at(about, at))) for at in times]


def _sum(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
