# SPDX-License-Identifier: BSD-3-Clause
"""A WLAN: stations around an access point, and a host on a wire behind it, with a flow for each station.

    sta1 ┐
    sta2 ├──  ap1 ━━━━ h1      flow1, flow2 … up, from the stations to the host; down; or both
    sta3 ┘

The infrastructure of paper 004: 11 Mb/s with 1 Mb/s for control frames, and a wire of 2 to 15 ms. All stations are at
the same distance, so that none is stronger than another.
"""

from math import cos, pi, sin
from typing import Any, Literal, Self

from pydantic import Field, JsonValue, model_validator

from topologies.network import Application, Link, Model, Network, Node


class Parameters(Model):
    stations: int = Field(3, ge=1, le=200, description="stations around the access point")
    radius: float = Field(20.0, gt=0, le=9000, allow_inf_nan=False, description="distance from the access point, m")
    delay: float = Field(2.0, ge=0, le=10_000, description="one-way delay of the wire, ms")
    bw: float = Field(100.0, gt=0, le=100_000, description="rate of the wire, Mb/s")
    slow: int = Field(0, ge=0, description="with mode and mcs: the last N of these have one stream and MCS 0")
    direction: Literal["up", "down", "both"] = Field("up", description="flows from the stations, to them, or both")
    security: Literal["open", "wpa2", "wpa3"] = Field("open", description="security of the network")
    passphrase: str | None = Field(None, description="passphrase of wpa2 or wpa3")

    @model_validator(mode="after")
    def _closed(self) -> Self:
        if (self.security == "open") != (self.passphrase is None):
            raise ValueError("passphrase: only security wpa2 and wpa3 have one")
        if self.slow > self.stations:
            raise ValueError(f"slow: there are {self.stations} stations, and so no {self.slow} that are slow")
        return self


def layout(p: Parameters) -> Network:
    names = [f"sta{i}" for i in range(1, p.stations + 1)]
    angle = 2 * pi / p.stations
    around = {name: (p.radius * cos(i * angle), p.radius * sin(i * angle), 0.0) for i, name in enumerate(names)}
    up = [Application(source=name, destination="h1") for name in names if p.direction != "down"]
    down = [Application(source="h1", destination=name) for name in names if p.direction != "up"]
    own: list[dict[str, JsonValue]] = [{}] * (p.stations - p.slow) + [{"streams": 1, "mcs": 0}] * p.slow
    lock = {"security": p.security} | ({"passphrase": p.passphrase} if p.passphrase else {})
    return Network(
        nodes={"ap1": Node(kind="ap"), "h1": Node(kind="host")}
        | {
            name: Node(position=position, settings=its)
            for (name, position), its in zip(around.items(), own, strict=True)
        },
        links=(
            Link(nodes=("ap1", *names), kind="infrastructure", settings=lock),
            Link(nodes=("ap1", "h1"), kind="wired", settings={"delay": f"{p.delay:g}ms", "bw": p.bw}),
        ),
        applications=(*up, *down),
    )


def usual(p: Parameters) -> dict[str, Any]:
    return {"rate": 11.0}
