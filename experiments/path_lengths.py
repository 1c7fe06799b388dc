# SPDX-License-Identifier: BSD-3-Clause
"""How long paths are when stations move by random waypoint: paper 003, section 4.4 (claim C68).

50 stations in a strip of 1500x300 m and a square of 1000x1000 m, without a pause, at up to 2, 5 and 15 m/s; one flow
over DSR. Paper 003 says that paths are rarely longer than three hops. That follows from how stations move: C68 is
decided by the shortest paths of all pairs, without a run. A run shows those that DSR takes.
"""

from typing import Any

import numpy as np

from analysis.tables.claims import Check, Claim, Of
from experiments import LINUX, NS2, Column, Study

SHORT, MEAN = "flows.0.route.short_share", "flows.0.route.hops_mean"
AREAS = {"strip": "1500x300", "square": "1000x1000"}
CASES = {f"{name} {vmax}": {"area": area, "vmax": vmax} for name, area in AREAS.items() for vmax in (2, 5, 15)}

PAIRS = "shortest paths over at most three hops, share"
EVERY_S, MOST = 2, 3


def short_paths(task: Any) -> float:
    """Of all pairs with a path, at one moment after the other: the share whose shortest has at most three hops."""
    network, ranges = task.plan["motion"]["waypoints"].values(), task.specification.medium.ranges
    times = np.arange(0, task.plan["seconds"], EVERY_S) * 1e6
    at = np.array([[np.interp(times, *np.array(way).T[[0, axis]]) for axis in (1, 2)] for way in network])
    apart = np.hypot(*(at[:, np.newaxis] - at).transpose(2, 0, 1, 3)) / 1000
    near = (apart <= (ranges.transmission_m if ranges else 250)).transpose(2, 0, 1)
    reached, by_hops = np.eye(len(at), dtype=bool) & near, list[int]()
    while not by_hops or by_hops[-1]:
        further = np.matmul(reached.astype(np.float32), near.astype(np.float32)) > 0
        by_hops.append(int((further & ~reached).sum()))
        reached |= further
    return sum(by_hops[:MOST]) / sum(by_hops)


STUDY = Study(
    name="path-lengths",
    title="Path lengths under random waypoint: 50 stations, DSR (paper 003, section 4.4)",
    topology="mobile",
    options={**NS2, "routing": "dsr,preset=thesis", "window_limit": 64, "seconds": 300, "tcp_trace": False},
    cases=CASES,
    rows="m/s",
    seeds="1..5",
    variants={"newreno": {"tcp": "newreno"}},
    names={"newreno": "NewReno"},
    quantities={
        SHORT: "segments over at most three hops",
        MEAN: "hops, mean of segments",
        "flows.0.route.length_mean": "hops, mean over time",
        "flows.0.route.changes": "route changes",
        "goodput_kbps": "goodput, kb/s",
    },
    column=Column.PUBLISHED,
    also={Column.TODAY: {**LINUX, "routing": "dsr"}},
    reckoned={PAIRS: short_paths},
    claims=[
        Claim("C68", "nine of ten shortest paths have at most three hops",
              [Check(Of("newreno", PAIRS, case), ">=", 0.9) for case in CASES]),
        Claim("segments", "nine of ten segments go over at most three hops",
              [Check(Of("newreno", SHORT, case), ">=", 0.9) for case in CASES], of=()),
    ],
)  # fmt: skip
