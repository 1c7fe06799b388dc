# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench scale`: how the cost of a run grows with its network: square meshes of 25 to 961 stations.

Each mesh has a flow along every other row, at most ten, for ten seconds, with trace and without figures. The time is
that of the whole command. The memory is that of the largest process, the lane's kernel. The exponent is that of N in
the wall time, between a size and the one before. ns-3 plays the same networks without a trace.
"""

import math
import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import show_table, table, words
from benchmarks.compare import HERE, build_peer
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide

SIDES, MOST_FLOWS, SECONDS = (5, 10, 15, 20, 25, 31), 10, 10


class Took(NamedTuple):
    wall_s: float
    cpu_s: float
    memory_mb: float


def took(*command: object) -> Took:
    """Return time and memory of a program. Raises ChildProcessError."""
    began = time.monotonic()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall_s = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise ChildProcessError(f"{' '.join(map(str, command))} ended with status {child.returncode}")
    return Took(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def here(side: int) -> tuple[Took, float]:
    """Run a mesh of this side as a user does. Return the cost and the size of the run folder (MB), and remove it."""
    with scratch("bench") as out:
        mesh = ("mesh", "--size", f"{side}x{side}", "--flows", flows(side), "--seconds", SECONDS, "--no-figures")
        of = took(HERE.parent / "dcflab", "run", *mesh, "--out", out)
        return of, sum(file.stat().st_size for file in Path(out).rglob("*") if file.is_file()) / 1e6


def there(peer: Path, side: int) -> Took:
    return took(peer, *words(side=side, flows=flows(side), seconds=SECONDS))


def flows(side: int) -> int:
    return min((side + 1) // 2, MOST_FLOWS)


def measure(repeats: int) -> list[dict[str, float]]:
    """Return a row of medians for each size; the two programs take turns."""
    provide()
    rows: list[dict[str, float]] = []
    with scratch("bench") as folder:
        peer = build_peer(Path(folder), "mesh")
        for side in SIDES:
            ours, theirs = zip(*((here(side), there(peer, side)) for _ in range(repeats)), strict=True)
            used, folders = zip(*ours, strict=True)
            row = {"stations": side * side, **middle(used), "folder_mb": folders[0]}
            row |= {f"ns3_{name}": value for name, value in middle(theirs).items()}
            if rows:
                more = row["stations"] / rows[-1]["stations"]
                row["exponent"] = math.log(row["wall_s"] / rows[-1]["wall_s"]) / math.log(more)
            rows.append(row)
    return rows


def middle(of: Sequence[Took]) -> dict[str, float]:
    return {name: statistics.median(getattr(one, name) for one in of) for name in Took._fields}


def show(rows: list[dict[str, float]], repeats: int) -> None:
    title = f"Meshes, {SECONDS} s of air; median of {repeats}"
    ours = ("stations", "wall s", "CPU s", "memory, MB", "folder, MB", "exponent")
    shown = table(title, *ours, "ns-3: wall s", "CPU s", "memory, MB")
    for row in rows:
        exponent = f"{row['exponent']:.2f}" if "exponent" in row else ""
        shown.add_row(f"{row['stations']:.0f}", f"{row['wall_s']:.2f}", f"{row['cpu_s']:.2f}",
                      f"{row['memory_mb']:.0f}", f"{row['folder_mb']:.1f}", exponent, f"{row['ns3_wall_s']:.2f}",
                      f"{row['ns3_cpu_s']:.2f}", f"{row['ns3_memory_mb']:.0f}")  # fmt: skip
    show_table(shown)
