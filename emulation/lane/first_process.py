# SPDX-License-Identifier: BSD-3-Clause
"""The first process of a lane. It mounts what programs need, runs one program, and powers off.

The root file system is the host's, read-only. Only the run folder and /run, which is in memory, are writable.
The host enforces this even for root (`emulation.lanes.virtual.confine`). `init` has mounted the checkout.
The checkout, the run folder, modules and plug-ins are mounted below `guest.LAB`, at the same paths in every lane.

Every import costs time in every run, as each system call costs microseconds in User-Mode Linux. So this file imports
only the standard library, and as little of it as possible.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
import termios
import time

from emulation.lane import guest, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from emulation.lane.errors import Misuse

MODPROBE = f"{guest.LAB}/modprobe"  # the kernel runs it to load a module: a qdisc, congestion control, tunnel or bond
ON_DEMAND = """#!/bin/sh
case "$3" in
net-sch-*|tcp_*|rtnl-link-*|netdev-gre*|netdev-tunl0) exec '{}' -sSB {}/emulation/lane/modprobe.py "$3"
esac
exit 1
"""
OPEN_FILES = 1 << 16  # limit: a radio uses five, a flow three
TIMERS_READY_S = 0.02  # after two ticks, the kernel's timers have high resolution


def mount_system() -> None:
    """Mount what programs expect on any Linux system."""
    syscalls.mount("proc", "/proc")
    syscalls.mount("sysfs", "/sys")
    syscalls.mount("debugfs", "/sys/kernel/debug")
    syscalls.mount("devtmpfs", "/dev")
    for folder, kind in (("/dev/pts", "devpts"), ("/dev/shm", "tmpfs")):
        os.mkdir(folder)
        syscalls.mount(kind, folder)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink("/proc/self/fd" + target, "/dev/" + name)


def mount_all(boot: dict[str, Any]) -> None:
    """Mount the system, and all that boot.json names at fixed paths; `needed` folders keep their own paths."""
    mount_system()
    mount_at_own_paths(boot["needed"])
    mount_host_folder(boot["kernel"], guest.KERNEL)
    for name, (source, _) in boot["modules"].items():
        mount_host_folder(source, f"{guest.MODULES}/{name}")
    for number, source in enumerate(boot["plugins"]):
        mount_host_folder(source, f"{guest.PLUGINS}/{number}")
    if "copy" in boot:
        mount_host_folder(boot["copy"], guest.COPY)
    mount_host_folder(boot["folder"], guest.RUN, 0)
    with open(MODPROBE, "w", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
        file.write(ON_DEMAND.format(sys.executable, guest.CHECKOUT))
    with open("/proc/sys/kernel/modprobe", "w") as file:
        file.write(MODPROBE)


def mount_host_folder(source: str, place: str, flags: int = syscalls.MS_RDONLY) -> None:
    """Mount a folder of the host, read-only by default."""
    os.makedirs(place, exist_ok=True)
    syscalls.mount("hostfs", place, flags=flags, data=source)


def mount_at_own_paths(needed: dict[str, str]) -> None:
    """Mount folders at their own paths, if the root file system does not show them.

    A folder is hidden below a path that this lane mounts over, such as /run, or below one that the kernel's process
    cannot enter, such as /root. In the latter case a tmpfs covers that path and holds only these folders.
    """
    covered = []
    for folder, source in needed.items():
        if os.access(folder, os.X_OK):
            continue
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            parent = folder
            while not os.path.exists(parent):
                parent = os.path.dirname(parent)
            syscalls.mount("tmpfs", parent)
            covered.append(parent)
        with contextlib.suppress(PermissionError):  # a folder that an ordinary user cannot enter
            mount_host_folder(source, folder)
    for parent in covered:
        syscalls.mount("tmpfs", parent, flags=syscalls.MS_REMOUNT | syscalls.MS_RDONLY)


def plan() -> int:
    """Run the plan of the run folder (docs/interfaces.md, sections 1 and 2). Return the exit status."""
    from emulation.lane.net import Net

    folder = os.environ["DCFLAB_RUN"]

    def write(**result: object) -> None:
        with open(folder + "/lane.json", "w") as file:
            json.dump({"version": 3, **result}, file, indent=1)

    with open(folder + "/plan.json") as file:
        plan = json.load(file)
    result: dict[str, Any] = {}
    try:
        with Net.from_plan(plan) as net:
            net.start()
            result = net.run(plan["seconds"], lambda done, air_s: guest.report(progress=done, air_s=air_s))
        write(ok=True, error=None, **result)
    except Exception as error:
        from emulation.lane import mistakes

        said = mistakes.of_plugin(error) or (mistakes.no_json(result) if isinstance(error, TypeError) else "")
        if not said and not isinstance(error, OSError | ValueError):
            raise
        message = said or getattr(error, "strerror", None) or str(error)
        guest.report(error=message, errno=getattr(error, "errno", None), misuse=bool(said))
        with contextlib.suppress(OSError):
            write(ok=False, error=message)
        return 2 if said else 1
    return 0


def script(path: str, *arguments: str) -> int:
    """Run a user's Python script, with the packages of its environment. At SIGQUIT it reports the lines at which its
    threads are, also if it waits for nothing."""
    import faulthandler
    import importlib
    import runpy
    import site

    from emulation.lane import userland
    from emulation.lane.errors import Misuse

    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # else it searches all installed packages for them
    os.environ.setdefault("MPLCONFIGDIR", os.environ["TMPDIR"])  # else matplotlib says that it has none
    site.main()
    # The user's packages come after those of the environment, which the lab itself needs.
    sys.path[:] = [folder for folder in sys.path if folder not in guest.packages] + guest.packages
    userland.prepare(guest.packages, guest.own_kernel)
    if not os.access(path, os.R_OK):
        path = f"{guest.COPY}/{os.path.basename(path)}"
    sys.argv = [path, *arguments]
    sys.path.insert(1, os.path.dirname(os.path.abspath(path)))  # after ours: a traffic.py there must not hide it
    for part in importlib.import_module("emulation.features").parts("packages"):
        part.install()
    if guest.own_kernel:
        userland.make_tmp_writable()
    Misuse.raised = []
    if guest.reports >= 0:
        faulthandler.register(signal.SIGQUIT, guest.reports)
    try:
        with guest.at_program_end:
            runpy.run_path(path, run_name="__main__")
    finally:
        for place, error in caught_in(os.path.dirname(path), Misuse.raised):
            print(f"*** dcflab: the script caught an error and went on: {place}: {error}", flush=True)
    return 0


def caught_in(folder: str, errors: list[Misuse]) -> Iterator[tuple[str, Misuse]]:
    """Yield the errors that a file of this folder caught, each with its place. The place where an error was caught is
    the outermost frame of its traceback."""
    for error in errors:
        if error.__traceback__ and error.__traceback__.tb_frame.f_code.co_filename.startswith(f"{folder}/"):
            file = os.path.basename(error.__traceback__.tb_frame.f_code.co_filename)
            yield f"{file}, line {error.__traceback__.tb_lineno}", error


def shell(path: str, *arguments: str) -> int:
    """Run a script as `script` does, with a prompt in each network that it starts, before the network stops."""
    os.environ["DCFLAB_PROMPT"] = "1"
    return script(path, *arguments)


def program(boot: dict[str, Any]) -> int:
    """Run the program that the host asked for, in a session with its console. Return the exit status."""
    os.setsid()
    terminal = os.open(guest.console, os.O_RDWR)  # the first one opened becomes the session's terminal
    for descriptor in range(3):
        os.dup2(terminal, descriptor)
    modes = termios.tcgetattr(terminal)
    modes[3] &= ~termios.ECHO  # the user's own terminal echoes
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    modules = {name: f"{guest.MODULES}/{name}/{file}" for name, (_, file) in boot["modules"].items()}
    air = modules.get(guest.AIR_MODULE, "")
    os.environ.update(TMPDIR="/run", DCFLAB_AIR=air, DCFLAB_RUN=guest.RUN, DCFLAB_SEED=str(boot["seed"]))
    os.environ["DCFLAB_CLOCK"] = boot.get("clock", "virtual")
    os.environ.update({guest.OPTION + name.upper(): value for name, value in boot.get("options", {}).items()})
    sys.executable = boot["python"]
    guest.packages.extend(boot["packages"])
    sys.path += guest.packages
    try:
        os.chdir(boot["directory"])
    except OSError:  # a directory that an ordinary user cannot enter
        os.chdir(guest.RUN)
    for name, path in modules.items():
        if name != guest.AIR_MODULE:
            syscalls.load_module(path)
    if boot["plugins"]:
        from emulation.lane.plugin_folders import extend

        extend(f"{guest.PLUGINS}/{number}" for number, _ in enumerate(boot["plugins"]))
    name, *arguments = boot["command"]
    return COMMANDS[name](*arguments)


COMMANDS: dict[str, Callable[..., int]] = {"plan": plan, "script": script, "shell": shell}


def status_of(run: Callable[[], int]) -> int:
    """Run a program in this process, report its error if it fails, and return its exit status."""
    try:
        return run()
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        guest.report(error=str(stop.code))
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BaseException as error:
        import traceback

        from emulation.lane.errors import Misuse
        from emulation.lane.mistakes import of_plugin, sentence

        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if frame.filename != __file__ and "runpy" not in frame.filename]
        if said := str(error) if isinstance(error, Misuse) else of_plugin(error) or sentence(error):
            places = [f"{os.path.basename(f.filename)}, line {f.lineno}: " for f in own if f.filename == sys.argv[0]]
            guest.report(error=places[-1] + said if places else said, misuse=True)
            return 2
        print(*traceback.format_list(own), *traceback.format_exception_only(error), sep="", file=sys.stderr)
        message = (isinstance(error, OSError) and error.strerror) or f"{type(error).__name__}: {error}"
        guest.report(error=message, errno=getattr(error, "errno", None))
    finally:
        sys.stdout.flush()
    return 1


def in_child(run: Callable[[], int]) -> int:
    """Run a function in a child process and return its exit status. Reap orphaned processes meanwhile."""
    child = os.fork()
    if child == 0:
        os._exit(run())
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            return os.waitstatus_to_exitcode(status)


def serve(boot: dict[str, Any], reports_file: str) -> None:
    """Carry out boot.json and write reports to `reports_file`. Publish the results at the end. A plan runs in this
    process: in a child, each page that it writes to would be copied."""
    guest.reports = os.open(reports_file, os.O_WRONLY | os.O_NOCTTY)
    syscalls.allow_open_files(OPEN_FILES)
    guest.report(boot="done")
    run = functools.partial(status_of, functools.partial(program, boot))
    status = run() if boot["command"][0] == "plan" else in_child(run)
    guest.publish()
    guest.report(exit=status)


def main() -> None:
    with open(sys.argv[1]) as file:
        boot = json.load(file)
    mount_all(boot)
    time.sleep(TIMERS_READY_S)
    serve(boot, "/dev/tty2")
    syscalls.power_off()
