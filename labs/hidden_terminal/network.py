# SPDX-License-Identifier: BSD-3-Clause
"""Two stations that send to one between them.

    sta1 ──> sta2 <── sta3

A station is received up to 250 m away, and sensed up to 300 m: farther apart, sta1 and sta3 are hidden from each other.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from topologies.network import Application, Network, Node


class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    apart: float = Field(400.0, ge=2, le=500, description="metres from sta1 to sta3; sta2 is halfway")
    size: int = Field(1000, ge=20, le=1472, description="bytes of each datagram")
    load_kbps: float = Field(2000.0, gt=0, le=10_000, description="kb/s that each of the two offers")


def layout(p: Parameters) -> Network:
    nodes = {f"sta{i + 1}": Node(position=(i * p.apart / 2, 0.0, 0.0)) for i in range(3)}
    settings = {"datagram_bytes": p.size, "rate_kbps": p.load_kbps}
    flows = [Application(source=a, destination="sta2", kind="udp", settings=settings) for a in ("sta1", "sta3")]
    return Network(nodes=nodes, applications=tuple(flows))


def usual(p: Parameters) -> dict[str, Any]:
    return {"ranges": {"transmission_m": 250, "carrier_sense_m": 300}, "seconds": 10}
