# SPDX-License-Identifier: BSD-3-Clause
"""The taps' own computation of motion agrees with the core's: the same links at the same times."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from dcf import US, Core
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from analysis.taps.signals import Links, attowatts
from emulation.plan.distance import table
from emulation.specification.propagation import Disc, LogDistance, Propagation, TwoRayGround

MODELS = (TwoRayGround(), Disc(), LogDistance(exponent=4.0))
N, S, LONGEST_NS = 5, 1_000_000, 30_000_000_000


def walk(random: Random) -> list[list[int]]:
    """Up to ten legs, some of which are pauses."""
    at, place, way = random.randrange(S), [random.randint(-500_000, 500_000) for _ in range(3)], []
    for _ in range(random.choice([1, 2, 11])):
        way.append([at, *place])
        at += random.randrange(1, 4 * S)
        if random.random() < 0.8:
            most = (at - way[-1][0]) // 2
            place = [axis + random.randint(-most, most) for axis in place]
    return way


def run(random: Random, model: Propagation) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a plan and later changes: positions, transmit powers, and values for single pairs."""

    def planned() -> dict[str, Any]:
        found = table(model, np.array([random.choice([0.0, -3.0, 7.5]) for _ in range(N)]), -90.0)
        assert found
        return found.planned

    def given_now() -> tuple[list[list[int | None]], list[list[int]]]:
        power = [[random.choice([None, -70_000, -60_123]) for _ in range(N)] for _ in range(N)]
        return power, [[random.randrange(3000) for _ in range(N)] for _ in range(N)]

    power, delay = given_now()
    names = [f"sta{i}" for i in range(N)]
    nodes = [{"name": name, "interfaces": [{"kind": "radio", "address": "", "ip": None}]} for name in names]
    steps = []
    for at_s in (3.5, 4.0):
        rows = [str(row) for row in random.sample(range(N), 2)]
        power_then, delay_then = (dict(zip(rows, what, strict=False)) for what in given_now())
        steps.append({"at_s": at_s, "power_mdbm": power_then, "delay_ns": delay_then})
    motion = {"waypoints": {name: walk(random) for name in names}, "table": planned(), "steps": steps}
    changes: list[dict[str, Any]] = []
    for at in sorted(random.randrange(5, 30) * 1_000_000_000 for _ in range(6)):
        node, what = random.choice(names), random.randrange(3)
        if what == 0:
            changes.append({"at_ns": at, "table": planned()})
        elif what == 1:
            changes.append({"at_ns": at, "node": node, "since_ns": at, "stops": walk(random)})
        else:
            mdbm, ns = given_now()
            changes.append({"at_ns": at, "node": node, "power_mdbm": mdbm[:2], "delay_ns": ns[:2]})
    return {"air": {"power_mdbm": power, "delay_ns": delay}, "nodes": nodes, "motion": motion}, changes


def follow(core: Core, change: dict[str, Any]) -> None:
    """Apply a change, or a step, to the core."""
    if "table" in change:
        core.by_distance(change["table"])
        return
    if "stops" in change:
        assert core.move(int(change["node"][3:]), *(tuple(stop) for stop in change["stops"]), since=change["since_ns"])
        return
    if "node" in change:
        one, (sent, got), (late, later) = int(change["node"][3:]), change["power_mdbm"], change["delay_ns"]
        found = [(one, to, *what) for to, what in enumerate(zip(sent, late, strict=True))]
        found += [(by, one, *what) for by, what in enumerate(zip(got, later, strict=True))]
    else:
        rows = change["power_mdbm"]
        found = [(int(by), to, rows[by][to], change["delay_ns"][by][to]) for by in rows for to in range(N)]
    for by, to, power, delay in found:
        if by != to:
            core.link(by, to, int(attowatts(power)), delay)


@given(st.integers(0, 2**32), st.sampled_from(MODELS))
@examples(30)
def test_links_are_the_cores_whatever_changes(seed: int, model: Propagation) -> None:
    """At any nanosecond: the same delay, the same power within a millionth, and nothing arrives where nothing
    should."""
    random = Random(seed)
    plan, changes = run(random, model)
    air, motion = plan["air"], plan["motion"]
    links = Links.of_run(plan, [node["name"] for node in plan["nodes"]], US, changes)
    core = Core(attowatts(air["power_mdbm"]).astype(int).tolist(), air["delay_ns"], reception=1)
    todo = [(US + round(step["at_s"] * 1e9), step) for step in motion["steps"]]
    ways = [{"node": name, "since_ns": US, "stops": way} for name, way in motion["waypoints"].items()]
    todo += [(US, each) for each in ({"table": motion["table"]}, *ways)]
    todo = sorted([*todo, *((change["at_ns"], change) for change in changes)], key=lambda each: each[0])
    for at in sorted(random.randrange(LONGEST_NS) for _ in range(40)):
        while todo and todo[0][0] <= at:
            core.run(todo[0][0])
            follow(core, todo.pop(0)[1])
        core.run(at)
        sender, receiver = np.nonzero(~np.eye(N, dtype=bool))
        power, delay = links.between(sender, receiver, np.array(at))
        for by, to, found, late in zip(sender.tolist(), receiver.tolist(), power, delay, strict=True):
            known = core.link_now(by, to)
            assert (found > 0) == (known.power_aw > 0) and abs(found - known.power_aw) <= 2 + known.power_aw * 1e-6
            assert late == known.delay_ns or not known.power_aw
