# SPDX-License-Identifier: BSD-3-Clause
"""A line: one node moves in a straight line, at one speed, from where it stands.

It is the simplest motion: a station leaves another's range, or enters it.
"""

import math
from random import Random

from pydantic import Field

from topologies.network import Model, Network, Waypoint


class Parameters(Model):
    node: str = Field(description="who moves")
    speed: float = Field(1.0, ge=0, le=1000, description="metres per second")
    heading: float = Field(0.0, ge=-360, le=360, description="degrees from the x axis, anticlockwise")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    if p.node not in network.nodes:
        raise ValueError(f"there is no node {p.node} to move")
    x, y, z = network.nodes[p.node].position
    far = p.speed * seconds
    turn = math.radians(p.heading)
    end = (x + far * math.cos(turn), y + far * math.sin(turn), z)
    return {p.node: [Waypoint(0.0, (x, y, z)), Waypoint(seconds, end)]}
