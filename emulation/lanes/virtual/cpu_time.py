# SPDX-License-Identifier: BSD-3-Clause
"""How long a process ran on this machine, and how long it waited for a CPU (Documentation/scheduler/sched-stats.rst).

A limit of time must not count the wait: a busy machine makes a lane slow, but does not hang it.
"""

import contextlib
from pathlib import Path
from typing import NamedTuple


class Times(NamedTuple):
    """In seconds."""

    ran: float
    waited: float


def times(*pids: int) -> Times:
    """Return the sum for all threads of these processes; 0 for what has ended, or if this kernel counts nothing."""
    ran = waited = 0
    for file in (file for pid in pids for file in Path(f"/proc/{pid}/task").glob("*/schedstat")):
        with contextlib.suppress(OSError):  # a thread that has ended
            its_ran, its_waited, _ = map(int, file.read_text().split())
            ran, waited = ran + its_ran, waited + its_waited
    return Times(ran / 1e9, waited / 1e9)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that have not been waited for. A program of a lane is one."""
    found = list[int]()
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, file.read_text().split())
    return found


def age_s(elapsed_s: float, used: Times) -> float:
    """Return how long a process has had its way in `elapsed_s`: it ran, or it had nothing to do."""
    return min(elapsed_s, max(used.ran, elapsed_s - used.waited))
