# SPDX-License-Identifier: BSD-3-Clause
"""Each station takes a step each second, in a random direction."""

import math
from random import Random

from pydantic import BaseModel, Field

from topologies import Network, Waypoint


class Parameters(BaseModel):
    step: float = Field(5.0, gt=0, description="metres")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> dict[str, list[Waypoint]]:
    found = {}
    for name, node in network.nodes.items():
        x, y, z = node.position
        found[name] = [Waypoint(0.0, (x, y, z))]
        for second in range(1, int(seconds) + 1):
            turn = random.uniform(0, 2 * math.pi)
            x, y = x + p.step * math.cos(turn), y + p.step * math.sin(turn)
            found[name].append(Waypoint(float(second), (x, y, z)))
    return found
