# SPDX-License-Identifier: BSD-3-Clause
"""Gauss-Markov: speed and direction of each node change gradually; each step keeps a share `alpha` of their deviation.

The deviation is that from the mean; the rest is drawn again. With 1, nodes move in a straight line; with 0, each step
is independent.

    x' = alpha x + (1 - alpha) mean + sqrt(1 - alpha²) deviation w,   w normal

Liang and Haas 1999, for speed and direction as in Camp, Boleng and Davies 2002, section 2.5. The autocorrelation after
k steps is alpha^k. Each node has its own mean direction; walls reflect both the node and that direction. Speeds stay
between 0 and twice the mean, so that their mean stays the mean.
"""

import math
from random import Random

from pydantic import Field

from topologies.area import Area, bounce, random_point, sides
from topologies.motion import Path, each
from topologies.network import Model, Network, Waypoint


class Parameters(Model):
    area: Area = Field("1500x300", description="metres, width x height")
    speed: float = Field(5.0, ge=0, le=1000, description="mean speed, m/s")
    deviation: float = Field(1.0, ge=0, le=1000, description="standard deviation of the speed, m/s")
    turn: float = Field(30.0, ge=0, le=360, description="standard deviation of the direction, degrees")
    alpha: float = Field(0.75, ge=0, le=1, description="what is kept: 1 all, 0 nothing")
    step: float = Field(1.0, ge=0.01, le=1e6, description="seconds between changes")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    return each(network, seconds, random, lambda own: path(p, own))


def path(p: Parameters, random: Random) -> Path:
    """Yield one node's path."""
    area = sides(p.area)
    at, here, mean = 0.0, random_point(area, random), random.uniform(0, 2 * math.pi)
    speed = _bounded(random.gauss(p.speed, p.deviation), p.speed)
    direction = random.gauss(mean, math.radians(p.turn))
    yield at, here
    while True:
        before = speed * math.cos(direction), speed * math.sin(direction)
        for after, where, velocity in bounce(area, here, before, p.step):
            here, left = where, velocity
            yield at + after, here
        if left[0] * before[0] < 0:
            direction, mean = math.pi - direction, math.pi - mean
        if left[1] * before[1] < 0:
            direction, mean = -direction, -mean
        at += p.step
        speed = _bounded(_next(p.alpha, speed, p.speed, random.gauss(0, p.deviation)), p.speed)
        direction = _next(p.alpha, direction, mean, random.gauss(0, math.radians(p.turn)))


def _next(alpha: float, value: float, mean: float, drawn: float) -> float:
    return alpha * value + (1 - alpha) * mean + math.sqrt(1 - alpha**2) * drawn


def _bounded(speed: float, mean: float) -> float:
    return min(max(speed, 0.0), 2 * mean)
