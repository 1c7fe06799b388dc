# SPDX-License-Identifier: BSD-3-Clause
"""A near and a far station that send to one between them.

    sta1 ──> sta2 <────────── sta3

A frame is received up to 250 m away; `sense` is how far it keeps others silent.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from topologies.network import Application, Network, Node


class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    near: float = Field(100.0, ge=86, le=250, description="metres from sta1 to sta2")
    far: float = Field(200.0, ge=86, le=250, description="metres from sta3 to sta2")
    sense: float = Field(250.0, ge=250, le=550, description="metres up to which a frame is sensed")
    size: int = Field(1000, ge=20, le=1472, description="bytes of each datagram")


def layout(p: Parameters) -> Network:
    at = {"sta1": -p.near, "sta2": 0.0, "sta3": p.far}
    settings = {"datagram_bytes": p.size, "rate_kbps": 2500.0}
    return Network(
        nodes={name: Node(position=(x, 0.0, 0.0)) for name, x in at.items()},
        applications=tuple(
            Application(source=name, destination="sta2", kind="udp", settings=settings) for name in ("sta1", "sta3")
        ),
    )


def usual(p: Parameters) -> dict[str, Any]:
    return {"ranges": {"transmission_m": 250, "carrier_sense_m": p.sense}, "seconds": 10}
