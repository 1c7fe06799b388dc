# SPDX-License-Identifier: BSD-3-Clause
"""A string whose last station walks away from the one before, while a helper can still reach both.

Paper 003, section 3.2: five stations 200 m apart and, after some seconds, a sixth near the last two. At `leaves` the
fifth begins to move away from the fourth at 10 m/s; after 50 m that link is gone, and the route over the helper exists.
The radio is an ideal disc of 250 m, so only routing matters. The paper does not say where the helper stands, or where
the fifth stops; here they stay in each other's range.
"""

from typing import Any

from pydantic import Field

from topologies.network import Application, Model, Network, Node, Waypoint

SPACING, RANGE, SPEED = 200.0, 250.0, 10.0
HELPER, HELPER_FROM, HELPER_SPEED = (760.0, 130.0, 0.0), (760.0, 270.0, 0.0), 20.0
STOPS = 900.0


class Parameters(Model):
    leaves: float = Field(30.0, ge=1, le=10_000, description="time at which the last station begins to move, s")


def layout(p: Parameters) -> Network:
    nodes = {f"sta{number + 1}": Node(position=(SPACING * number, 0.0, 0.0)) for number in range(5)}
    last = nodes["sta5"].position
    settled = (HELPER_FROM[1] - HELPER[1]) / HELPER_SPEED
    return Network(
        nodes={**nodes, "sta6": Node(position=HELPER_FROM)},
        applications=(Application(source="sta1", destination="sta5"),),
        motion={
            "sta5": (
                Waypoint(0.0, last),
                Waypoint(p.leaves, last),
                Waypoint(p.leaves + (STOPS - last[0]) / SPEED, (STOPS, 0.0, 0.0)),
            ),
            "sta6": (Waypoint(0.0, HELPER_FROM), Waypoint(settled, HELPER)),
        },
    )


def usual(p: Parameters) -> dict[str, Any]:
    return {
        "propagation": {"model": "disc", "radius_m": RANGE},
        "rts": "full",
        "routing": "aodv",
        "seconds": p.leaves + 30,
        "unreachable": True,
    }
