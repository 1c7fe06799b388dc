# SPDX-License-Identifier: BSD-3-Clause
"""A string: stations on a line, at equal distances, and flows from its first station to its last.

    sta1 ──── sta2 ──── sta3 ──── sta4 ──── sta5
     └────────────── flow1, flow2 … ─────────┘

The topology of paper 000, sections 2 and 3. At 200 m, with 250 m of reception and 550 m of carrier sense, a station
hears its neighbours, senses the stations two hops away, and is hidden from the third.
"""

from pydantic import Field

from topologies import Layout
from topologies.network import Model

MOST = 256  # no packet crosses more than 255 hops


class Parameters(Model):
    stations: int = Field(5, ge=2, le=MOST, description="stations on the line")
    spacing: float = Field(200.0, gt=0, le=9000, allow_inf_nan=False, description="metres between neighbours")
    flows: int = Field(1, ge=0, le=16, description="parallel flows from the first station to the last")


def layout(p: Parameters) -> Layout:
    names = [f"sta{i}" for i in range(1, p.stations + 1)]
    return Layout(
        stations={name: (i * p.spacing, 0.0, 0.0) for i, name in enumerate(names)},
        flows=[(names[0], names[-1])] * p.flows,
    )
