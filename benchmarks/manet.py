# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench manet`: what a flow delivers between stations that move, beside ns-2 with the same movement file.

50 stations in a strip, one NewReno flow, 300 s, over ns-2's own AODV and DSR there and their presets `cmu` here, under
ns-2's rules; a movement of its own for each seed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks import asked
from benchmarks.compare import HERE, output
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import Specification, specify

ROUTINGS, STATIONS, AREA, VMAX, SECONDS = ("AODV", "DSR"), 50, (1500, 300), 10, 300
SAID = re.compile(r"acknowledged (\d+) timeouts (\d+)")


def specification(routing: str, seed: int) -> Specification:
    return specify("mobile", {
        "stations": STATIONS, "area": "x".join(map(str, AREA)), "vmax": VMAX, "seconds": SECONDS, "seed": seed,
        "routing": f"{routing.lower()},preset=cmu", "like": "ns2", "rts": "full", "tcp": "newreno", "window_limit": 64,
        "trace": False,
    })  # fmt: skip


def in_ns2(routing: str, seed: int, folder: Path) -> int:
    movement = folder / f"{routing}-{seed}.setdest"
    moving = ("mobile", "--stations", STATIONS, "--area", "x".join(map(str, AREA)), "--vmax", VMAX)
    output(HERE.parent / "dcflab", "motion", *moving, "--seconds", SECONDS, "--seed", seed, "--out", movement)
    command = ["ns", HERE / "peers/mobile.tcl", movement, STATIONS, *AREA, routing, SECONDS, seed]
    said = SAID.search(output(*command))
    assert said
    return int(said[1])


def measure(seeds: int) -> dict[str, list[dict[str, int]]]:
    keys = [(routing, seed) for routing in ROUTINGS for seed in range(1, seeds + 1)]
    with scratch("bench") as name, ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        theirs = list(pool.map(lambda routing, seed: in_ns2(routing, seed, Path(name)), *zip(*keys, strict=True)))
        tasks = [Task(specification(*key), variant=key[0]) for key in keys]
        ours = [outcome.run.goodput_segments for outcome in play_with_progress(provide(), tasks, Path(name) / "runs")]
    rows = [{"seed": key[1], "ns-2": a, "dcflab": b} for key, a, b in zip(keys, theirs, ours, strict=True)]
    return {routing: rows[at * seeds : (at + 1) * seeds] for at, routing in enumerate(ROUTINGS)}


def main(as_json: bool, repeats: int) -> int:
    from rich.console import Console
    from rich.table import Table

    found = measure(repeats)
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    title = f"Segments in {SECONDS} s between {STATIONS} stations that move, by seed: ns-2, dcflab"
    table = Table("", *(str(seed) for seed in range(1, repeats + 1)), "all", title=title, title_justify="left")
    for routing, rows in found.items():
        for who in ("ns-2", "dcflab"):
            each = [row[who] for row in rows]
            table.add_row(f"{routing}, {who}", *(f"{n:,}" for n in each), f"{sum(each):,}")
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(*asked(__doc__)))
