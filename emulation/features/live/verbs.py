# SPDX-License-Identifier: BSD-3-Clause
"""The verbs of the page, each checked before it reaches the lane, and its requests for the lane's program
(`inside.program`)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from emulation.features.live import show
from emulation.features.live.pace import FASTEST, SLOWEST
from emulation.lane.errors import Misuse
from emulation.specification import explain
from traffic import tcp as variants

FARTHEST_M = 100_000  # from the origin, along each axis: the air's limit
LONGEST_NS = 10_000_000_000  # of a step
Metres = Annotated[float, Field(ge=-FARTHEST_M, le=FARTHEST_M)]
Name = Annotated[str, Field(min_length=1, max_length=40)]


class Verb(BaseModel, extra="forbid", allow_inf_nan=False): ...


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


def requests(verb: AnyVerb, plan: Mapping[str, Any], latest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the requests for a verb, in the network of this plan, whose latest state is `latest`. Raises Misuse."""
    radios = list(dict.fromkeys(show.radios(plan)))
    match verb:
        case Move(node=node, position=position):
            _known("node", node, radios)
            return [{"do": "move", "node": node, "position": [round(each, 3) for each in (*position, 0.0)][:3]}]
        case Set(node=node):
            _known("node", node or radios[0], radios)
            if not (values := verb.values()):
                raise Misuse("set: there is no value; give rts, rate or tx_power_dbm")
            names = [node] if node else radios
            return [
                {"do": "set", "node": each, "name": name, "value": values[name]} for each in names for name in values
            ]
        case Tcp(flow=flow, congestion=congestion):
            flows = latest["flows"]
            _known("flow", flow or next(iter(flows), ""), list(flows))
            names = [flow] if flow else [name for name in flows if flows[name]["running"]]
            return [{"do": "tcp", "flow": name, "name": _tcp(congestion)} for name in names]
        case Start(source=source, destination=destination, tcp=tcp):
            for name in (source, destination):
                _known("node", name, [node["name"] for node in plan["nodes"]])
            if source == destination:
                raise Misuse(f"start: {source} is both source and destination; choose two different nodes")
            return [{"do": "start", "source": source, "destination": destination, "name": _tcp(tcp)}]
        case Stop(flow=flow):
            _known("flow", flow, list(latest["flows"]))
            return [{"do": "stop", "flow": flow}]
        case Switch(node=node, on=on):
            _known("node", node, radios)
            return [{"do": "switch", "node": node, "on": on}]
        case Routing():
            return [{"do": "reroute"}]
    raise Misuse(f"{verb.do}: the network has no such action; reload the page")


def _tcp(name: str | None) -> str:
    """Check the name of a TCP; None means that of the network's flows. Raises Misuse."""
    try:
        return name if name and variants.find(name) else ""
    except ValueError as error:
        raise Misuse(f"tcp: {error}") from None


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise Misuse(f"there is no {what} {name}; there are: {', '.join(names) or 'none'}")
