# SPDX-License-Identifier: BSD-3-Clause
"""The lane `host`: this machine's own kernel, as root, in real time. It suits a lab server or a virtual machine.

All that a run makes is in namespaces of its own (`emulation.lane.hosted`) and belongs to its first process. A netlink
socket owns its radios, a mount namespace its nodes, and a PID namespace its programs. So the kernel removes all of it,
however that process ends. Nothing that belongs to others is touched. Only kernel modules do not disappear with it:
`loading` notes those that the lane loads in `/run/dcflab-host.json`, and unloads them at the end, or after `kill -9` at
the next start. Modules from DKMS are used if they are of this checkout's source (`modinfo -F source_sha256 dcf80211`).

The air takes all of hwsim's radios of a kernel. So there is one such lane at a time, and it refuses to start beside
other users of hwsim. NetworkManager sees only hwsim's monitor `hwsim0`, unmanaged.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emulation.lane.init import BUNDLE
from emulation.lanes import CHECKOUT, Clock, Lane, LaneError, LaneResult, Listener, Reason
from emulation.lanes.host.loading import loaded, others_radios
from emulation.lanes.virtual import sigterm_as_sigint
from emulation.lanes.virtual.boot import ENVIRONMENT, PYTHON, SCRIPTS, packages
from emulation.lanes.virtual.bundle import bundle
from emulation.lanes.virtual.confine import Barrier, Cell, cell, is_root
from emulation.lanes.virtual.gate import Gate
from emulation.lanes.virtual.machine import Machine, Wires
from emulation.lanes.virtual.scratch import scratch


class Unconfined(Cell):
    """A cell without barriers: the program is root of this machine."""

    def enter(self) -> list[Barrier]:
        return []


@dataclass(frozen=True)
class Host:
    """The lane. `allow_late`: keep invalid runs, in which it was late. A script may reach the addresses `outside`."""

    name: str = "host"
    allow_late: bool = False
    outside: Sequence[str] = ()

    clock = Clock.REAL
    boots = False  # boots no kernel

    @property
    def stock(self) -> str:
        """Return the running kernel's release."""
        return os.uname().release

    def refusal(self) -> str:
        """Return why the lane cannot run; empty if it can."""
        if not is_root():
            return "--lane host takes root: it makes radios and loads modules into this machine's kernel"
        return others_radios()

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *, seed: int = 1,
        wall_limit_s: float | None = None, listener: Listener | None = None, plugins: Sequence[Path] = (),
        memory_mb: int | None = None, options: Mapping[str, str] | None = None,
    ) -> LaneResult:  # fmt: skip
        """Run as `emulation.lanes.Lane.run` does. Call it in a thread that outlives the run."""
        if refused := self.refusal():
            raise LaneError(Reason.NOT_STARTED, refused)
        folder = run_folder.resolve()
        gate = Gate(self.outside)
        machine = Machine(folder, listener or Listener(), wall_limit_s, command[0], Clock.REAL, True, gate)
        own = {name: path.resolve() for name, path in modules.items() if not path.is_relative_to("/lib/modules")}
        others = [name for name in modules if name not in own] if command[0] == "plan" else []
        try:
            with scratch("lane") as private, loaded(own, others), cell([PYTHON], ()) as around, sigterm_as_sigint():
                write_boot(private, folder, own, command, plugins, seed, options)
                given = Unconfined(around.passed)
                ended = machine.run(
                    PYTHON, lambda wires: command_line(private, wires), private, given, os.sched_getaffinity(0)
                )
                return replace(ended, repeatable=False)
        except KeyboardInterrupt:
            raise LaneError(Reason.INTERRUPTED) from None


def command_line(private: str, wires: Wires) -> list[str]:
    """Return the command line of the first process and its parent, which ends with it."""
    return [
        str(PYTHON), "-s", "-S", "-B", f"{private}/init.py", f"{private}/boot.json", "host",
        os.ttyname(wires.keys), str(wires.reports), str(wires.outside),
    ]  # fmt: skip


def write_boot(
    private: str, folder: Path, modules: Mapping[str, Path], command: Sequence[str], plugins: Sequence[Path], seed: int,
    options: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    boot: dict[str, Any] = {
        "folder": str(folder),
        "checkout": str(CHECKOUT),
        "directory": os.getcwd(),
        "python": sys.executable,
        "packages": packages(command),
        "environment": dict(word.split("=", 1) for word in ENVIRONMENT),
        "modules": {name: [str(path.parent), path.name] for name, path in modules.items()},
        "plugins": [str(path.resolve()) for path in plugins],
        "command": list(command),
        "options": dict(options or {}),
        "clock": Clock.REAL.value,
        "seed": seed,
    }
    if command[0] in SCRIPTS:
        boot["copy"] = str(Path(command[1]).parent)  # for a script below /run
    Path(private, "boot.json").write_text(json.dumps(boot))
    Path(private, "init.py").write_bytes((CHECKOUT / "emulation/lane/init.py").read_bytes())
    Path(private, BUNDLE).write_bytes(bundle())


LANE: Lane = Host()
