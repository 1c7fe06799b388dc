# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the page, each checked before it reaches the lane."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from emulation.features.live.pace import FASTEST, SLOWEST
from emulation.lane.errors import Misuse
from emulation.specification import explain

FARTHEST_M = 100_000  # from the origin, along each axis: the air's limit
LONGEST_NS = 10_000_000_000  # of a step
Metres = Annotated[float, Field(ge=-FARTHEST_M, le=FARTHEST_M)]
Name = Annotated[str, Field(min_length=1, max_length=40)]


class Verb(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Move(Verb):
    do: Literal["move"]
    node: Name
    position: Annotated[list[Metres], Field(min_length=2, max_length=3)]


class Set(Verb):
    do: Literal["set"]
    node: Name | None = None
    rts: Literal["full", "partial", "none"] | None = None
    rate: float | None = None
    tx_power_dbm: float | None = None

    def values(self) -> dict[str, Any]:
        return {name: value for name, value in self if name not in ("do", "node") and value is not None}


class Tcp(Verb):
    do: Literal["tcp"]
    flow: Name | None = None
    congestion: Name


class Start(Verb):
    do: Literal["start"]
    source: Name
    destination: Name
    tcp: Name | None = None


class Stop(Verb):
    do: Literal["stop"]
    flow: Name


class Switch(Verb):
    do: Literal["switch"]
    node: Name
    on: bool


class Routing(Verb):
    do: Literal["routing"]
    kind: Name


class Pace(Verb):
    do: Literal["pace"]
    pace: Annotated[float, Field(ge=SLOWEST, le=FASTEST)]


class Plain(Verb):
    do: Literal["run", "pause", "end"]


class Step(Verb):
    do: Literal["step"]
    to: Literal["slot", "frame", "exchange", "collision", "ns"]
    ns: Annotated[int, Field(ge=1, le=LONGEST_NS)] | None = None


class Save(Verb):
    do: Literal["save"]
    name: Name | None = None


class Back(Verb):
    do: Literal["back"]
    moment: Name


AnyVerb = Move | Set | Tcp | Start | Stop | Switch | Routing | Pace | Plain | Step | Save | Back
ADAPTER: TypeAdapter[AnyVerb] = TypeAdapter(Annotated[AnyVerb, Field(discriminator="do")])


def read(body: bytes) -> AnyVerb:
    """Return a verb from JSON. Raises Misuse."""
    try:
        return ADAPTER.validate_json(body)
    except ValidationError as error:
        raise Misuse("; ".join(explain(error))) from None


def to_json(**what: Any) -> bytes:
    """Return an answer as JSON."""
    return json.dumps(what).encode()
