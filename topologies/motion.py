# SPDX-License-Identifier: BSD-3-Clause
"""Motion as data: between waypoints a node goes straight on, evenly; before the first and after the last it stands.

Whatever a model or a file says is brought into one form here: whole microseconds and millimetres, so that no later step
rounds again; from 0 s to the end of the run; and no waypoint that changes nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from random import Random

from topologies.network import Network, Position, Span, Waypoint

Point = tuple[float, float]  # in the plane, metres
Path = Iterator[tuple[float, Point]]  # when a node is where, in order of time; without an end
_TIME = attrgetter("at_s")


def position_at(way: Sequence[Waypoint], at_s: float) -> Position:
    """Where a node with these waypoints is."""
    after = bisect_right(way, at_s, key=_TIME)
    if after in (0, len(way)):
        return way[min(after, len(way) - 1)].position
    (begin, start), (end, stop) = way[after - 1], way[after]
    part = (at_s - begin) / (end - begin)
    x, y, z = (a + part * (b - a) for a, b in zip(start, stop, strict=True))
    return x, y, z


def settle(way: Iterable[Waypoint], seconds: float) -> tuple[Waypoint, ...]:
    """The same motion from 0 s to so many seconds, in whole microseconds and millimetres. Of waypoints at one time the
    last is taken. Raises ValueError if their times go back, or are no numbers."""
    given = [Waypoint(*waypoint) for waypoint in way]
    for before, after in pairwise(given):
        if not before.at_s <= after.at_s:
            raise ValueError(f"times of waypoints go back, from {before.at_s:g} s to {after.at_s:g} s")
    if not given:
        return ()
    end = _micro(seconds)
    within = [waypoint for waypoint in given if 0 < waypoint.at_s < end]
    ends = [Waypoint(at, position_at(given, at)) for at in (0.0, end)]
    whole = {_micro(at): _milli(position) for at, position in (ends[0], *within, ends[1])}
    settled: list[Waypoint] = []
    for at, position in whole.items():
        if len(settled) > 1 and settled[-1].position == settled[-2].position == position:
            settled.pop()
        settled.append(Waypoint(at, position))
    if len(settled) > 1 and settled[-1].position == settled[-2].position:
        settled.pop()
    return tuple(settled)


def settle_spans(spans: Iterable[Span], seconds: float) -> tuple[Span, ...]:
    """The parts of these spans of time that are within so many seconds, in whole microseconds."""
    cut = (Span(_micro(max(begin, 0.0)), _micro(min(end, seconds))) for begin, end in spans)
    return tuple(span for span in cut if span.from_s < span.until_s)


def _micro(at_s: float) -> float:
    return round(float(at_s), 6) + 0.0  # no -0.0


def _milli(position: Position) -> Position:
    x, y, z = (round(float(metres), 3) + 0.0 for metres in position)
    return x, y, z


def stream(draw: int, name: str) -> Random:
    """A stream of random numbers of this name's own: what it yields does not depend on what other names there are."""
    return Random(f"{draw} {name}")


def follow(path: Path, z: float, seconds: float) -> list[Waypoint]:
    """The waypoints of a path, at one height, until so many seconds are over."""
    way = []
    for at, (x, y) in path:
        way.append(Waypoint(at, (x, y, z)))
        if at >= seconds:
            break
    return way


def each(network: Network, seconds: float, random: Random, path: Callable[[Random], Path]) -> dict[str, list[Waypoint]]:
    """A path of its own for each node, drawn from a stream of its own."""
    draw = random.getrandbits(64)
    return {name: follow(path(stream(draw, name)), node.position[2], seconds) for name, node in network.nodes.items()}


def go(at: float, here: Point, to: Point, speed: float) -> tuple[float, Point]:
    """When and where a node is that goes there at this speed (m/s), above 0."""
    return at + math.dist(here, to) / speed, to
