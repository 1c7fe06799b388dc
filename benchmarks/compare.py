# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench speed`: the seeds' string in dcflab, ns-2 and ns-3, in turn, and the core alone.

All run the same three RTS/CTS strategies for 120 s of air time, in turns, so that a slow moment of the machine hits all
of them. dcflab is timed twice: run by run, as the others are (the lane from boot to power-off, its trace made into
pcapng and counted); and as users run it, the whole process of `./dcflab run rts-cts`, which uses all CPUs. ns-2 writes
a trace, with and without the count of it; ns-3 writes none. Medians, and ratios of medians; nothing here is a test.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import asked
from emulation.play.lab import Lab
from emulation.play.run import Task, play
from emulation.play.session import provide
from emulation.specification import specify

HERE = Path(__file__).parent
STRATEGIES = ("full", "partial", "none")
STATIONS, SECONDS = 5, 120
NS3 = ("wifi", "applications", "internet", "traffic-control", "propagation", "mobility", "network", "core")
AIR = HERE.parent / "emulation/dcf80211"


def timed(run: Callable[[], object]) -> float:
    began = time.monotonic()
    run()
    return time.monotonic() - began


def output(*command: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def dcflab(lab: Lab, folder: Path, trace: bool, hops: list[int]) -> float:
    """All three strategies; notes how many frames crossed a hop."""

    def run() -> None:
        for rts in STRATEGIES:
            given = {"stations": STATIONS, "seconds": SECONDS, "rts": rts, "trace": trace}
            found = play(lab, Task(specify("string", given)), Path(tempfile.mkdtemp(dir=folder))).run
            hops.append(sum(row.get("ACKED", 0) for s in found.stations for row in s.counters["end"].values()))

    return timed(run)


def study(folder: Path, *options: str) -> float:
    """All three as users run them, with start-up and table."""
    out = Path(tempfile.mkdtemp(dir=folder))
    return timed(lambda: output(HERE.parent / "dcflab", "run", "rts-cts", "--out", out, *options))


def ns2(folder: Path) -> tuple[float, float]:
    """All three strategies; the wall times of their runs, and of these with the count of their traces."""
    trace, runs, counts = folder / "ns2.tr", 0.0, 0.0
    for rts in STRATEGIES:
        runs += timed(partial(output, "ns", HERE / "peers/string.tcl", STATIONS, rts, "plain", SECONDS, 1, trace))
        counts += timed(partial(output, sys.executable, HERE / "peers/count.py", trace, STATIONS, SECONDS))
    return runs, runs + counts


def ns3(program: Path) -> float:
    def run() -> None:
        for rts in STRATEGIES:
            output(program, f"--stations={STATIONS}", f"--rts={rts}", "--ack=plain", f"--seconds={SECONDS}", "--seed=1",
                   "--reception=ns3")  # fmt: skip

    return timed(run)


def build_peer(folder: Path) -> Path:
    """The same string in ns-3."""
    peer = folder / "string-ns3"
    output("g++", "-O2", "-o", peer, HERE / "peers/string.cc", *(f"-lns3-{name}" for name in NS3))
    return peer


def build_core(folder: Path) -> Path:
    """The core alone, playing a saturated string."""
    core = folder / "core"
    output("gcc", "-O2", f"-I{AIR}/core", "-o", core, HERE / "core.c", *AIR.glob("core/*.c"), *AIR.glob("wire/*.c"))
    return core


def events_per_s(core: Path, stations: int, air_s: int) -> float:
    return float(json.loads(output(core, stations, air_s))["events_per_s"])


def measure(repeats: int) -> dict[str, object]:
    lab = provide()
    with tempfile.TemporaryDirectory(prefix="dcflab-bench-") as name:
        folder = Path(name)
        peer, core = build_peer(folder), build_core(folder)
        times: defaultdict[str, list[float]] = defaultdict(list)
        hops: list[int] = []
        for _ in range(repeats):
            times["dcflab"].append(dcflab(lab, folder, True, hops))
            times["dcflab, no trace"].append(dcflab(lab, folder, False, hops))
            times["dcflab, the study"].append(study(folder))
            times["dcflab, the study without figures"].append(study(folder, "--no-figures"))
            run, counted = ns2(folder)
            times["ns-2"].append(counted)
            times["ns-2, trace not counted"].append(run)
            times["ns-3"].append(ns3(peer))
        events = {n: events_per_s(core, n, 60) for n in (5, 25, 100)}
    median = {name: statistics.median(values) for name, values in times.items()}
    per_run = sum(hops) / len(hops) * len(STRATEGIES)
    return {
        "stations": STATIONS,
        "air_s": SECONDS * len(STRATEGIES),
        "repeats": repeats,
        "wall_s": median,
        "ratio_to_dcflab": {name: wall / median["dcflab"] for name, wall in median.items()},
        "wall_us_per_frame_and_hop": {name: median[name] / per_run * 1e6 for name in ("dcflab", "dcflab, no trace")},
        "wall_ms_per_air_s": {name: wall / (SECONDS * len(STRATEGIES)) * 1e3 for name, wall in median.items()},
        "core_events_per_s": events,
    }


def main(as_json: bool, repeats: int) -> int:
    from rich.console import Console
    from rich.table import Table

    found = measure(repeats)
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    title = f"String of {STATIONS}, three strategies of {SECONDS} s each, median of {repeats}"
    columns = ("", "wall s", "ms a second of air", "times dcflab", "us a frame and hop")
    table = Table(*columns, title=title, title_justify="left")
    for name, wall in found["wall_s"].items():  # type: ignore[attr-defined]
        per_hop = found["wall_us_per_frame_and_hop"].get(name)  # type: ignore[attr-defined]
        table.add_row(name, f"{wall:.2f}", f"{found['wall_ms_per_air_s'][name]:.2f}",  # type: ignore[index]
                      f"{found['ratio_to_dcflab'][name]:.2f}", f"{per_hop:.1f}" if per_hop else "")  # type: ignore[index]  # fmt: skip
    console = Console()
    console.print(table)
    for stations, rate in found["core_events_per_s"].items():  # type: ignore[attr-defined]
        console.print(f"the core alone, string of {stations}: {rate / 1e6:.1f} million events per second")
    return 0


if __name__ == "__main__":
    sys.exit(main(*asked(__doc__)))
