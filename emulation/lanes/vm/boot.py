# SPDX-License-Identifier: BSD-3-Clause
"""How QEMU is started with a distribution's kernel: its command line, and the initial root file system.

Its clock counts instructions: each is a nanosecond. While the kernel waits, the clock jumps to the next event (`-icount
shift=0,sleep=off`). One thread makes it jump. It must not read the clock between the moment when the processor halts
and the moment when its last instructions are counted. Otherwise they would count twice. QEMU separates the two threads
only while it records (`rr=record`); the record is discarded. No device is read whose answer takes real time, and QEMU's
random numbers follow from the seed.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from emulation import files
from emulation.files import tree
from emulation.lane.guest import COPY, MODULES, PLUGINS, RUN
from emulation.lane.init import BUNDLE
from emulation.lane.init import CHECKOUT as IN_LANE
from emulation.lane.outside import NAME as OUTSIDE
from emulation.lanes import CHECKOUT, INSIDE, PACKAGES, Clock
from emulation.lanes.virtual.boot import ENVIRONMENT, PYTHON, SCRIPTS, packages, visible
from emulation.lanes.virtual.bundle import bundle
from emulation.lanes.virtual.confine import Cell, open_to_all
from emulation.lanes.virtual.machine import CONSOLE, Wires
from emulation.lanes.vm import host_programs
from emulation.lanes.vm.cpio import Archive, into_usr

ROOT, INITRD = "root.cpio", "initrd"
HOME = "/run/init"  # folder of the first process, in the lane
BEGIN = "2026-01-01"  # start of the lane's time
CPU = "qemu64,+arat,+ssse3,+sse4.1,+sse4.2,+popcnt,+lahf-lm"  # a CPU whose timer also runs while it sleeps; x86-64-v2
MOST = 5  # further folders: the machine has eight devices
QUICK = (  # skip parts of a kernel's boot that no lane needs
    *("cryptomgr.notests", "tsc=reliable", "norandmaps", "mitigations=off"),
    *("init_on_alloc=0", "audit=0", "random.trust_bootloader=on", "rcupdate.rcu_expedited=1", "nowatchdog"),
)
KVM, EMULATION, PARALLEL = "kvm", "tcg", "tcg,thread=multi"


class Board(NamedTuple):
    """QEMU's machine around the processor: its type, its clock, arguments for the kernel, and a bus for folders."""

    machine: str
    time: tuple[str, ...]
    of_kernel: tuple[str, ...]
    bus: str


BOARDS = {
    # The counter of instructions has this many ticks a second. microvm is the smallest machine and boots fastest.
    Clock.VIRTUAL: Board(
        "microvm,acpi=on,rtc=on,isa-serial=off",
        ("-icount", f"shift=0,sleep=off,rr=record,rrfile={os.devnull}", "-rtc", f"base={BEGIN},clock=vm"),
        ("tsc_early_khz=1000000", "clocksource=tsc"), "device",
    ),
    # This machine has the clocks with which a kernel compares.
    Clock.REAL: Board("q35", ("-rtc", "base=utc"), (), "pci"),
}  # fmt: skip


def command_line(
    qemu: Path, kernel: Path, private: str, folder: Path, shared: Mapping[str, Path], seed: int, memory_mb: int,
    clock: Clock, accelerator: str, wires: Wires, cell: Cell, arguments: Sequence[str] = (), cpus: int = 1,
) -> list[str]:  # fmt: skip
    """Return QEMU's command line; `seen` are folders of the host. Of the kernel's arguments, those after `--` go to the
    first process."""
    board = BOARDS[clock]
    cpu = "host" if accelerator == KVM else CPU
    accelerator = PARALLEL if accelerator == EMULATION and cpus > 1 else accelerator
    first = f"-s -S -B {HOME}/init.py {HOME}/boot.json"
    kernels = (
        *(f"rdinit={PYTHON}", "console=ttyS0", "quiet", "panic=-1", "8250.nr_uarts=3"),
        *(*QUICK, *board.of_kernel, *ENVIRONMENT, *arguments, "--", first),
    )
    lines = {  # the serial lines, in order
        "console": ("file,path=/dev/fdset/1,append=on", "-add-fd", f"fd={wires.console},set=1"),
        "program": ("stdio,signal=off",),
        "reports": ("file,path=/dev/fdset/2,append=on", "-add-fd", f"fd={wires.reports},set=2"),
    }
    return [
        qemu.name,
        *("-nodefaults", "-no-user-config", "-display", "none", "-monitor", "none", "-no-reboot"),
        *("-machine", board.machine, "-cpu", cpu, "-smp", str(cpus), "-m", f"{memory_mb}M"),
        *("-accel", accelerator, "-seed", str(seed % (1 << 32)), *board.time),
        *("-kernel", cell.place(kernel), "-initrd", f"{private}/{INITRD}"),
        *("-append", " ".join(kernels)),
        *(word for name, (end, *more) in lines.items()
          for word in (*more, "-chardev", f"{end},id={name}", "-device", f"isa-serial,chardev={name}")),
        *(way_out(wires.outside) if wires.outside >= 0 else ()),
        *share(board, "results", cell.folder(folder)),
        *(word for tag, path in shared.items() for word in share(board, tag, cell.folder(path), "readonly=on")),
    ]  # fmt: skip


def way_out(descriptor: int) -> list[str]:
    """Return the arguments for a port whose other end is this socket."""
    chardev, device = f"socket,id={OUTSIDE},fd={descriptor}", f"virtserialport,chardev={OUTSIDE},name={OUTSIDE}"
    return ["-chardev", chardev, "-device", "virtio-serial-pci", "-device", device]


def share(board: Board, tag: str, folder: str, *more: str) -> list[str]:
    """Return the arguments for a folder of the host, which the kernel mounts by its tag."""
    options = ",".join([f"local,id={tag},path={folder},security_model=none,multidevs=remap", *more])
    return ["-fsdev", options, "-device", f"virtio-9p-{board.bus},fsdev={tag},mount_tag={tag}"]


def shares_host(command: Sequence[str]) -> bool:
    """Return whether a program sees the host's files, which take time to read: a user's script does."""
    return command[0] in SCRIPTS and not any(Path(command[1]).is_relative_to(folder) for folder in INSIDE)


def in_lane(command: Sequence[str]) -> list[str]:
    """Return the command with its script's path in the lane, if the script is ours."""
    if command[0] in SCRIPTS and not shares_host(command):
        script = f"{IN_LANE}/{Path(command[1]).relative_to(CHECKOUT)}"
        return [command[0], script, *command[2:]]
    return list(command)


def shared_folders(command: Sequence[str]) -> dict[str, Path]:
    """Return the folders that a user's script sees, by tag: the root, the checkout, and those hidden from nobody."""
    if not shares_host(command):
        return {}
    hidden = [folder for folder in visible(command) if os.access(folder, os.X_OK) and not open_to_all(folder)]
    folders = [Path("/"), CHECKOUT, *hidden[:MOST]]
    return {f"host{number}": folder for number, folder in enumerate(folders)}


def write_initrd(
    private: str, kernel: Path, folder: Path, modules: Mapping[str, Path], command: Sequence[str],
    plugins: Sequence[Path], shared: Mapping[str, Path], seed: int, clock: Clock,
    options: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write the kernel's initial file system: the root that belongs to the kernel, and this run."""
    own = {name: path for name, path in modules.items() if not path.is_relative_to(kernel.parent)}
    boot: dict[str, Any] = {
        "directory": os.getcwd() if shared else "/",
        "python": sys.executable if shared else str(PYTHON),  # the environment's is on the host
        "packages": packages(command) if shared else [],
        "modules": {name: ["", path.name] for name, path in own.items()},
        "load": [] if shares_host(command) else [name for name in modules if name not in own],
        "plugins": [str(path) for path in plugins],
        "command": in_lane(command),
        "options": dict(options or {}),
        "seed": seed,
        "clock": clock.value,
        "host": {tag: IN_LANE if folder == CHECKOUT else str(folder) for tag, folder in shared.items()},
    }
    root = Archive(into_usr())
    root.file(f"{HOME}/boot.json", json.dumps(boot).encode())
    root.file(f"{HOME}/init.py", (CHECKOUT / "emulation/lane/init.py").read_bytes())
    root.file(f"{HOME}/{BUNDLE}", bundle(exact=True))
    around = [top.parent / "__init__.py" for top in INSIDE if top.name == "inside"]
    for file in [*PACKAGES, *around, *(file for top in INSIDE for file in sorted(top.rglob("*.py")))]:
        root.file(f"{IN_LANE}/{file.relative_to(CHECKOUT)}", file.read_bytes())
    for name, path in own.items():
        root.file(f"{MODULES}/{name}/{path.name}", path.read_bytes())
    for number, plugin in enumerate(plugins):
        for file in sorted(file for file in plugin.rglob("*") if file.is_file()):
            root.file(f"{PLUGINS}/{number}/{file.relative_to(plugin)}", file.read_bytes())
    if command[0] == "plan":
        for program in host_programs.of_plan(json.loads((folder / "plan.json").read_text())):
            host_programs.add(root, program)
    elif shared:
        for file in {Path(command[1]), *Path(command[1]).parent.glob("*.py")}:
            root.file(f"{COPY}/{file.name}", file.read_bytes())
    root.folder(RUN)
    for file in sorted(tree.plain_files(folder)):  # an earlier lane may have left anything
        if file != folder / CONSOLE:  # which is the host's, so no lane can write it
            root.file(f"{RUN}/{file.relative_to(folder)}", files.read(file))
    place = Path(private, INITRD)
    shutil.copyfile(kernel.parent / ROOT, place)
    with place.open("ab") as initrd:
        initrd.write(root.whole())
    place.chmod(0o644)
