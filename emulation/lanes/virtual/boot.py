# SPDX-License-Identifier: BSD-3-Clause
"""How User-Mode Linux is started: the arguments of kernel and first process, the CPU, and the memory.

`time-travel=inf-cpu` makes computing free and waiting instant. A fixed start time, a fixed address layout and seeded
randomness make a run repeatable. A single CPU makes it fast, as each system call of the guest is a switch between two
processes.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import site
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from emulation.lane import syscalls
from emulation.lane.init import BUNDLE
from emulation.lanes import CHECKOUT, LaneError, Reason
from emulation.lanes.virtual.bundle import bundle
from emulation.lanes.virtual.confine import Cell, is_root, open_to_all

NOT_READY = "not ready"  # a report of the child process
SCRIPTS = ("script", "shell")  # commands that run a script
START_NS = 1_000_000_000  # of the lane's clocks, at boot
# Environment of the first process, in all kinds of lanes.
ENVIRONMENT = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PYTHONHASHSEED=0", "LC_ALL=C.UTF-8"
PYTHON = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]  # the system's
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # signals that end a run


def runs_as_nobody(place: str) -> bool:
    """Return whether a kernel with its memory in `place` runs as nobody: for root, if nobody can read all it needs."""
    program = CHECKOUT / "emulation/lane/first_process.py"
    return is_root() and open_to_all(PYTHON) and open_to_all(Path(place).resolve()) and open_to_all(program, CHECKOUT)


def visible(command: Sequence[str]) -> list[Path]:
    """Return the folders that a program sees at their own paths: the environment's, its directory, its script's."""
    script = [os.path.dirname(command[1])] if command[0] in SCRIPTS else []
    shown = sys.prefix, *packages(command), os.getcwd(), *script
    return list(dict.fromkeys(Path(path).resolve() for path in shown))


def packages(command: Sequence[str]) -> list[str]:
    """Return the folders of the user's own packages: of `pip install --user`, if it is in use; for a script, also those
    of $PYTHONPATH and of the active virtual environment, if it has this version of Python."""
    found = [folder for folder in (site.getusersitepackages(),) if site.ENABLE_USER_SITE and folder in sys.path]
    if command[0] in SCRIPTS:
        named = [Path(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
        if active := os.environ.get("VIRTUAL_ENV"):
            named.append(packages_of(Path(active)))
        found += [str(path.resolve()) for path in named if path.is_dir() and path.resolve() != CHECKOUT]
    return list(dict.fromkeys(found))


def packages_of(environment: Path) -> Path:
    """Return the folder of the packages that a virtual environment has for this version of Python."""
    return environment / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


def passed(kernel: Path, modules: Mapping[str, Path], command: Sequence[str], plugins: Sequence[Path]) -> list[Path]:
    """Return what the kernel's process gets as open descriptors: itself, its modules, the checkout, and folders."""
    folders = [*(path.resolve().parent for path in modules.values()), *(path.resolve() for path in plugins)]
    return [kernel, kernel.parent, CHECKOUT, *(path for path in visible(command) if os.access(path, os.X_OK)), *folders]


def write_boot(
    private: str, kernel: Path, folder: Path, modules: Mapping[str, Path], command: Sequence[str],
    plugins: Sequence[Path], cell: Cell, seed: int = 1, options: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write boot.json, the instructions for the first process (`emulation.lane.first_process`), and its program."""
    boot: dict[str, Any] = {
        "folder": cell.folder(folder),
        "kernel": cell.folder(kernel.parent),
        "directory": os.getcwd(),
        "python": sys.executable,
        "packages": packages(command),
        "needed": {str(path): cell.folder(path) for path in visible(command) if str(path) in cell.passed},
        "modules": {name: [cell.folder(path.resolve().parent), path.resolve().name] for name, path in modules.items()},
        "plugins": [cell.folder(path.resolve()) for path in plugins],
        "command": list(command),
        "options": dict(options or {}),
        "seed": seed,
    }
    if command[0] in SCRIPTS and cell.user is not None and not open_to_all(Path(command[1]).resolve()):
        copied = Path(private, "script")  # with the modules beside it; the rest of the folder is not visible
        copied.mkdir(mode=0o755)
        for file in {Path(command[1]), *Path(command[1]).parent.glob("*.py")}:
            shutil.copyfile(file, copied / file.name)
        boot["copy"] = f"{cell.place(private)}/{copied.name}"
    (Path(private) / "boot.json").write_text(json.dumps(boot))
    shutil.copy(CHECKOUT / "emulation/lane/init.py", private)
    Path(private, BUNDLE).write_bytes(bundle())
    for path in Path(private).rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)  # whatever the umask is


def command_line(
    kernel: Path, private: str, seed: int, memory_mb: int, reports: int, cell: Cell, arguments: Sequence[str] = ()
) -> list[str]:
    """Return the kernel's command line. What follows `--` goes to the first process. A word with an = and no dot
    becomes part of its environment."""
    return [
        str(kernel),
        f"mem={memory_mb}M",
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={quoted(str(PYTHON))}"),
        *("time-travel=inf-cpu", f"time-travel-start={START_NS}", f"random_seed={seed}"),
        *("console=tty0", "con=null", "con0=null,fd:2", "con1=fd:0,fd:1", f"con2=null,fd:{reports}", "quiet"),
        *("mac80211_hwsim.radios=0", "uml_dir=./", *arguments),
        *ENVIRONMENT,
        *("--", "-s", "-S", "-B", quoted(f"{private}/init.py"), quoted(f"{private}/boot.json"), cell.folder(CHECKOUT)),
    ]


def quoted(path: str) -> str:
    if '"' in path:
        raise LaneError(Reason.NOT_STARTED, f"a path that holds a quotation mark cannot be used: {path}")
    return f'"{path}"' if " " in path else path


def prepare(cpus: set[int], parent: int, cell: Cell, private: str, reports: int) -> None:
    """Prepare the child process to become the kernel; report why if that fails."""
    try:
        around = cell.enter()
        os.write(reports, json.dumps({"barriers": around}).encode() + b"\n")
        os.chdir(private)  # as this namespace shows it
        settle(cpus, parent)
    except OSError as error:
        os.write(reports, json.dumps({NOT_READY: str(error)}).encode() + b"\n")
        raise


def settle(cpus: set[int], parent: int) -> None:
    """Set up the child process: it ends with the thread that started it, and runs on these CPUs, repeatably."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING_SIGNALS)
    syscalls.die_with_parent(signal.SIGKILL)  # only now, as a change of user clears it
    if os.getppid() != parent:  # the parent died before that took effect
        os._exit(1)
    try:
        syscalls.keep_addresses_fixed()
    except OSError as error:
        raise OSError(f"{error}; a container forbids that unless --security-opt seccomp=unconfined is given") from None
    os.sched_setaffinity(0, cpus)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # each open file of the lane is open here, too
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextlib.contextmanager
def claimed_cpu() -> Iterator[int]:
    """Yield the least used of our CPUs. Lanes claim them by abstract sockets, which disappear with their process."""
    for round_ in range(1000):
        for cpu in sorted(os.sched_getaffinity(0)):
            with socket.socket(socket.AF_UNIX) as claim:
                try:
                    claim.bind(f"\0dcflab/cpu{cpu}/{round_}")
                except OSError:
                    continue
                yield cpu
                return
    raise LaneError(Reason.NOT_STARTED, "too many lanes run on this machine; end some and try again")


def memory_folder(memory_mb: int) -> str:
    """Return a folder for the kernel's memory, which is an unnamed file: in memory if there is room, else on disk."""
    for place in ("/dev/shm", tempfile.gettempdir()):
        with contextlib.suppress(OSError):
            there = os.statvfs(place)
            room = there.f_bavail * there.f_frsize >= memory_mb << 20
            if room and not there.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK):
                return place
    where = f"/dev/shm or {tempfile.gettempdir()}"
    raise LaneError(Reason.NOT_STARTED, f"no room for {memory_mb} MB of executable memory in {where}; set $TMPDIR")
