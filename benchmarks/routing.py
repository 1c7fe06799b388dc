# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench routing`: the gain of slow congestion avoidance under different routings.

Paper 003 finds that SCA(4) carries 32 to 71 % more than NewReno over a string (claims C46, C47). Under static routes,
dcflab finds no gain. This benchmark shows why, in the papers' own simulator: the same string in ns-2 under static
routes, AODV and DSR, beside dcflab. An on-demand protocol takes each frame that the MAC gives up for a broken link."""

import itertools
from pathlib import Path
from typing import Any

from analysis.tables import statistics
from analysis.tables.table import percent
from benchmarks import pool, show_table, table
from benchmarks.compare import HERE, output
from benchmarks.manet import SAID
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import specify

ROUTINGS, STATIONS, THRESHOLDS, SECONDS = ("static", "AODV", "DSR"), (4, 5, 6, 7, 9, 11), (0, 4), 300

Goodput = dict[tuple[str, int, int], list[float]]  # routing, stations, threshold: segments by seed


def in_ns2(routing: str, stations: int, threshold: int, seed: int) -> float:
    said = SAID.search(output("ns", HERE / "peers/routing.tcl", stations, routing, threshold, SECONDS, seed))
    assert said
    return float(said[1])


def measure(seeds: int) -> Goodput:
    keys = [*itertools.product(ROUTINGS, STATIONS, THRESHOLDS)]
    every = [(*key, seed) for key in keys for seed in range(1, seeds + 1)]
    with pool() as threads:
        found = list(threads.map(in_ns2, *zip(*every, strict=True)))
    goodput: Goodput = {key: found[at * seeds : (at + 1) * seeds] for at, key in enumerate(keys)}
    tasks = [
        Task(specify("string", {"stations": stations, "seconds": SECONDS, "rts": "full", "trace": False,
                                "window_limit": 64, "tcp": "sca", "seed": seed,
                                "module_parameters": {"tcp_sca.ca_increase_thresh": str(threshold)}}),
             variant=str(threshold), case=str(stations))
        for stations, threshold in itertools.product(STATIONS, THRESHOLDS) for seed in range(1, seeds + 1)
    ]  # fmt: skip
    with scratch("bench") as folder:
        outcomes = play_with_progress(provide(), tasks, Path(folder))
    for task, outcome in zip(tasks, outcomes, strict=True):
        key = "dcflab", int(task.case), int(task.variant)
        goodput.setdefault(key, []).append(outcome.run.goodput_segments)
    return goodput


def data(goodput: Goodput) -> list[dict[str, Any]]:
    return [{"routing": r, "stations": n, "threshold": t, "segments": segments}
            for (r, n, t), segments in goodput.items()]  # fmt: skip


def show(goodput: Goodput, seeds: int) -> None:
    columns = {"dcflab": "dcflab, static", **{routing: f"ns-2, {routing}" for routing in ROUTINGS}}
    title = f"Goodput of SCA(4) against NewReno over a string, {SECONDS} s, mean of {seeds} seeds ± 95 % confidence"
    rows = table(title, "hops", *columns.values())
    for stations in STATIONS:
        gains = [statistics.relative_change(goodput[name, stations, 4], goodput[name, stations, 0]) for name in columns]
        rows.add_row(str(stations - 1), *map(percent, gains))
    show_table(rows)
