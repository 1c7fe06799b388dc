# SPDX-License-Identifier: BSD-3-Clause
"""Random waypoint: each node moves straight to a random point, at a random speed, pauses, and continues.

Johnson and Maltz 1996. As in Broch et al. 1998, a run begins with a pause at uniformly drawn points. Later, positions
and speeds are distributed differently. Slow legs last longer, so the mean speed decays, endlessly if vmin is 0 (Yoon,
Liu and Noble 2003); and nodes gather in the middle. `stationary` draws the start exactly from the limiting
distribution: Navidi and Camp, "Stationary distributions for the random waypoint mobility model", IEEE Transactions on
Mobile Computing 3(1), 2004.
"""

import math
from random import Random
from typing import Literal, Self

from pydantic import Field, model_validator

from topologies.area import Area, random_point, sides
from topologies.motion import Path, Point, each, go
from topologies.network import Model, Network, Waypoint

# vmin for each vmax such that the mean speed (vmax - vmin) / ln(vmax / vmin) is paper 003's: 1.44 m/s, 3.34, …
PAPERS = {2.0: 1.0, 5.0: 2.1, 10.0: 4.1, 15.0: 5.0, 20.0: 9.0}


class Parameters(Model):
    area: Area = Field("1500x300", description="metres, width x height")
    vmax: float = Field(10.0, ge=0.001, le=1000, description="highest speed, m/s")
    vmin: float | None = Field(
        None, ge=0.001, le=1000, description="lowest speed, m/s; by default paper 003's for vmax"
    )
    pause: float = Field(0.0, ge=0, le=1e6, description="seconds at each point")
    start: Literal["uniform", "stationary"] = Field("uniform", description="positions and speeds at the start")

    @model_validator(mode="after")
    def _speeds(self) -> Self:
        self.speeds  # noqa: B018  # raises
        return self

    @property
    def speeds(self) -> tuple[float, float]:
        """The lowest and highest speed. Raises ValueError if they are invalid, or the lowest is unknown."""
        lowest = PAPERS.get(self.vmax) if self.vmin is None else self.vmin
        if lowest is None:
            there = ", ".join(f"{vmax:g}" for vmax in PAPERS)
            raise ValueError(f"vmin: give a value; paper 003 has one for a vmax of {there}, not for {self.vmax:g}")
        if lowest > self.vmax:
            raise ValueError(f"vmin, {lowest:g} m/s, must not be above vmax, {self.vmax:g} m/s")
        return lowest, self.vmax


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    return each(network, seconds, random, lambda own: path(p, sides(p.area), own))


def path(p: Parameters, area: Point, random: Random) -> Path:
    """Yield one node's path."""
    lowest, highest = p.speeds
    at, here, pause = 0.0, random_point(area, random), p.pause
    if p.start == "stationary":
        leg_s = mean_distance(*area) * mean_slowness(lowest, highest)
        if random.random() * (leg_s + p.pause) < leg_s:
            here, to = _leg_under_way(area, random)
            yield at, here
            # The density of the speed is proportional to 1/v: a leg at half the speed lasts twice as long.
            at, here = go(at, here, to, lowest * (highest / lowest) ** random.random())
        else:
            pause *= random.random()
    yield at, here
    while True:
        if pause:
            at += pause
            yield at, here
        at, here = go(at, here, random_point(area, random), random.uniform(lowest, highest))
        yield at, here
        pause = p.pause


def _leg_under_way(area: Point, random: Random) -> tuple[Point, Point]:
    """Return position and destination of a node on a leg, which is drawn in proportion to its length."""
    while True:
        start, to = random_point(area, random), random_point(area, random)
        if random.random() * math.hypot(*area) < math.dist(start, to):
            part = random.random()
            return (start[0] + part * (to[0] - start[0]), start[1] + part * (to[1] - start[1])), to


def mean_slowness(lowest: float, highest: float) -> float:
    """Return the mean of 1/v for a speed drawn uniformly between these, s/m."""
    return math.log(highest / lowest) / (highest - lowest) if highest > lowest else 1 / lowest


def mean_distance(width: float, height: float) -> float:
    """Return the mean distance of two points drawn uniformly in a rectangle (Ghosh, "Random distances within a
    rectangle and between two rectangles", Bulletin of the Calcutta Mathematical Society 43, 1951)."""
    a, b, d = width, height, math.hypot(width, height)
    corners = a**3 / b**2 + b**3 / a**2 + d * (3 - a**2 / b**2 - b**2 / a**2)
    sides = b**2 / a * math.log((a + d) / b) + a**2 / b * math.log((b + d) / a)
    return (corners + 2.5 * sides) / 15
