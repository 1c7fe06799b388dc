# SPDX-License-Identifier: BSD-3-Clause
"""Fixed moments of the lane's clock, at which networks and measurements begin.

So they do not depend on earlier activity (docs/architecture.md, "What makes a run repeatable").
"""

from __future__ import annotations

import fcntl
import os
import select
import time

from traffic.loop import set_timer, timer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

CLOCK = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
RESTART_RANDOM = 0x5206  # RNDCLEARPOOL; emulation/kernel/meaning/seeded-randomness.patch redefines it
STEAL = 8  # column of the first line of /proc/stat
PAUSE_S = 1e-6
LOOK_S = 0.01
SETTLED_NS, STEP_NS = 10_000_000_000, 100_000_000  # networks and runs start at multiples of these


def is_real() -> bool:
    """Return whether this lane runs in real time."""
    return os.environ.get("DCFLAB_CLOCK") == "real"


def stolen_s() -> float:
    """Return for how many seconds the hypervisor kept this kernel's CPUs since boot; 0 in virtual time."""
    if not is_real():
        return 0.0
    with open("/proc/stat") as file:
        return int(file.readline().split()[STEAL]) / os.sysconf("SC_CLK_TCK")


def settle() -> None:
    """Let a network begin in a state that does not depend on what ran before in this lane. Wait until all earlier
    activity is over, and restart the seed's random numbers. Without effect in real time."""
    if wait_until_settled():
        with open("/dev/urandom") as file:
            fcntl.ioctl(file, RESTART_RANDOM)


def wait_until_settled() -> bool:
    """Wait for a multiple of SETTLED_NS, so that earlier activity ends. Return False, at once, in real time."""
    with open(CLOCK) as file:
        if file.read() != "time-travel-clock\n":
            return False
    wait_for_multiple(SETTLED_NS)
    return True


def pause() -> None:
    """Let the CPU be idle for a moment. Since it was last, programs read the clock 2000 times for free; then each read
    takes a while (exact-clock.patch). Where nothing waits, as between hosts on wires, they would use that up."""
    select.select([], [], [], PAUSE_S)


def wait_until(ready: Callable[[], Any], seconds: float, *outputs: int, every_s: float = LOOK_S) -> Any:
    """Return the first true value of `ready`, or its last value after `seconds`. It is called each `every_s`; if there
    are `outputs`, descriptors, whenever one of them can be read."""
    deadline, poll = time.monotonic() + seconds, select.poll()
    for output in outputs:
        poll.register(output, select.POLLIN)
    while not (found := ready()) and (left_s := deadline - time.monotonic()) > 0:
        poll.poll(1000 * (left_s if outputs else every_s))
    return found


def wait_for_multiple(step_ns: int = STEP_NS) -> None:
    """Wait until the clock shows a multiple of `step_ns` nanoseconds. A timer does it, because sleeping has slack."""
    clock = timer()
    try:
        set_timer(clock, (time.monotonic_ns() // step_ns + 1) * step_ns)
        waiter = select.poll()  # select() is limited to 1024 open files
        waiter.register(clock, select.POLLIN)
        waiter.poll()
    finally:
        os.close(clock)
