# SPDX-License-Identifier: BSD-3-Clause
"""A lane's limits of time count what it had of the CPU, not what a busy machine kept from it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from emulation.lanes import LaneError, Listener, Reason
from emulation.lanes.virtual import machine
from emulation.lanes.virtual.cpu_time import Times, age_s, children, times

BURN = """
import sys, time
while time.process_time() < 0.05:
    pass
print(time.process_time(), flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="this kernel does not count it")
def test_a_process_and_its_children_are_counted() -> None:
    with subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as burner:
        assert burner.stdout and burner.stdin
        ran_s = float(burner.stdout.readline())
        assert burner.pid in children(os.getpid())
        found, of_both = times(burner.pid), times(os.getpid(), burner.pid)
        assert ran_s <= found.ran < of_both.ran - ran_s / 2
        burner.stdin.close()
    assert times(burner.pid) == (0.0, 0.0)


def test_a_process_that_ends_meanwhile_counts_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is there when it is looked for, and gone when it is read."""

    def scandir(folder: str | os.PathLike[str]) -> None:
        raise FileNotFoundError(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert (times(os.getpid()), children(os.getpid())) == ((0.0, 0.0), [])


@pytest.mark.parametrize(
    ("used", "age"),
    [(Times(0, 0), 10), (Times(2.5, 7.5), 2.5), (Times(1, 2), 8), (Times(20, 20), 10), (Times(4, 30), 4)],
    ids=["idle", "on a busy machine", "waits for more", "several threads run", "and wait"],
)
def test_an_age_leaves_out_the_wait_for_a_cpu(used: Times, age: float) -> None:
    assert age_s(10.0, used) == age


@pytest.fixture
def aged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., machine.Machine]:
    """Make a machine that was started long ago, whose clock stands still, with these ages one after the other."""

    def make(*ages: float, limit_s: float | None = None) -> machine.Machine:
        made = machine.Machine(tmp_path, Listener(), limit_s, "plan")
        made.process, made.program = SimpleNamespace(pid=0), tmp_path  # type: ignore[assignment]
        made.started -= 1e6
        made.deadline = made.deadline and made.deadline - 1e6
        left = iter(ages)
        monkeypatch.setattr(made, "age_s", lambda: next(left))
        return made

    monkeypatch.setattr(machine, "virtual_time_ns", lambda *of: 5)
    monkeypatch.setattr(machine, "running_program", lambda *of: "python3")
    return make


def test_a_busy_machine_makes_a_limit_later(aged: Callable[..., machine.Machine]) -> None:
    """The next look is when the lane can have reached the limit."""
    made = aged(1.0, 4.0, limit_s=4.0)
    began = time.monotonic()
    made.check_limit()
    assert made.deadline and made.deadline >= began + 3.0
    made.deadline = began
    with pytest.raises(TimeoutError):
        made.check_limit()


def test_a_clock_that_stands_still_counts_when_the_lane_could_run(aged: Callable[..., machine.Machine]) -> None:
    looks = [step * machine.CHECK_S for step in range(1, machine.SET_UP_CHECKS + 1)]
    made = aged(*(age for look in looks for age in (look - 0.1, look - 0.1, look, look)), 1e5, 1e5)
    for _ in range(3 * len(looks)):
        made.check_clock()
    assert made.still == len(looks) - 1  # the first look learns the time
    with pytest.raises(LaneError) as caught:
        made.check_clock()
    assert caught.value.reason is Reason.STILL
