# SPDX-License-Identifier: BSD-3-Clause
"""The lane `virtual`: User-Mode Linux in virtual time.

The kernel is an ordinary process of an ordinary user (`boot`, `machine`). It dies with the thread that called `run`.
Its guests are its traced children and die with it. So nothing is left even if this program is killed.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from emulation.lanes import Lane, LaneError, LaneResult, Listener, Reason, Terminated
from emulation.lanes.virtual import confine
from emulation.lanes.virtual.boot import (
    SCRIPTS,
    claimed_cpu,
    command_line,
    memory_folder,
    passed,
    runs_as_nobody,
    write_boot,
)
from emulation.lanes.virtual.bundle import bundle
from emulation.lanes.virtual.confine import cell
from emulation.lanes.virtual.machine import Machine
from emulation.lanes.virtual.scratch import scratch

# The default, and the memory of a script's lane, whose network is not known in advance: the most that its kernel
# supports (emulation/kernel/speed/short-code.patch). A lane occupies only the memory that it touches.
MEMORY_MB, MOST_MB = 512, 1472


def run(
    kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *, seed: int = 1,
    wall_limit_s: float | None = None, listener: Listener | None = None, plugins: Sequence[Path] = (),
    memory_mb: int | None = None, options: Mapping[str, str] | None = None, kernel_arguments: Sequence[str] = (),
) -> LaneResult:  # fmt: skip
    """Run as `emulation.lanes.Lane.run` does, in a thread that outlives the run. `kernel_arguments` are added to the
    kernel's command line."""
    if not os.access(kernel, os.X_OK):
        raise LaneError(Reason.NOT_STARTED, f"no kernel at {kernel}; ./dcflab doctor says how to fix it")
    kernel, place = kernel.resolve(), memory_folder(memory_mb or MEMORY_MB)
    memory_mb = memory_mb or (MOST_MB if command[0] in SCRIPTS else MEMORY_MB)
    folder = run_folder.resolve()
    machine = Machine(folder, listener or Listener(), wall_limit_s, command[0])
    given = passed(kernel, modules, command, plugins)
    with (
        scratch("lane", place) as private,
        cell(given, [folder, private], runs_as_nobody(place)) as around,
        claimed_cpu() as cpu,
        sigterm_as_sigint(),
    ):
        write_boot(private, kernel, folder, modules, command, plugins, around, seed, options)
        line = partial(command_line, kernel, private, seed, memory_mb, cell=around, arguments=kernel_arguments)
        try:
            return machine.run(kernel, lambda wires: line(wires.reports), private, around, {cpu})
        except KeyboardInterrupt:
            raise LaneError(Reason.INTERRUPTED) from None


@contextlib.contextmanager
def sigterm_as_sigint() -> Iterator[None]:
    """Let SIGTERM end a run like Ctrl-C, so that it cleans up, unless the program has its own handler. Only the main
    thread can have signal handlers."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once: further signals must not disturb the clean-up
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def caution(memory_mb: int = MEMORY_MB) -> Callable[[], str]:
    """Start to test which barriers this machine grants. Return a function that waits for the result and returns a
    warning about running scripts of others; empty if all is well."""
    try:
        place = memory_folder(memory_mb)
    except LaneError:  # no lane will run, and starting one reports this
        return str
    tried = confine.probe(runs_as_nobody(place))
    return lambda: confine.caution(tried())


class Virtual:
    """The lane `virtual`."""

    name = "virtual"
    run = staticmethod(run)

    def ready(self, kernel: Path) -> tuple[Lane, str]:
        """Prepare as `emulation.lanes.ready` does: load the bundle of modules once."""
        bundle()
        return self, ""


LANE: Lane = Virtual()
