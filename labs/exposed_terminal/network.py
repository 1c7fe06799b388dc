# SPDX-License-Identifier: BSD-3-Clause
"""Two senders side by side, each with a receiver on its far side.

    sta1 <── sta2 … sta3 ──> sta4

At full power a frame is received up to 250 m away; `sense` is how far it keeps others silent.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from topologies.network import Application, Network, Node

FULL_DBM = 24.5


class Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    link: float = Field(100.0, ge=1, le=250, description="metres from each sender to its receiver")
    gap: float = Field(300.0, ge=1, le=2000, description="metres between the two senders")
    sense: float = Field(550.0, ge=250, le=550, description="metres up to which a frame is sensed")
    power: float = Field(FULL_DBM, ge=0, le=FULL_DBM, description="dBm of all four")
    size: int = Field(1000, ge=20, le=1472, description="bytes of each datagram")


def layout(p: Parameters) -> Network:
    at = (0.0, p.link, p.link + p.gap, 2 * p.link + p.gap)
    settings = {"datagram_bytes": p.size, "rate_kbps": 2500.0}
    flows = (("sta2", "sta1"), ("sta3", "sta4"))
    quieter: dict[str, JsonValue] = {"tx_power_dbm": p.power} if p.power < FULL_DBM else {}
    return Network(
        nodes={f"sta{number + 1}": Node(position=(x, 0.0, 0.0), settings=quieter) for number, x in enumerate(at)},
        applications=tuple(Application(source=a, destination=b, kind="udp", settings=settings) for a, b in flows),
    )


def usual(p: Parameters) -> dict[str, Any]:
    return {"ranges": {"transmission_m": 250, "carrier_sense_m": p.sense}, "seconds": 10}
