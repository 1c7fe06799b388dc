# SPDX-License-Identifier: BSD-3-Clause
"""The virtual lane, seen from the host: boot User-Mode Linux in virtual time, listen to it, leave nothing behind.

The kernel is an ordinary process of an ordinary user. `time-travel=inf-cpu` makes computing free and waiting instant;
a fixed start time, a fixed address layout and seeded randomness make a run repeatable; and one CPU keeps it quick, as
each system call of the guest is a switch between two processes. Pipes lead out of it: what the kernel says, what the
program prints, and reports (see `emulation.lane.guest`). The kernel dies with the thread that called `run`, and its
guests, which are its traced children, die with it: so nothing is left even if this program is killed.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import fcntl
import functools
import json
import os
import re
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from emulation.lane import syscalls
from emulation.lanes import CHECKOUT
from emulation.lanes.culprit import running_program

START_NS = 1_000_000_000  # of the lane's clocks, at boot
CRASH = re.compile(r"Kernel panic|Oops|BUG:|WARNING:|general protection fault")
CONTROL_C, END_OF_INPUT = b"\x03", b"\x04"


class Reason(enum.Enum):
    """Why a lane did not end well."""

    NOT_STARTED = "the lane's kernel did not start"
    CRASHED = "the lane's kernel crashed"
    KILLED = "the lane's kernel was killed"
    WALL_LIMIT = "the run took too long"
    DISK_FULL = "the disk is full"
    INTERRUPTED = "interrupted"
    PROGRAM = "the program in the lane failed"


class LaneError(Exception):
    """A lane that did not end well: its `reason`, a sentence, and the last lines of its console."""

    def __init__(self, reason: Reason, detail: str = "", console: Sequence[str] = ()) -> None:
        super().__init__(reason, detail, console)  # all of it: workers send it through a pipe
        self.reason, self.detail, self.console = reason, detail, tuple(console)

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.detail}" if self.detail else self.reason.value


@dataclass(frozen=True)
class LaneResult:
    """How a program ended in the lane: its exit status, and the wall time from boot to power-off."""

    status: int
    wall_s: float


@dataclass
class Listener:
    """What the caller hears of while a lane runs; each is called in the caller's thread.

    `line` gets each line that the program prints (without its end), `progress` the done fraction and the air time in
    seconds, `ask` a prompt whose answer it returns (None: no more input). Virtual time stands still while it thinks.
    """

    line: Callable[[str], None] = print
    progress: Callable[[float, float], None] = lambda done, air_s: None
    ask: Callable[[str], str | None] = lambda prompt: None


def run(
    kernel: Path,
    modules: Mapping[str, Path],
    run_folder: Path,
    command: Sequence[str],
    *,
    seed: int = 1,
    wall_limit_s: float | None = None,
    listener: Listener | None = None,
    memory_mb: int = 512,
    environment: Mapping[str, str] | None = None,
    kernel_arguments: Sequence[str] = (),
) -> LaneResult:
    """Boot a lane, run one program in it, and return how it ended.

    `modules` are kernel modules by name; all are loaded before the program starts, save dcf80211, which the network
    loads when it is built. `command` is `plan` (runs plan.json of the run folder), `shell` (a prompt in that network),
    or `script PATH ARGUMENTS…` (a user's Python script). The run folder must exist, and is all that the program can
    write to. `wall_limit_s` limits the wall time, prompts included. `kernel_arguments` join the kernel's command line.
    Call it in a thread that outlives the run. Raises LaneError, and OSError if the run folder is unusable.
    """
    if not os.access(kernel, os.X_OK):
        raise LaneError(Reason.NOT_STARTED, f"no kernel at {kernel}; ./dcflab doctor says how to mend it")
    kernel = kernel.resolve()
    lane = Lane(run_folder.resolve(), listener or Listener(), wall_limit_s)
    with tempfile.TemporaryDirectory(prefix=".lane-", dir=lane.folder) as private, a_cpu() as cpu, sigterm_as_sigint():
        write_boot(private, lane.folder, modules, command, environment or {})
        try:
            return lane.run(kernel, private, cpu, seed, memory_mb, kernel_arguments)
        except KeyboardInterrupt:
            raise LaneError(Reason.INTERRUPTED) from None


def write_boot(
    private: str, folder: Path, modules: Mapping[str, Path], command: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Write boot.json, which tells the lane's first process (`emulation.lane.guest`) what to do."""
    needed = {Path(sys.prefix), Path(sys.base_prefix), Path.cwd()}
    if command[0] == "script":
        needed.add(Path(command[1]).parent)
    boot = {
        "folder": str(folder),
        "checkout": str(CHECKOUT),
        "directory": os.getcwd(),
        "needed": sorted(str(path.resolve()) for path in needed),
        "modules": {name: str(path.resolve()) for name, path in modules.items()},
        "command": list(command),
        "environment": dict(environment),
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


class Lane:
    """One kernel, from boot to end."""

    def __init__(self, folder: Path, listener: Listener, wall_limit_s: float | None) -> None:
        self.folder, self.listener = folder, listener
        self.started = time.monotonic()
        self.deadline = None if wall_limit_s is None else self.started + wall_limit_s
        self.said: deque[str] = deque(maxlen=60)  # by the kernel, for error messages
        self.crash = ""  # the first line that told of one
        self.air_s = 0.0
        self.booted = False
        self.exit: int | None = None
        self.error: dict[str, Any] | None = None
        self.interactive = False

    def run(
        self, kernel: Path, private: str, cpu: int, seed: int, memory_mb: int, arguments: Sequence[str]
    ) -> LaneResult:
        """Boot, listen until the kernel has ended, and judge."""
        with contextlib.ExitStack() as stack:
            self.log = stack.enter_context((self.folder / "console.log").open("wb", buffering=0))
            (keys, self.keyboard), *outputs = [pipe(stack) for _ in range(4)]
            (out, _), (console, _), (reports, _) = outputs
            guest_ends = [keys, *(end for _, end in outputs)]
            self.process = subprocess.Popen(
                command_line(kernel, private, seed, memory_mb, guest_ends[3].fileno(), arguments),
                stdin=keys,
                stdout=guest_ends[1],
                stderr=guest_ends[2],
                pass_fds=[guest_ends[3].fileno()],
                cwd=private,
                env={"TMPDIR": memory_folder(private, memory_mb), "PATH": os.defpath},
                preexec_fn=functools.partial(prepare, cpu, os.getpid()),
                start_new_session=True,
            )
            try:
                for end in guest_ends:
                    end.close()
                ears = {out: self.hear_line, console: self.hear_kernel, reports: self.hear_report}
                self.listen({source.fileno(): ear for source, ear in ears.items()})
            except TimeoutError:
                raise self.over_time(kernel) from None
            finally:
                self.kill()
                self.process.wait()
        return self.judge()

    def listen(self, ears: dict[int, Callable[[str], None]]) -> None:
        """Hand each line to its ear until all pipes are closed. Raises TimeoutError at the wall-clock limit."""
        rest = dict.fromkeys(ears, b"")
        ended = os.pidfd_open(self.process.pid)
        with selectors.DefaultSelector() as selector, os.fdopen(ended, "rb", 0):
            for source in (*ears, ended):
                selector.register(source, selectors.EVENT_READ)
            while rest:
                try:
                    ready = selector.select(None if self.deadline is None else self.deadline - time.monotonic())
                except KeyboardInterrupt:
                    if not self.interactive:
                        raise
                    self.type(CONTROL_C)
                    continue
                if self.deadline and time.monotonic() > self.deadline:
                    raise TimeoutError
                for source in (key.fd for key, _ in ready):
                    if source == ended:
                        selector.unregister(ended)
                        self.kill()  # its guests, which hold the pipes open
                        continue
                    data = os.read(source, 1 << 16)
                    *lines, rest[source] = (rest[source] + data).split(b"\n")
                    if not data:
                        selector.unregister(source)
                        lines = [last] if (last := rest.pop(source)) else []
                    for line in lines:
                        ears[source](line.decode(errors="replace").rstrip("\r"))

    def kill(self) -> None:
        """Kill the kernel and its guests: they share its group, even when it is dead but not yet waited for."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def hear_line(self, line: str) -> None:
        self.listener.line(line)

    def hear_kernel(self, line: str) -> None:
        self.said.append(line)
        try:
            self.log.write(line.encode() + b"\n")
        except OSError as error:
            self.error = {"error": error.strerror, "errno": error.errno}
        if not self.crash and CRASH.search(line):
            self.crash = line

    def hear_report(self, line: str) -> None:
        report = json.loads(line)
        self.booted = True
        if "progress" in report:
            self.air_s = report["air_s"]
            self.listener.progress(report["progress"], self.air_s)
        elif "prompt" in report:
            self.answer(report["prompt"])
        elif "error" in report:
            self.error = report
        elif "exit" in report:
            self.exit = report["exit"]

    def answer(self, prompt: str) -> None:
        """Ask the user, and stop the kernel meanwhile: it would only spin (see `emulation.lane.prompt`)."""
        self.interactive = True
        self.process.send_signal(signal.SIGSTOP)
        try:
            text = self.listener.ask(prompt)
        except KeyboardInterrupt:
            text = ""
        self.process.send_signal(signal.SIGCONT)
        self.type(END_OF_INPUT if text is None else text.encode() + b"\n")

    def type(self, keys: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.keyboard.write(keys)

    def over_time(self, kernel: Path) -> LaneError:
        program = running_program(self.process.pid, kernel)
        who = {None: "", "": "; every program in it was waiting"}.get(program, f"; {program} was running in it")
        wall_s = time.monotonic() - self.started
        return self.failure(Reason.WALL_LIMIT, f"stopped after {wall_s:.0f} s, at {self.air_s:.1f} s of air time{who}")

    def failure(self, reason: Reason, detail: str = "") -> LaneError:
        return LaneError(reason, detail, self.said)

    def judge(self) -> LaneResult:
        """Say how it ended. Raises LaneError if that was not well."""
        code = self.process.returncode
        if self.error and self.error.get("errno") == errno.ENOSPC:
            raise self.failure(Reason.DISK_FULL, f"{self.folder}: {self.error['error']}")
        if self.crash:
            raise self.failure(Reason.CRASHED, self.crash)
        if code < 0:
            raise self.failure(Reason.KILLED, f"by {signal.Signals(-code).name}")
        if self.exit is None:
            reason = Reason.KILLED if self.booted else Reason.NOT_STARTED
            raise self.failure(reason, " | ".join(list(self.said)[-3:]) or f"it ended with status {code}")
        if self.error:
            raise self.failure(Reason.PROGRAM, self.error["error"])
        if self.exit < 0:
            raise self.failure(Reason.PROGRAM, f"killed by {signal.Signals(-self.exit).name}")
        return LaneResult(self.exit, time.monotonic() - self.started)


def pipe(stack: contextlib.ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """A wide pipe, closed with the stack: virtual time leaps while a guest waits for room in it."""
    ends = os.pipe()
    with contextlib.suppress(OSError):  # a user's pipes may be limited
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 1 << 20)
    reader, writer = os.fdopen(ends[0], "rb", 0), os.fdopen(ends[1], "wb", 0)
    return stack.enter_context(reader), stack.enter_context(writer)


def prepare(cpu: int, parent: int) -> None:
    """In the child, before it becomes the kernel."""
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
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
