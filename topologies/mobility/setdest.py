# SPDX-License-Identifier: BSD-3-Clause
"""Movement files of ns-2, as `setdest`, BonnMotion and SUMO write them.

    $node_(0) set X_ 100.0
    $ns_ at 2.0 "$node_(0) setdest 250.0 100.0 5.0"

They mean what ns-2 does: from 2 s on node 0 moves straight to 250, 100 at 5 m/s and stops there, or turns wherever it
is at its next command; at 0 m/s it stops. Commands are executed in order of time; at one time, in the order of the
file. `$god_`, which knows shortest paths, is ignored. Node k is the network's k-th node, counted from 0. A node that is
not in the file stands where the topology has it.
"""

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from textwrap import shorten

from pydantic import Field

from topologies.files import File, lines, number, prefix_errors
from topologies.motion import Point, go, position_at
from topologies.network import Model, Motion, Network, Waypoint

NODE = r"\$\w+\(\s*(?P<node>\d+)\s*\)"
SET = re.compile(rf"{NODE}\s+set\s+(?P<axis>[XYZ])_\s+(?P<value>[^\s;]+)", re.ASCII)
SETDEST = re.compile(rf"{NODE}\s+setdest\s+(?P<x>\S+)\s+(?P<y>\S+)\s+(?P<speed>\S+)", re.ASCII)
AT = re.compile(r'\$\w+\s+at\s+(?P<at>\S+)\s+["{](?P<command>.*)["}]', re.ASCII)
LONGEST, FASTEST = 1e9, 1e15  # seconds, m/s


class Parameters(Model):
    file: File = Field(description="a movement file of ns-2, also in .gz")


def move(p: Parameters, network: Network, seconds: float, random: Random) -> Motion:
    names = list(network.nodes)
    starts: dict[int, dict[str, float]] = {}
    commands: dict[int, list[tuple[float, Point, float, str]]] = {}
    for place, line in _commands(p.file):
        with prefix_errors(place):
            if said := SET.fullmatch(line):
                axes = starts.setdefault(_node(said["node"], names), {})
                axes[said["axis"]] = number(said["value"])
            elif (timed := AT.fullmatch(line)) and (said := SETDEST.fullmatch(timed["command"].strip())):
                at, to = number(timed["at"], 0, LONGEST), (number(said["x"]), number(said["y"]))
                command = at, to, number(said["speed"], 0, FASTEST), place
                commands.setdefault(_node(said["node"], names), []).append(command)
            elif timed and SET.fullmatch(timed["command"].strip()):
                raise ValueError("no station jumps: X_, Y_ and Z_ are set for the start, without `at`")
            else:
                raise ValueError(
                    f'{shorten(line, 50)!r} is neither `$node_(0) set X_ 1.0` nor `$ns_ at 1.0 "$node_(0) setdest …"`'
                )
    for node, given in commands.items():
        with prefix_errors(given[0][3]):
            if lacks := {"X", "Y"} - starts.get(node, {}).keys():
                raise ValueError(f"$node_({node}) has no {' and no '.join(sorted(lacks))}_ to begin at")
    return Motion({names[node]: _waypoints(axes, commands.get(node, [])) for node, axes in starts.items()})


def _commands(file: str) -> Iterator[tuple[str, str]]:
    """Yield the lines about motion, without Tcl's comments."""
    for place, line in lines(file):
        line = re.sub(r"\s*;\s*(#.*)?$", "", line)
        asked = AT.fullmatch(line)
        if line and not line.startswith("#") and not (asked["command"] if asked else line).lstrip().startswith("$god_"):
            yield place, line


def _node(text: str, names: list[str]) -> int:
    if len(text) > 9 or int(text) >= len(names):
        raise ValueError(f"there is no node {text}: the network has {len(names)}, the first is 0")
    return int(text)


def _waypoints(axes: dict[str, float], commands: list[tuple[float, Point, float, str]]) -> list[Waypoint]:
    """Return a node's waypoints: the start of each leg, and its end if no command comes before."""
    start = axes.get("X", 0.0), axes.get("Y", 0.0), axes.get("Z", 0.0)
    way = [Waypoint(0.0, start)]
    for at, to, speed, _ in sorted(commands, key=lambda command: command[0]):
        x, y, z = position_at(way, at)
        while way and way[-1].at_s >= at:  # the goal of a leg that ends here
            way.pop()
        way.append(Waypoint(at, (x, y, z)))
        if speed > 0 and (x, y) != to:
            arrival, there = go(at, (x, y), to, speed)
            way.append(Waypoint(arrival, (*there, z)))
    return way


def write(network: Network) -> str:
    """Return a network's motion as such a file. ns-2 requires positive coordinates: if a station has others, all are
    shifted by some metres, which does not change what they hear.

    Raises ValueError for what ns-2 cannot do: stations that change their height, or come and go.
    """
    if network.presence:
        raise ValueError(f"{next(iter(network.presence))} comes and goes, which ns-2's files cannot express")
    ways = [network.motion.get(name) or (Waypoint(0.0, node.position),) for name, node in network.nodes.items()]
    corners = [[waypoint.position[axis] for way in ways for waypoint in way] for axis in (0, 1)]
    shift = [max(0, 1 - math.floor(min(corner))) if min(corner) <= 0 else 0 for corner in corners]
    extent = [math.floor(max(corner)) + by + 1 for corner, by in zip(corners, shift, strict=True)]
    text = [f"# {len(ways)} nodes; they need: load_flatgrid {extent[0]} {extent[1]}"]
    if any(shift):
        text.append(f"# shifted by {shift[0]}, {shift[1]} m")
    for node, (name, way) in enumerate(zip(network.nodes, ways, strict=True)):
        if len({waypoint.position[2] for waypoint in way}) > 1:
            raise ValueError(f"{name} changes its height, which ns-2's files cannot express")
        moved = [(at, (round(x + shift[0], 6), round(y + shift[1], 6)), z) for at, (x, y, z) in way]
        first = (*moved[0][1], moved[0][2])
        text += [f"$node_({node}) set {axis}_ {metres!r}" for axis, metres in zip("XYZ", first, strict=True)]
        for (begin, here, _), (end, to, _) in pairwise(moved):
            if here != to:
                speed = math.dist(here, to) / (end - begin)
                text.append(f'$ns_ at {begin!r} "$node_({node}) setdest {to[0]!r} {to[1]!r} {speed!r}"')
    return "\n".join(text) + "\n"
