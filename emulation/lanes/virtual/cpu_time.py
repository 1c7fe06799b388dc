# SPDX-License-Identifier: BSD-3-Clause
"""How long a process ran on this machine, and how long it waited for a CPU (Documentation/scheduler/sched-stats.rst).

A limit of time must not count the wait: a busy machine makes a lane slow, but does not hang it.
"""

import contextlib
import glob
from collections.abc import Iterator
from typing import NamedTuple


class Times(NamedTuple):
    """In seconds."""

    ran: float
    waited: float


def times(*pids: int) -> Times:
    """Return the sum for all threads of these processes; 0 for what has ended, or if this kernel counts nothing."""
    ran = waited = 0
    for text in (text for pid in pids for text in of_threads(pid, "schedstat")):
        its_ran, its_waited, _ = map(int, text.split())
        ran, waited = ran + its_ran, waited + its_waited
    return Times(ran / 1e9, waited / 1e9)


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that have not been waited for. A program of a lane is one."""
    return [int(child) for text in of_threads(pid, "children") for child in text.split()]


def of_threads(pid: int, name: str) -> Iterator[str]:
    """Return the text of such a file of each thread. A thread or the whole process may end at any time."""
    for file in glob.iglob(f"/proc/{pid}/task/*/{name}"):  # Path.glob raises FileNotFoundError if the process ends
        with contextlib.suppress(OSError), open(file) as opened:
            yield opened.read()


def age_s(elapsed_s: float, used: Times) -> float:
    """Return how long a process has had its way in `elapsed_s`: it ran, or it had nothing to do."""
    return min(elapsed_s, max(used.ran, elapsed_s - used.waited))
