# SPDX-License-Identifier: BSD-3-Clause
"""Scripted: the waypoints of moving nodes are given in the parameters or in a file, and when nodes are present.

A JSON file has the same form as the parameters: {"waypoints": {"sta1": [[0, 10, 20], [60, 310, 20]]}, "presence":
{"sta1": [[0, 40]]}}. A CSV file has a line per waypoint: node, time, x, y and optionally z; lines of several nodes may
be mixed. Times are in seconds, positions in metres. A node that is not named stands where the topology has it.
"""

import csv
from random import Random
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from topologies.files import File, lines, number, opened, prefix_errors
from topologies.network import Model, Motion, Network, Span, Waypoint

LONGEST = 1e9  # seconds


def _flat(value: Any) -> Any:
    """Convert a waypoint that is written as time, x, y and optionally z."""
    if isinstance(value, list | tuple) and len(value) in (3, 4):
        return value[0], (*value[1:], 0.0)[:3]
    return value


class Script(Model):
    waypoints: dict[str, list[Annotated[Waypoint, BeforeValidator(_flat)]]] = Field(
        {}, description="by node: time, x, y and perhaps z of each"
    )
    presence: dict[str, list[Span]] = Field({}, description="by node: from when until when it is there, if not always")


class Parameters(Script):
    file: File | None = Field(None, description="a file that has them, in .json or .csv")

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.file) == bool(self.waypoints or self.presence):
            raise ValueError("give either a file, or waypoints and presence")
        return self


def move(p: Parameters, network: Network, seconds: float, random: Random) -> Motion:
    if p.file is None:
        return Motion(p.waypoints, p.presence)
    if p.file.removesuffix(".gz").endswith(".csv"):
        return Motion(_of_csv(p.file, network))
    with opened(p.file) as stream:
        try:
            script = Script.model_validate_json(stream.read())
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ValueError(f"{p.file}: {place}: {first['msg']}".replace(": : ", ": ")) from None
    return Motion(script.waypoints, script.presence)


def _of_csv(file: str, network: Network) -> dict[str, list[Waypoint]]:
    ways: dict[str, list[Waypoint]] = {}
    for place, line in lines(file):
        with prefix_errors(place):
            cells = [cell.strip() for cell in next(csv.reader([line]), [])]
            if not cells or cells[0].startswith("#") or (not ways and cells[:1] == ["node"]):
                continue
            if len(cells) not in (4, 5):
                raise ValueError(f"{len(cells)} cells; a row has node, time, x, y and optionally z")
            name, at = cells[0], number(cells[1], 0, LONGEST)
            if name not in network.nodes:
                raise ValueError(f"there is no node {name}")
            way = ways.setdefault(name, [])
            if way and at <= way[-1].at_s:
                raise ValueError(f"after {way[-1].at_s:g} s of {name} comes {at:g} s")
            x, y, z = (*map(number, cells[2:]), 0.0)[:3]
            way.append(Waypoint(at, (x, y, z)))
    return ways
