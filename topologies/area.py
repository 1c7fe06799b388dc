# SPDX-License-Identifier: BSD-3-Clause
"""A rectangle in which nodes stand and move, written like 1500x300, in metres; its corner is at 0, 0."""

import math
import re
from collections.abc import Iterator
from random import Random
from typing import Annotated

from pydantic import AfterValidator

from topologies.motion import Point

SHORTEST, LONGEST = 1, 100_000
SIDES = re.compile(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", re.ASCII)


def sides(area: str) -> Point:
    """Return width and height. Raises ValueError if the text is invalid."""
    found = SIDES.fullmatch(area)
    width, height = map(float, found.groups()) if found else (0.0, 0.0)
    if not (SHORTEST <= width <= LONGEST and SHORTEST <= height <= LONGEST):
        raise ValueError(f"an area is WIDTHxHEIGHT, like 1500x300, of {SHORTEST} to {LONGEST} m; not {area!r}")
    return width, height


def _check(area: str) -> str:
    sides(area)
    return area


Area = Annotated[str, AfterValidator(_check)]


def random_point(area: Point, random: Random) -> Point:
    """Return a uniformly distributed point of an area with these sides."""
    return area[0] * random.random(), area[1] * random.random()


def bounce(area: Point, here: Point, velocity: Point, seconds: float) -> Iterator[tuple[float, Point, Point]]:
    """Yield the path of a node that walls reflect as a mirror reflects light: at each hit, and at the end, the time
    (s), the position, and the velocity from then on (m/s)."""
    at, where, speed = 0.0, list(here), list(velocity)
    while at < seconds:
        hits = [_hit(*axis) for axis in zip(where, speed, area, strict=True)]
        passed = min(*hits, seconds - at)
        for axis, hit in enumerate(hits):
            if hit == passed:
                where[axis] = area[axis] if speed[axis] > 0 else 0.0
                speed[axis] = -speed[axis]
            else:
                where[axis] = min(max(where[axis] + speed[axis] * passed, 0.0), area[axis])
        at = at + passed if passed < seconds - at else seconds
        yield at, (where[0], where[1]), (speed[0], speed[1])


def _hit(where: float, speed: float, side: float) -> float:
    """Return the time until a node meets the wall ahead, along one axis."""
    if speed == 0:
        return math.inf
    return (side - where) / speed if speed > 0 else -where / speed
