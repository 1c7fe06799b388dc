# SPDX-License-Identifier: BSD-3-Clause
"""Whole moments of the lane's clock, at which networks and measurements begin, so that they do not depend on what was
before them (docs/architecture.md, "What makes a run repeatable")."""

from __future__ import annotations

import fcntl
import os
import select
import time

from traffic.loop import set_timer, timer

CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
BEGIN_RANDOM = 0x5206  # RNDCLEARPOOL, to which emulation/kernel/meaning/seeded-randomness.patch gives that meaning
STEAL = 8  # in the first line of /proc/stat
SETTLED_NS, STEP_NS = 10_000_000_000, 100_000_000  # networks and runs start at multiples of these


def is_real() -> bool:
    """Whether this lane's time passes whatever happens."""
    return os.environ.get("DCFLAB_CLOCK") == "real"


def stolen_s() -> float:
    """How long this kernel's CPUs were kept from it by whoever runs it, since it started; 0 in virtual time."""
    if not is_real():
        return 0.0
    with open("/proc/stat") as file:
        return int(file.readline().split()[STEAL]) / os.sysconf("SC_CLK_TCK")


def settle() -> None:
    """Let a network begin in a state that nothing done before in this lane can move: at a whole moment, by which all
    that went before is over, and at the beginning of the seed's random numbers. Without effect in real time."""
    if let_all_end():
        with open("/dev/urandom") as file:
            fcntl.ioctl(file, BEGIN_RANDOM)


def let_all_end() -> bool:
    """Let what is on its way come to its end: wait for a settled moment. Without effect in real time; says which."""
    with open(CLOCK) as file:
        if file.read() != "time-travel-clock\n":
            return False
    wait_for_whole(SETTLED_NS)
    return True


def wait_for_whole(step_ns: int = STEP_NS) -> None:
    """Wait until the clock shows a multiple of so many nanoseconds; by a timer, as sleeping has slack."""
    clock = timer()
    try:
        set_timer(clock, (time.monotonic_ns() // step_ns + 1) * step_ns)
        waiter = select.poll()  # select takes the numbers of a thousand open files only
        waiter.register(clock, select.POLLIN)
        waiter.poll()
    finally:
        os.close(clock)
