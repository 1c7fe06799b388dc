# SPDX-License-Identifier: BSD-3-Clause
"""The virtual lane: boot User-Mode Linux in virtual time, listen to it, leave nothing behind.

The kernel is an ordinary process of an ordinary user (`boot`, `machine`). It dies with the thread that called `run`,
and its guests, which are its traced children, die with it: so nothing is left even if this program is killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from emulation.lanes import Ended, Lane, LaneError, LaneResult, Listener, Reason
from emulation.lanes.virtual import confine
from emulation.lanes.virtual.boot import SCRIPTS, a_cpu, command_line, handed, memory_folder, nobodys, write_boot
from emulation.lanes.virtual.bundle import bundle
from emulation.lanes.virtual.confine import cell
from emulation.lanes.virtual.machine import Machine
from emulation.lanes.virtual.scratch import scratch

# What is usual; and what a script's lane has, whose network nobody knows before: as much as its kernel has room for
# (emulation/kernel/speed/short-code.patch). Of this machine a lane takes what it touches.
MEMORY_MB, MOST_MB = 512, 1472


def run(
    kernel: Path,
    modules: Mapping[str, Path],
    run_folder: Path,
    command: Sequence[str],
    *,
    seed: int = 1,
    wall_limit_s: float | None = None,
    listener: Listener | None = None,
    plugins: Sequence[Path] = (),
    memory_mb: int | None = None,
    kernel_arguments: Sequence[str] = (),
) -> LaneResult:
    """As `emulation.lanes.Lane` says; `kernel_arguments` join the kernel's command line. Call it in a thread that
    outlives the run."""
    if not os.access(kernel, os.X_OK):
        raise LaneError(Reason.NOT_STARTED, f"no kernel at {kernel}; ./dcflab doctor says how to mend it")
    kernel, place = kernel.resolve(), memory_folder(memory_mb or MEMORY_MB)
    memory_mb = memory_mb or (MOST_MB if command[0] in SCRIPTS else MEMORY_MB)
    folder = run_folder.resolve()
    machine = Machine(folder, listener or Listener(), wall_limit_s, command[0])
    given = handed(kernel, modules, command, plugins)
    with (
        scratch("lane", place) as private,
        cell(given, [folder, private], nobodys(place)) as around,
        a_cpu() as cpu,
        sigterm_as_sigint(),
    ):
        write_boot(private, kernel, folder, modules, command, plugins, around, seed)
        line = partial(command_line, kernel, private, seed, memory_mb, cell=around, arguments=kernel_arguments)
        try:
            return machine.run(kernel, lambda wires: line(wires.reports), private, around, {cpu})
        except KeyboardInterrupt:
            raise LaneError(Reason.INTERRUPTED) from None


@contextlib.contextmanager
def sigterm_as_sigint() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does, so that it cleans up, unless the program has a handler of its own.

    Other threads than the main one cannot have signal handlers.
    """
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once: nothing disturbs the cleaning up
        raise Ended

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def caution(memory_mb: int = MEMORY_MB) -> Callable[[], str]:
    """What one should know of this machine who plays what others wrote, which is tried from now on; the answer waits
    for it, and is empty if all is well."""
    try:
        place = memory_folder(memory_mb)
    except LaneError:  # no lane will run: whoever starts one hears of it
        return str
    tried = confine.probe(nobodys(place))
    return lambda: confine.caution(tried())


class Virtual:
    """The lane of this name."""

    name = "virtual"
    run = staticmethod(run)

    def ready(self, kernel: Path) -> tuple[Lane, str]:
        """As `emulation.lanes.ready` says: what every lane's programs are made of is read once."""
        bundle()
        return self, ""


LANE: Lane = Virtual()
