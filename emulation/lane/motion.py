# SPDX-License-Identifier: BSD-3-Clause
"""The motion of nodes.

A trajectory is a list of waypoints, in microseconds and millimetres. Between two waypoints a node moves straight, at
constant speed. The air has the same trajectories and computes received powers from them (`dcf80211/core/motion.c`).
This file computes positions for everything else.
"""

from __future__ import annotations

import bisect
import math
import time
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node
    from traffic.loop import Loop

Position = tuple[float, float, float]  # in metres
AirWaypoint = tuple[int, int, int, int]  # time in µs, and mm along each axis

FASTEST, FASTEST_SLACK_MM = 1000, 2  # in m/s; tolerance for rounding
LONGEST_US = 1 << 31  # of a leg: the air's arithmetic allows less than twice that


class Trajectory:
    """A node's positions over time. The times of `stops` count from `since_ns`."""

    def __init__(self, waypoints: Sequence[AirWaypoint], since_ns: int = 0) -> None:
        self.waypoints, self.since_ns = waypoints, since_ns

    def at(self, now_ns: int) -> Position:
        """Return the position in metres; before the first waypoint, the first one; after the last, the last one."""
        us = (now_ns - self.since_ns) / 1000
        after = bisect.bisect_right(self.waypoints, us, key=lambda waypoint: waypoint[0])
        (before_us, *here), (after_us, *there) = (
            self.waypoints[max(after - 1, 0)],
            self.waypoints[min(after, len(self.waypoints) - 1)],
        )
        part = min(max((us - before_us) / ((after_us - before_us) or 1), 0.0), 1.0)
        x, y, z = ((a + (b - a) * part) / 1000 for a, b in zip(here, there, strict=True))
        return x, y, z


def at_rest(position: Position) -> Trajectory:
    return Trajectory([(0, *millimetres(position))])


def millimetres(position: Sequence[float]) -> tuple[int, int, int]:
    x, y, z = (round(metres * 1000) for metres in position)
    return x, y, z


def split_long_legs(waypoints: Sequence[AirWaypoint]) -> list[AirWaypoint]:
    """Return the same trajectory with additional waypoints, so that no leg is too long for the air."""
    found = list(waypoints[:1])
    for at, x, y, z in waypoints[1:]:
        before, *here = found[-1]
        parts = 1 if [x, y, z] == here else -(-(at - before) // LONGEST_US)
        for part in range(1, parts + 1):
            there = (a + (b - a) * part // parts for a, b in zip((before, *here), (at, x, y, z), strict=True))
            found.append(tuple(there))  # type: ignore[arg-type]
    return found


def straight_line(here: Position, to: Position, speed: float, since_ns: int) -> Trajectory:
    """Return the straight line from one position to another at `speed` m/s, starting at `since_ns`."""
    begin, end = millimetres(here), millimetres(to)
    return Trajectory(
        split_long_legs([(0, *begin), (max(math.ceil(math.dist(begin, end) * 1000 / speed), 1), *end)]), since_ns
    )


class Motion:
    """The motion of a network: that of the plan (docs/interfaces.md, section 1), and that of scripts."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self.air_has_trajectories = False  # whether the air has the power by distance, and all trajectories
        self.moves: list[dict[str, Any]] = []  # made by a script
        self.last: dict[str, dict[str, Any]] = {}  # the latest of each node
        self.changes: list[dict[str, Any]] = []  # all changes sent to the air

    def start(self, plan: dict[str, Any] | None, loop: Loop, began_ns: int) -> None:
        """Start the plan's motion when a measurement begins. Raises NetlinkError if the air refuses."""
        self.moves = list(self.last.values())  # earlier moves that still apply
        if not plan:
            return
        self.last.clear()
        self.moves.clear()
        for name, waypoints in plan["waypoints"].items():
            self.net.nodes[name].trajectory = Trajectory([(at, x, y, z) for at, x, y, z in waypoints], began_ns)
        if plan["table"]:
            self._send_all(plan["table"])
        for step in plan["steps"]:
            loop.at(began_ns + round(step["at_s"] * 1e9), partial(self.step, step))

    def use_distances(self, table: dict[str, Any]) -> None:
        """Send the power by distance and all trajectories to the air, for a script."""
        self._change(table=table)
        for node in self._on_air():
            self._change(node=node.name, since_ns=node.trajectory.since_ns, stops=node.trajectory.waypoints)
        self._send_all(table)

    def _send_all(self, table: dict[str, Any]) -> None:
        if air := self.net.air:
            air.set_table(table)
            for node in self._on_air():
                air.set_trajectory(node.name, node.trajectory)
            self.air_has_trajectories = True

    def _on_air(self) -> list[Node]:
        return [node for node in self.net.nodes.values() if node.on_air]

    def _change(self, **what: Any) -> None:
        self.changes.append({"at_ns": time.monotonic_ns(), **what})

    def widen(self, more: int) -> None:
        """Give earlier changes room for radios that are added now, at which nothing arrived."""
        for change in self.changes:
            for what, nothing in (("power_mdbm", None), ("delay_ns", 0)):
                for row in change.get(what, ()):
                    row += [nothing] * more
            if table := change.get("table"):
                change["table"] = table | {what: [*table[what], *[0] * more] for what in ("reach_mm2", "weaker_mdb")}

    def powers(self, node: Node, power_mdbm: Sequence[list[Any]], delay_ns: Sequence[list[Any]]) -> None:
        """Set a node's powers and delays for a script, in both directions; the matrices are [sender][receiver]."""
        if not self.net.air:
            return
        for at in (at for at, name in enumerate(self.net.air.names) if name == node.name):
            both = [[all_[at], [row[at] for row in all_]] for all_ in (power_mdbm, delay_ns)]
            self._change(node=node.name, power_mdbm=both[0], delay_ns=both[1])
        self.net.air.set_powers(dict(enumerate(power_mdbm)), dict(enumerate(delay_ns)))

    def override_settings(self, node: Node, own: dict[str, int]) -> None:
        """Set a radio's own retry limits or thresholds for a script."""
        if self.net.air:
            self._change(node=node.name, own=own)
            self.net.air.override_settings(node.name, own)

    def step(self, step: dict[str, Any]) -> None:
        if self.net.air:
            self.net.air.set_powers(_rows(step["power_mdbm"]), _rows(step["delay_ns"]))

    def move(self, node: Node, trajectory: Trajectory, speed: float | None) -> None:
        """Move a node along a trajectory for a script, from now on; without a speed it arrives at once."""
        _, *to = trajectory.waypoints[-1]
        move = {"node": node.name, "at_ns": time.monotonic_ns(), "from": list(node.position)}
        self.last[node.name] = {**move, "to": [mm / 1000 for mm in to], "speed": speed}
        self.moves.append(self.last[node.name])
        self.set_trajectory(node, trajectory)

    def set_trajectory(self, node: Node, trajectory: Trajectory) -> None:
        """Give a node a new trajectory, and send it to the air."""
        node.trajectory = trajectory
        if self.air_has_trajectories and self.net.air and node.on_air:
            self._change(node=node.name, since_ns=trajectory.since_ns, stops=trajectory.waypoints)
            self.net.air.set_trajectory(node.name, trajectory)

    def report(self, started_ns: int) -> list[dict[str, Any]]:
        """Return the moves of scripts: `moves` of lane.json (docs/interfaces.md, section 2)."""
        return [
            {"at_s": (move["at_ns"] - started_ns) / 1e9, **{key: move[key] for key in ("node", "from", "to", "speed")}}
            for move in self.moves
        ]


def _rows(changed: dict[str, list[Any]]) -> dict[int, list[Any]]:
    """Convert the keys of matrix rows to int, as JSON has only strings."""
    return {int(index): row for index, row in changed.items()}
