# SPDX-License-Identifier: BSD-3-Clause
"""A ring: stations on a circle, and flows from each of the first stations to the one opposite.

     sta2
sta3      sta1      flow1: sta1 to sta4
sta4      sta6      flow2: sta2 to sta5
     sta5
"""

import math

from pydantic import BaseModel, ConfigDict, Field

from topologies import Layout


class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    stations: int = Field(6, ge=3, le=100, description="stations on the circle")
    spacing: float = Field(200.0, gt=0, le=2000, description="metres between neighbours")
    flows: int = Field(1, ge=1, le=6, description="flows to the station opposite")


def layout(p: Parameters) -> Layout:
    names = [f"sta{i + 1}" for i in range(p.stations)]
    radius = p.spacing / (2 * math.sin(math.pi / p.stations))
    angle = [2 * math.pi * i / p.stations for i in range(p.stations)]
    return Layout(
        stations={
            name: (radius * math.cos(a), radius * math.sin(a), 0.0) for name, a in zip(names, angle, strict=True)
        },
        flows=[(names[i % p.stations], names[(i + p.stations // 2) % p.stations]) for i in range(p.flows)],
    )
