# SPDX-License-Identifier: BSD-3-Clause
"""How a User-Mode Linux of ours is started: what it and its first process are told, on which CPU, in what memory.

`time-travel=inf-cpu` makes computing free and waiting instant; a fixed start time, a fixed address layout and seeded
randomness make a run repeatable; and one CPU keeps it quick, as each system call of the guest is a switch between two
processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emulation.lane import syscalls
from emulation.lanes import CHECKOUT, LaneError, Reason

START_NS = 1_000_000_000  # of the lane's clocks, at boot
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what ends a run from outside


def write_boot(
    private: str,
    folder: Path,
    modules: Mapping[str, Path],
    command: Sequence[str],
    plugins: Sequence[Path] = (),
    seed: int = 1,
) -> None:
    """Write boot.json, which tells the lane's first process (`emulation.lane.guest`) what to do."""
    needed = {Path(sys.prefix), Path(sys.base_prefix), Path.cwd()}
    if command[0] in ("script", "shell"):
        needed.add(Path(command[1]).parent)
    boot = {
        "folder": str(folder),
        "checkout": str(CHECKOUT),
        "directory": os.getcwd(),
        "needed": sorted(str(path.resolve()) for path in needed),
        "modules": {name: str(path.resolve()) for name, path in modules.items()},
        "plugins": [str(path.resolve()) for path in plugins],
        "command": list(command),
        "seed": seed,
    }
    (Path(private) / "boot.json").write_text(json.dumps(boot))


def command_line(
    kernel: Path, private: str, seed: int, memory_mb: int, reports: int, arguments: Sequence[str] = ()
) -> list[str]:
    """The kernel's command line; what follows `--` goes to the first process. What has an = and no dot is in its
    environment."""
    return [
        str(kernel),
        f"mem={memory_mb}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={quoted(sys.executable)}"),
        *("time-travel=inf-cpu", f"time-travel-start={START_NS}", f"random_seed={seed}"),
        *("console=tty0", "con=null", "con0=null,fd:2", "con1=fd:0,fd:1", f"con2=null,fd:{reports}", "quiet"),
        *("mac80211_hwsim.radios=0", "uml_dir=./", *arguments),
        *("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONHASHSEED=0", "LC_ALL=C.UTF-8"),
        *("--", "-s", "-S", "-B", quoted(str(CHECKOUT / "emulation/lane/guest.py")), quoted(private + "/boot.json")),
    ]


def quoted(path: str) -> str:
    if '"' in path:
        raise LaneError(Reason.NOT_STARTED, f"a path that holds a quotation mark cannot be used: {path}")
    return f'"{path}"' if " " in path else path


def prepare(cpu: int, parent: int) -> None:
    """In the child, before it becomes the kernel."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    syscalls.die_with_parent(signal.SIGKILL)
    if os.getppid() != parent:  # it died before that took effect
        os._exit(1)
    syscalls.keep_addresses_fixed()
    os.sched_setaffinity(0, {cpu})
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def a_cpu() -> Iterator[int]:
    """The least used of our CPUs. Lanes count themselves by abstract sockets, which end with their process."""
    for round_ in range(1000):
        for cpu in sorted(os.sched_getaffinity(0)):
            with socket.socket(socket.AF_UNIX) as claim:
                try:
                    claim.bind(f"\0dcflab/cpu{cpu}/{round_}")
                except OSError:
                    continue
                yield cpu
                return
    raise LaneError(Reason.NOT_STARTED, "too many lanes on this machine")


def memory_folder(private: str, memory_mb: int) -> str:
    """Where the kernel keeps its memory, a file without a name: in memory if there is room, else beside `private`."""
    with contextlib.suppress(OSError):
        there = os.statvfs("/dev/shm")
        room = there.f_bavail * there.f_frsize >= memory_mb << 20
        if room and not there.f_flag & os.ST_NOEXEC and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return private
