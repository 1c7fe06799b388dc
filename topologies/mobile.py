# SPDX-License-Identifier: BSD-3-Clause
"""Stations that move by random waypoint in a rectangle, and flows between some of them.

This is the mobile ad hoc network of paper 003, section 4.4, and of most publications: 50 stations in 1500x300 m. The
run's seed determines positions and motion, and nothing else draws from that stream, so every TCP and every routing
protocol meets the same motion. Its default is a routing protocol that finds and loses routes, because nothing else
makes sense here.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from topologies import Layout
from topologies.mobility import random_waypoint
from topologies.network import MAX_NODES


class Parameters(random_waypoint.Parameters):
    stations: int = Field(50, ge=2, le=MAX_NODES, description="stations in the area")
    flows: int = Field(1, ge=0, le=MAX_NODES // 2, description="flows, from sta1 to sta2, sta3 to sta4 …")

    @model_validator(mode="after")
    def _fits(self) -> Parameters:
        if 2 * self.flows > self.stations:
            raise ValueError(f"flows: {self.flows} of them need {2 * self.flows} stations, not {self.stations}")
        return self


def layout(p: Parameters) -> Layout:
    names = [f"sta{number}" for number in range(1, p.stations + 1)]
    flows = list(zip(names[0 : 2 * p.flows : 2], names[1 : 2 * p.flows : 2], strict=True))
    return Layout(dict.fromkeys(names, (0.0, 0.0, 0.0)), flows)


def usual(p: Parameters) -> dict[str, Any]:
    model = {name: getattr(p, name) for name in random_waypoint.Parameters.model_fields}
    moving = {"motion": {"model": "random_waypoint", **model}, "link": "ocb"}
    return {**moving, "routing": "aodv", "unreachable": True}
