# SPDX-License-Identifier: BSD-3-Clause
"""Random walk: each node takes a new direction and speed at fixed intervals, both drawn uniformly; walls reflect it.

Camp, Boleng and Davies, "A survey of mobility models for ad hoc network research", 2002, section 2.1. Nodes begin
anywhere and stay evenly distributed: reflection preserves a uniform distribution.
"""

import math
from random import Random
from typing import Self

from pydantic import Field, model_validator

from topologies.area import Area, bounce, random_point, sides
from topologies.motion import Path, each
from topologies.network import Model, Network, Waypoint


class Parameters(Model):
    area: Area = Field("1500x300", description="metres, width x height")
    vmin: float = Field(0.0, ge=0, le=1000, description="lowest speed, m/s")
    vmax: float = Field(10.0, ge=0, le=1000, description="highest speed, m/s")
    step: float = Field(10.0, ge=0.01, le=1e6, description="seconds in one direction")

    @model_validator(mode="after")
    def _speeds(self) -> Self:
        if self.vmin > self.vmax:
            raise ValueError(f"vmin, {self.vmin:g} m/s, must not be above vmax, {self.vmax:g} m/s")
        return self


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    return each(network, seconds, random, lambda own: path(p, own))


def path(p: Parameters, random: Random) -> Path:
    """Yield one node's path."""
    area = sides(p.area)
    at, here = 0.0, random_point(area, random)
    yield at, here
    while True:
        turn, speed = random.uniform(0, 2 * math.pi), random.uniform(p.vmin, p.vmax)
        for after, where, _ in bounce(area, here, (speed * math.cos(turn), speed * math.sin(turn)), p.step):
            here = where
            yield at + after, here
        at += p.step
