# SPDX-License-Identifier: BSD-3-Clause
"""Motion as data: between waypoints a node moves in a straight line at constant speed; before the first and after the
last it stands.

All models and files are converted to one form: whole microseconds and millimetres, so that no later step rounds again;
from 0 s to the end of the run; and without waypoints that change nothing.
"""

import math
import reprlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from random import Random

from topologies.network import Network, Position, Span, Waypoint

Point = tuple[float, float]  # in the plane, metres
Path = Iterator[tuple[float, Point]]  # time and position of a node, in order of time, without an end
_TIME = attrgetter("at_s")


def position_at(way: Sequence[Waypoint], at_s: float) -> Position:
    """Return the position of a node with these waypoints."""
    after = bisect_right(way, at_s, key=_TIME)
    if after in (0, len(way)):
        return way[min(after, len(way) - 1)].position
    (begin, start), (end, stop) = way[after - 1], way[after]
    part = (at_s - begin) / (end - begin)
    x, y, z = (a + part * (b - a) for a, b in zip(start, stop, strict=True))
    return x, y, z


def settle(way: Iterable[Waypoint], seconds: float) -> tuple[Waypoint, ...]:
    """Return the same motion from 0 s to `seconds`, in whole microseconds and millimetres. Of waypoints with the same
    time the last counts. Raises ValueError if they are not waypoints, or if their times decrease."""
    try:
        given = [Waypoint(float(at_s), (float(x), float(y), float(z))) for at_s, (x, y, z) in way]
    except (TypeError, ValueError):
        raise ValueError(f"waypoints are times with positions of three numbers, not {reprlib.repr(way)}") from None
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
    """Return the parts of these spans that are within the duration, in whole microseconds. Raises ValueError if they
    are not spans."""
    try:
        cut = [Span(_micro(max(begin, 0.0)), _micro(min(end, seconds))) for begin, end in spans]
    except (TypeError, ValueError):
        raise ValueError(f"spans of presence are pairs of times, not {reprlib.repr(spans)}") from None
    return tuple(span for span in cut if span.from_s < span.until_s)


def _micro(at_s: float) -> float:
    return round(float(at_s), 6) + 0.0  # no -0.0


def _milli(position: Position) -> Position:
    x, y, z = (round(float(metres), 3) + 0.0 for metres in position)
    return x, y, z


def stream(draw: int, name: str) -> Random:
    """Return the random stream of this name: its values do not depend on other names."""
    return Random(f"{draw} {name}")


def follow(path: Path, z: float, seconds: float) -> list[Waypoint]:
    """Return the waypoints of a path, at one height, until `seconds` is reached."""
    way = []
    for at, (x, y) in path:
        way.append(Waypoint(at, (x, y, z)))
        if at >= seconds:
            break
    return way


def each(network: Network, seconds: float, random: Random, path: Callable[[Random], Path]) -> dict[str, list[Waypoint]]:
    """Return each node's path, drawn from its own stream."""
    draw = random.getrandbits(64)
    return {name: follow(path(stream(draw, name)), node.position[2], seconds) for name, node in network.nodes.items()}


def go(at: float, here: Point, to: Point, speed: float) -> tuple[float, Point]:
    """Return when and where a node arrives that moves there at this speed (m/s), above 0."""
    return at + math.dist(here, to) / speed, to
