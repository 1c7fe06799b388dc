# SPDX-License-Identifier: BSD-3-Clause
"""The lane `vm`: a distribution's kernel, unmodified, in QEMU, in virtual time; without root, an image, or KVM.

It is an ordinary process, confined as that of the virtual lane is, which it shares its machine with
(`emulation.lanes.virtual.machine`).
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from emulation.lanes import Lane, LaneError, LaneResult, Listener, Reason
from emulation.lanes.virtual import sigterm_as_sigint
from emulation.lanes.virtual.boot import a_cpu, memory_folder, nobodys
from emulation.lanes.virtual.confine import cell
from emulation.lanes.virtual.machine import Machine
from emulation.lanes.virtual.scratch import scratch
from emulation.lanes.vm.boot import command_line, shown_folders, write_initrd

QEMU = "qemu-system-x86_64"
MEMORY_MB = 1024


@dataclass(frozen=True)
class Vm:
    """`stock`: which kernel, a release or an image; "" is the latest that is installed."""

    name: str = "vm"
    stock: str = ""

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *, seed: int = 1,
        wall_limit_s: float | None = None, listener: Listener | None = None, plugins: Sequence[Path] = (),
    ) -> LaneResult:  # fmt: skip
        """As `emulation.lanes.Lane` says. Call it in a thread that outlives the run."""
        if (found := shutil.which(QEMU)) is None:
            raise LaneError(Reason.NOT_STARTED, f"there is no {QEMU}; ./dcflab doctor says how to mend it")
        if not os.access(kernel, os.R_OK):
            raise LaneError(Reason.NOT_STARTED, f"no kernel at {kernel}; ./dcflab doctor says how to mend it")
        qemu, kernel, folder = Path(found), kernel.resolve(), run_folder.resolve()
        machine = Machine(folder, listener or Listener(), wall_limit_s)
        place, seen = memory_folder(MEMORY_MB), shown_folders(command)
        with (
            scratch("lane", place) as private,
            cell([qemu, kernel, *seen.values()], [folder, private], nobodys(place)) as around,
            a_cpu() as cpu,
            sigterm_as_sigint(),
        ):
            write_initrd(private, kernel, folder, modules, command, plugins, seen, seed)
            line = partial(command_line, qemu, kernel, private, folder, seen, seed, MEMORY_MB, cell=around)
            try:
                ended = machine.run(qemu, lambda wires: line(wires=wires), private, around, {cpu})
                return dataclasses.replace(ended, repeatable=not seen)
            except KeyboardInterrupt:
                raise LaneError(Reason.INTERRUPTED) from None
            except subprocess.SubprocessError as error:  # of the child, before it was QEMU
                raise LaneError(Reason.NOT_STARTED, str(error)) from None


LANE: Lane = Vm()
