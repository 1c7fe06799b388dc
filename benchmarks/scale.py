# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench scale`: how what a run takes grows with its network: square meshes of 25 to 961 stations.

Each has a flow along every other row, ten at most, for ten seconds, with its trace and without figures. What is timed
is what a user waits for; the memory is that of the largest process, which is the lane's kernel. The exponent is that of
N in the wall time, between one size and the one before. ns-3 has no peer for this yet.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks import asked
from benchmarks.compare import HERE
from emulation.lanes.virtual.scratch import scratch
from emulation.play.session import provide

SIDES, MOST_FLOWS, SECONDS = (5, 10, 15, 20, 25, 31), 10, 10


class Took(NamedTuple):
    wall_s: float
    cpu_s: float
    memory_mb: float


def run(side: int) -> Took:
    """A mesh of this side, as users have it, whose folder is gone afterwards. Raises ChildProcessError."""
    with scratch("bench") as out:
        flows = min((side + 1) // 2, MOST_FLOWS)
        command = [HERE.parent / "dcflab", "run", "mesh", "--size", f"{side}x{side}", "--flows", flows]
        command += ["--seconds", SECONDS, "--no-figures", "--out", out]
        began = time.monotonic()
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise ChildProcessError(f"a mesh of {side}x{side} ended with status {child.returncode}")
    return Took(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(repeats: int) -> list[dict[str, float]]:
    """A row for each size, with medians."""
    provide()
    took = {side: [run(side) for _ in range(repeats)] for side in SIDES}
    rows: list[dict[str, float]] = []
    for side, each in took.items():
        middle = {name: statistics.median(getattr(one, name) for one in each) for name in Took._fields}
        row = {"stations": side * side, **middle}
        if rows:
            last = rows[-1]
            row["exponent"] = math.log(row["wall_s"] / last["wall_s"]) / math.log(row["stations"] / last["stations"])
        rows.append(row)
    return rows


def main(as_json: bool, repeats: int) -> int:
    from rich.console import Console
    from rich.table import Table

    rows = measure(repeats)
    if as_json:
        print(json.dumps(rows, indent=1))
        return 0
    title = f"Meshes, {SECONDS} s of air; median of {repeats}"
    table = Table("stations", "wall s", "CPU s", "memory, MB", "exponent", title=title, title_justify="left")
    for row in rows:
        exponent = f"{row['exponent']:.2f}" if "exponent" in row else ""
        table.add_row(f"{row['stations']:.0f}", f"{row['wall_s']:.2f}", f"{row['cpu_s']:.2f}",
                      f"{row['memory_mb']:.0f}", exponent)  # fmt: skip
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main(*asked(__doc__)))
