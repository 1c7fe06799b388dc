# SPDX-License-Identifier: BSD-3-Clause
"""Traces of SUMO (`--fcd-output`, floating car data): the position of each vehicle, person or container at each step.

    <fcd-export> <timestep time="0.00"> <vehicle id="veh0" x="12.5" y="3.1" …/> … </timestep> … </fcd-export>

Each of them is a station, present from its first timestep until one that no longer has it. Between timesteps it moves
in a straight line. If all have names of nodes, each is that node; otherwise the first to appear is the network's first
node, the second its second, and so on. Remaining nodes, such as roadside units, stand where the topology has them.
"""

from __future__ import annotations

import math
from random import Random
from xml.parsers import expat

from pydantic import Field

from topologies.files import File, number, opened, prefix_errors
from topologies.motion import settle_spans
from topologies.network import Model, Motion, Network, Span, Waypoint

OBJECTS = ("vehicle", "person", "container")
LONGEST = 1e9  # seconds


class Parameters(Model):
    file: File = Field(description="an FCD trace of SUMO, in metres (not --fcd-output.geo), also in .gz")
    begin: float = Field(0.0, ge=0, le=LONGEST, description="the trace's second at which the run begins")
    first: int | None = Field(None, ge=1, description="at most this many: those that come first")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> Motion:
    trace = read(p.file, p.begin)
    with prefix_errors(p.file):
        there = [thing for thing, spans in trace.spans.items() if settle_spans(spans, seconds)]
        names = _names(there[: p.first], list(network.nodes))
    return Motion({name: trace.ways[thing] for thing, name in names.items()},
                  {name: trace.spans[thing] for thing, name in names.items()})  # fmt: skip


def read(file: File, begin: float = 0.0) -> Trace:
    """Read a trace; its times count from the second `begin`. Raises ValueError with file and line, or OSError."""
    trace = Trace(begin)
    parser = expat.ParserCreate()
    parser.StartElementHandler = trace.element
    parser.StartDoctypeDeclHandler = _no_doctype
    with opened(file) as stream:
        try:
            parser.ParseFile(stream)
        except expat.ExpatError as error:
            raise ValueError(f"{file}, line {error.lineno}: {expat.ErrorString(error.code)}") from None
        except ValueError as error:
            raise ValueError(f"{file}, line {parser.CurrentLineNumber}: {error}") from None
    trace.end()
    return trace


def _no_doctype(*_: object) -> None:
    raise ValueError("a DOCTYPE, which no trace of SUMO has")


def _names(things: list[str], nodes: list[str]) -> dict[str, str]:
    """Return the node of each of them."""
    if set(things) <= set(nodes):
        return {thing: thing for thing in things}
    if len(things) > len(nodes):
        raise ValueError(
            f"the trace has {len(things)} vehicles or persons, the network {len(nodes)} nodes; use first={len(nodes)}"
        )
    return dict(zip(things, nodes, strict=False))


class Trace:
    """The trace so far: waypoints and presence, with times from the start of the run."""

    def __init__(self, begin: float) -> None:
        self.begin = begin
        self.ways: dict[str, list[Waypoint]] = {}
        self.spans: dict[str, list[Span]] = {}
        self.since: dict[str, float] = {}  # those present now, since when
        self.now: dict[str, Waypoint] = {}
        self.at_s: float | None = None
        self.root = False

    def element(self, name: str, attributes: dict[str, str]) -> None:
        if not self.root and name != "fcd-export":
            raise ValueError(f"<{name}> where <fcd-export> begins: this is not an FCD trace")
        self.root = True
        if name == "timestep":
            at_s = number(_said(attributes, "time"), 0, LONGEST) - self.begin
            if self.at_s is not None and at_s <= self.at_s:
                raise ValueError(f"timestep {attributes['time']} comes after {self.at_s + self.begin:g}")
            self._step(at_s)
        elif name in OBJECTS:
            thing = _said(attributes, "id")
            if self.at_s is None:
                raise ValueError(f"<{name}> outside of a <timestep>")
            if thing in self.now:
                raise ValueError(f"{thing} is given twice in this timestep")
            x, y = (number(_said(attributes, axis)) for axis in "xy")
            self.now[thing] = Waypoint(self.at_s, (x, y, number(attributes.get("z", "0"))))

    def _step(self, at_s: float) -> None:
        """End the previous timestep; begin another."""
        for thing, waypoint in self.now.items():
            self.since.setdefault(thing, waypoint.at_s)
            self.ways.setdefault(thing, []).append(waypoint)
            self.spans.setdefault(thing, [])  # in order of appearance
        for thing in [thing for thing in self.since if thing not in self.now]:
            assert self.at_s is not None
            self.spans[thing].append(Span(self.since.pop(thing), self.at_s))
        self.now, self.at_s = {}, at_s

    def end(self) -> None:
        """End the trace. What is present now, stays."""
        self._step(math.inf)
        for thing, since in self.since.items():
            self.spans[thing].append(Span(since, math.inf))


def _said(attributes: dict[str, str], name: str) -> str:
    if name not in attributes:
        raise ValueError(f"{name} is missing")
    return attributes[name]
