# SPDX-License-Identifier: BSD-3-Clause
"""The motion of a plan: waypoints, which the air follows by itself, and the received power by distance, as a table.

So each frame meets the propagation of the instant at which it begins (`emulation.plan.distance`).

If no table fits the model, the air gets the changed powers and delays every STEP_S. Between two steps, nodes stand
still for the air.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from emulation.lane.errors import Misuse
from emulation.lane.motion import FASTEST, FASTEST_SLACK_MM, AirWaypoint, Trajectory, split_long_legs
from emulation.plan import distance
from emulation.plan.air import ReceivedPowers, excess_db, floor_dbm, gains_db, received_powers, sensed_dbm
from emulation.specification import Specification
from emulation.specification.propagation import listed
from topologies import Network, Waypoint

STEP_S = 0.1
MOST_STEPS, MOST_POWERS = 36_000, 10_000_000  # an hour; the sum for all pairs
FARTHEST_MM = 100_000_000  # from the origin, along each axis


def plan_motion(
    specification: Specification, network: Network, at_start: ReceivedPowers, owners: Sequence[int]
) -> dict[str, Any] | None:
    """Return `motion` of docs/interfaces.md, section 1; None: no node moves. `owners` is of radios. Raises Misuse."""
    if not any(len(way) > 1 for way in network.motion.values()):
        return None
    ways = {
        name: stops(name, network.motion.get(name) or [Waypoint(0, node.position)])
        for name, node in network.nodes.items()
    }
    if table := table_of(specification, network):
        check_extent(table, ways)
        return {"waypoints": ways, "table": per_radio(table.planned, owners), "steps": []}
    return {"waypoints": ways, "table": None, "steps": list(steps(specification, network, ways, at_start, owners))}


def per_radio(table: Mapping[str, Any], owners: Sequence[int]) -> dict[str, Any]:
    """Convert a table with an entry per node to one with an entry per radio."""
    of_each = {what: [table[what][owner] for owner in owners] for what in ("reach_mm2", "weaker_mdb")}
    return {**table, **of_each}


def plan_presence(
    network: Network, applications: Sequence[Mapping[str, Any]], seconds: float
) -> dict[str, list[list[float | None]]]:
    """Return `presence` of docs/interfaces.md, section 1. Raises Misuse if the source of a flow is off at its start."""
    for each in applications:
        source, start_s = each["source"], each["start_s"]
        if not any(begin <= start_s < end for begin, end in network.presence.get(source, [(0, math.inf)])):
            raise Misuse(f"{each['name']}: it starts at {start_s:g} s, when {source} is not present")
    return {
        name: [[begin, end if end < seconds else None] for begin, end in spans]
        for name, spans in network.presence.items()
    }


def stops(name: str, waypoints: Sequence[Waypoint]) -> list[AirWaypoint]:
    """Convert waypoints to microseconds and millimetres. Raises Misuse if the air cannot follow them."""
    found = [
        (round(waypoint.at_s * 1e6), *(round(metres * 1000) for metres in waypoint.position)) for waypoint in waypoints
    ]
    for at_us, *place in found:
        if max(map(abs, place)) > FARTHEST_MM:
            raise Misuse(
                f"motion of {name}: at {at_us / 1e6:g} s it is {max(map(abs, place)) / 1e6:g} km from the origin; "
                f"stations that move stay within {FARTHEST_MM / 1e6:g} km of it, along each axis"
            )
    for (before, *here), (after, *there) in pairwise(found):
        if math.dist(here, there) > (after - before) * FASTEST / 1000 + FASTEST_SLACK_MM:
            speed = math.dist(here, there) / (after - before) * 1000
            raise Misuse(
                f"motion of {name}: from {before / 1e6:g} s to {after / 1e6:g} s it goes at {speed:.0f} m/s; the air "
                f"allows {FASTEST}"
            )
    return split_long_legs(found)  # type: ignore[arg-type]


def table_of(specification: Specification, network: Network) -> distance.Table | None:
    """Return the received power by distance between a network's nodes; None if no table fits. Raises Misuse."""
    if not specification.medium.by_distance or gains_db(network).any():
        return None
    stronger, model = excess_db(specification, network), specification.medium.propagation
    return distance.table(model, stronger, table_floor_dbm(specification, network))


def no_table_reason(specification: Specification) -> str:
    """Return why the power does not depend on the distance alone, for messages."""
    medium = specification.medium
    if medium.by_distance:
        return "with antennas of several gains"
    return f"under propagation {medium.propagation.name}" if not medium.shadowing else "under shadowing"


def check_extent(table: distance.Table, trajectories: Mapping[str, Sequence[AirWaypoint]]) -> None:
    """Check distances. Raises Misuse if nodes could hear each other over more than the air's longest delay."""
    places = np.array([place for way in trajectories.values() for _, *place in way])
    apart = math.dist(places.min(axis=0), places.max(axis=0))
    if table.beyond and apart > distance.FARTHEST_MM:
        raise Misuse(
            f"motion: stations that hear each other can be {apart / 1e6:.1f} km apart; the air allows less "
            "than 9.6 km: keep them closer, or choose a propagation model that falls off faster"
        )


def table_floor_dbm(specification: Specification, network: Network) -> float:
    """Return the lowest power of a signal with an effect; with capture, of one that is sensed, less some rounding."""
    if specification.medium.reception == "capture":
        return sensed_dbm(specification, network) - 0.01
    return floor_dbm(specification, network)


def steps(
    specification: Specification, network: Network, trajectories: Mapping[str, Sequence[AirWaypoint]],
    at_start: ReceivedPowers, owners: Sequence[int],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the steps at which a received power or delay changes. Raises Misuse."""
    seconds = specification.measurement.seconds
    if seconds / STEP_S > MOST_STEPS:
        raise Misuse(
            f"{no_table_reason(specification)} motion is planned for at most {MOST_STEPS * STEP_S:g} s, not {seconds:g}"
        )
    if (powers := seconds / STEP_S * len(trajectories) ** 2) > MOST_POWERS:
        raise Misuse(
            f"{no_table_reason(specification)}: the received power between moving stations is computed for each pair "
            f"every {STEP_S:g} s, {powers / 1e6:.0f} million times; {MOST_POWERS / 1e6:.0f} at most: "
            "fewer stations, or less"
        )
    before, positions = at_start.between_radios(owners), [node.position for node in network.nodes.values()]
    for number in range(1, int(seconds / STEP_S) + 1):
        now_ns = round(number * STEP_S * 1e9)
        there = [Trajectory(trajectories[name]).at(now_ns) for name in network.nodes]
        if there == positions:
            continue
        now, positions = received_powers(specification, network, there).between_radios(owners), there
        changed = _changed(before, now)
        if changed:
            yield {
                "at_s": round(number * STEP_S, 6),
                "power_mdbm": {str(row): listed(now.power_mdbm[row]) for row in changed},
                "delay_ns": {str(row): now.delay_ns[row].tolist() for row in changed},
            }
        before = now


def _changed(before: ReceivedPowers, now: ReceivedPowers) -> list[int]:
    """Return the transmitters of which a power or delay has changed."""
    power, delay = before.power_mdbm != now.power_mdbm, before.delay_ns != now.delay_ns
    rows: list[int] = np.flatnonzero((power | delay).any(axis=1)).tolist()
    return rows
