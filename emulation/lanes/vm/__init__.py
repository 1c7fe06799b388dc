# SPDX-License-Identifier: BSD-3-Clause
"""The lane `vm`: a distribution's unmodified kernel in QEMU.

It needs no root, no image and no KVM. It is an ordinary process, confined like that of the virtual lane, and uses the
same code (`emulation.lanes.virtual.machine`).

In virtual time a counter of instructions is the clock (`-icount shift=0,sleep=off,rr=record`). One instruction takes
one nanosecond; when all wait, time jumps ahead. So programs and the kernel take time, as on a computer with 10^9
instructions a second. The air plays each event at its exact time, however late its timer fires. `rr=record` keeps
QEMU's threads apart: without it the thread that lets time jump can look while the other still counts, and some
instructions count twice. It costs 11 % of processor time; the record is discarded.

Nothing is read from the host during a run: the kernel unpacks its root from memory, and the results are copied out at
the end by 9p. Randomness comes from the seed: QEMU gets it (`-seed`), the real-time clock begins at a fixed time, and
the emulated processor has no random numbers. So one seed gives one trace on one kernel, one QEMU and one Python.
Scripts and the prompt read files of the host, so their runs may differ: `repeatable` in `result.json` is false.

In real time it tries KVM by starting the kernel in it for up to 10 s. If the start fails, it says why and emulates.
"""

import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from emulation.lanes import Clock, Lane, LaneError, LaneResult, Listener, Reason
from emulation.lanes.virtual import sigterm_as_sigint
from emulation.lanes.virtual.boot import claimed_cpu, memory_folder, runs_as_nobody
from emulation.lanes.virtual.confine import cell
from emulation.lanes.virtual.gate import Gate
from emulation.lanes.virtual.machine import Machine
from emulation.lanes.virtual.scratch import scratch
from emulation.lanes.vm import kvm
from emulation.lanes.vm.boot import EMULATION, KVM, command_line, shared_folders, write_initrd

QEMU = "qemu-system-x86_64"
MEMORY_MB = 1024


@dataclass(frozen=True)
class Vm:
    """The lane. `stock` is the kernel, a release or an image; "" is the latest that is installed.

    In real time, `allow_late` keeps invalid runs, in which it was late, `ready` chooses the `accelerator`, and there
    may be several `cpus`, each a thread of QEMU, and a script may reach the addresses of `outside`.
    """

    name: str = "vm"
    stock: str = ""
    clock: Clock = Clock.VIRTUAL
    allow_late: bool = False
    accelerator: str = EMULATION
    cpus: int = 1
    outside: Sequence[str] = ()

    def __post_init__(self) -> None:
        Gate(self.outside)
        if self.outside and self.clock is Clock.VIRTUAL:
            raise ValueError("--outside is of real time: add --clock real")

    def ready(self, kernel: Path) -> tuple[Lane, str]:
        """Choose KVM for real time, if it is available and works."""
        if self.clock is Clock.VIRTUAL:
            return self, ""
        if lacking := kvm.unusable_reason(QEMU, kernel):
            return self, f"no KVM: {lacking}. So the kernel runs in plain emulation, which seldom keeps real time"
        return dataclasses.replace(self, accelerator=KVM), ""

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *, seed: int = 1,
        wall_limit_s: float | None = None, listener: Listener | None = None, plugins: Sequence[Path] = (),
        memory_mb: int | None = None, options: Mapping[str, str] | None = None, kernel_arguments: Sequence[str] = (),
    ) -> LaneResult:  # fmt: skip
        """Run as `emulation.lanes.Lane.run` does, in a thread that outlives the run. `kernel_arguments` are added to
        the kernel's command line."""
        if (found := shutil.which(QEMU)) is None:
            raise LaneError(Reason.NOT_STARTED, f"there is no {QEMU}; ./dcflab doctor says how to fix it")
        if not os.access(kernel, os.R_OK):
            raise LaneError(Reason.NOT_STARTED, f"no kernel at {kernel}; ./dcflab doctor says how to fix it")
        qemu, kernel, folder = Path(found), kernel.resolve(), run_folder.resolve()
        gate = Gate(self.outside) if self.clock is Clock.REAL else None
        machine = Machine(folder, listener or Listener(), wall_limit_s, command[0], self.clock, gate=gate)
        memory_mb = max(memory_mb or 0, MEMORY_MB)
        devices = [kvm.DEVICE] if self.accelerator == KVM else []
        place, seen = memory_folder(memory_mb), shared_folders(command)
        with (
            scratch("lane", place) as private,
            cell([qemu, kernel, *seen.values()], [folder, private], runs_as_nobody(place), devices) as around,
            claimed_cpu() as cpu,
            sigterm_as_sigint(),
        ):
            write_initrd(private, kernel, folder, modules, command, plugins, seen, seed, self.clock, options)
            line = partial(
                command_line, qemu, kernel, private, folder, seen, seed, memory_mb, self.clock, self.accelerator,
                arguments=kernel_arguments, cell=around, cpus=self.cpus,
            )  # fmt: skip
            cpus = {cpu} if self.clock is Clock.VIRTUAL else os.sched_getaffinity(0)
            try:
                ended = machine.run(qemu, lambda wires: line(wires=wires), private, around, cpus)
                return dataclasses.replace(ended, repeatable=not seen and self.clock is Clock.VIRTUAL)
            except KeyboardInterrupt:
                raise LaneError(Reason.INTERRUPTED) from None


LANE: Lane = Vm()
