# SPDX-License-Identifier: BSD-3-Clause
"""Motion, step by step: where moving nodes are every tenth of a second, and which powers and delays change by it.

Between two steps a node stands. A frame's power is therefore that of at most STEP_S ago; at 30 m/s, of three metres.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from emulation.plan.air import Heard, heard
from emulation.plan.errors import PlanError
from emulation.specification import Specification
from topologies import Network, Waypoint

STEP_S = 0.1
MOST_STEPS = 36_000  # an hour


def position_at(waypoints: tuple[Waypoint, ...], seconds: float) -> tuple[float, float, float]:
    """Where a node is: on the straight line between the waypoints before and after; before the first and after the
    last, at these."""
    times = [waypoint.at_s for waypoint in waypoints]
    columns = zip(*(waypoint.position for waypoint in waypoints), strict=True)
    x, y, z = (float(np.interp(seconds, times, column)) for column in columns)
    return x, y, z


def plan_motion(specification: Specification, network: Network, standing: Heard) -> list[dict[str, Any]]:
    """docs/interfaces.md, section 1, `motion`: the steps at which something changes. Raises PlanError."""
    moving = {name: way for name, way in network.motion.items() if way}
    if not moving:
        return []
    seconds = specification.measurement.seconds
    if seconds / STEP_S > MOST_STEPS:
        raise PlanError(f"motion is planned for at most {MOST_STEPS * STEP_S:g} s, not {seconds:g}")
    positions = {name: node.position for name, node in network.nodes.items()}
    before, steps = standing, []
    for number in range(1, int(seconds / STEP_S) + 1):
        there = {name: position_at(way, number * STEP_S) for name, way in moving.items()}
        there = {name: position for name, position in there.items() if position != positions[name]}
        if not there:
            continue
        positions |= there
        now = heard(specification, network, list(positions.values()))
        changed = _changed(before, now)
        steps.append(
            {
                "at_s": round(number * STEP_S, 6),
                "positions": {name: list(position) for name, position in there.items()},
                "power_mdbm": {str(row): now.power_mdbm[row].tolist() for row in changed},
                "delay_ns": {str(row): now.delay_ns[row].tolist() for row in changed},
            }
        )
        before = now
    return steps


def _changed(before: Heard, now: Heard) -> list[int]:
    """The transmitters from which something else arrives somewhere."""
    power = before.power_mdbm.filled(-(1 << 30)) != now.power_mdbm.filled(-(1 << 30))
    rows: list[int] = np.flatnonzero((power | (before.delay_ns != now.delay_ns)).any(axis=1)).tolist()
    return rows
