# SPDX-License-Identifier: BSD-3-Clause
"""One User-Mode Linux, from boot to end: handle its output, and determine how it ended.

Pipes carry the kernel's messages, the program's output, and reports (`emulation.lane.guest`).
"""

import contextlib
import errno
import fcntl
import functools
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from emulation import files
from emulation.files.foreign import parsed
from emulation.lanes import Clock, LaneError, LaneResult, Listener, Reason, Terminated
from emulation.lanes.virtual import boot
from emulation.lanes.virtual.confine import Cell
from emulation.lanes.virtual.cpu_time import age_s, children, times
from emulation.lanes.virtual.guest_state import advance_clock, running_program, virtual_time_ns
from emulation.lanes.virtual.reports import parse

if TYPE_CHECKING:
    from emulation.lanes.virtual.gate import Gate

CONSOLE = "console.log"
CRASH = re.compile(r"Kernel panic|Oops|BUG:|WARNING:|general protection fault")
FIRST_ENDED = re.compile(r"Attempted to kill init! exitcode=0x(\w+)")  # a wait status
NO_MEMORY = "deadlocked on memory"
NO_ROOM = "Kernel mode signal 7"  # in the file that holds its memory
POWERED_OFF = "reboot: Power down"  # the last message, which gives no reason
NO_TERMINALS = "check_one_sigio failed"  # about terminals of the host; the lane must not open any
PATIENCE = 99  # reads of printed output; together more than a pipe holds
CONTROL_C, END_OF_INPUT, QUIT = b"\x03", b"\x04", b"\x1c"
CTRL_C_LIMIT = 5  # this many Ctrl-C in a row end the run; fewer go to the program
LONGEST = 1 << 22  # length of a line
SOON_S = 0.1  # the shortest time to the next look whether the limit is reached
CHECK_S, STILL_CHECKS = 5.0, 12  # how often its clock is checked; how many checks may show the same time
SET_UP_CHECKS = 120  # the limit before a run begins: setting up a thousand stations takes almost no virtual time
NEVER_STILL = ("plan",)  # commands in which the clock never stops for so long, as no program of a user runs
MAY_STAND = (
    f"*** dcflab: virtual time has stopped for {STILL_CHECKS * CHECK_S:.0f} s: the script computes, or it waits in a "
    "loop that neither sleeps nor reads the clock. Ctrl-C ends the run and names its line"
)
ANSWER_S, TRIES = 0.2, 10  # how long to wait for a script's lines, and how often
# A line of a Python stack trace in a file of the user's; the innermost comes first (`lane.first_process.script`).
OWN_FRAME = re.compile(
    r'^  File "(?!<|/usr/|/run/lab/(?!copy/)|[^"]*/site-packages/|[^"]*/init\.py)([^"]*)", line (\d+)', re.M
)


class Wires(NamedTuple):
    """The kernel process's ends of its pipes: typed input, the program's output, kernel messages, reports, and the way
    out (-1: none)."""

    keys: int
    program: int
    console: int
    reports: int
    outside: int = -1


class Machine:
    """One kernel, from boot to end. It accepts only reports that fit the command `verb`. `gate` leads out of it."""

    def __init__(
        self, folder: Path, listener: Listener, wall_limit_s: float | None, verb: str, clock: Clock = Clock.VIRTUAL,
        terminal: bool = False, gate: "Gate | None" = None,
    ) -> None:  # fmt: skip
        self.gate = gate
        self.folder, self.listener, self.verb, self.clock, self.terminal = folder, listener, verb, clock, terminal
        self.started = time.monotonic()
        self.limit_s = wall_limit_s
        self.deadline = None if wall_limit_s is None else self.started + wall_limit_s
        self.kernel_messages: deque[str] = deque(maxlen=60)  # for error reports
        self.crash = ""  # the first line that reports a crash
        self.air_s = 0.0
        self.booted = self.runs = False
        self.exit: int | None = None
        self.error: dict[str, Any] | None = None
        self.interactive = False
        self.interrupts = 0  # since the last input
        self.looked_s, self.clock_ns, self.still = 0.0, -1, 0  # last look: its age, clock, repeats
        self.barriers: list[str] = []  # around its process
        self.waited_s = 0.0  # time without a CPU, while its program ran

    def run(
        self, program: Path, command: Callable[[Wires], list[str]], private: str, cell: Cell, cpus: set[int]
    ) -> LaneResult:
        """Boot, listen until the kernel has ended, and return how it ended. `program` becomes the kernel's process,
        with the command line that `command` returns."""
        with contextlib.ExitStack() as stack:
            self.log = stack.enter_context(files.made(self.folder / CONSOLE))
            (keys, self.keyboard), *outputs = [pipe(stack) for _ in range(4)]
            if self.terminal:
                self.keyboard, keys = terminal(stack)
                outputs[0] = self.keyboard, keys
            else:
                os.set_blocking(self.keyboard.fileno(), False)
            (out, _), (console, _), (reports, _) = outputs
            guest_ends: list[BinaryIO | socket.socket] = [keys, *(end for _, end in outputs)]
            if self.gate:
                guest_ends.append(stack.enter_context(self.gate.opened()))
            wires = Wires(*(end.fileno() for end in guest_ends))
            held = signal.pthread_sigmask(signal.SIG_BLOCK, boot.ENDING_SIGNALS)  # until there is a process to end
            stack.callback(signal.pthread_sigmask, signal.SIG_SETMASK, held)
            try:
                self.process = subprocess.Popen(
                    command(wires),
                    executable=cell.place(program),
                    stdin=keys,
                    stdout=wires.program,
                    stderr=wires.console,
                    pass_fds=[*(end.fileno() for end in guest_ends), *cell.passed.values()],
                    env={"TMPDIR": private, "PATH": os.defpath},
                    preexec_fn=functools.partial(boot.prepare, cpus, os.getpid(), cell, private, wires.reports),
                    start_new_session=True,
                )
            except subprocess.SubprocessError as error:
                raise LaneError(Reason.NOT_STARTED, child_error(reports) or str(error)) from None
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
                for end in guest_ends:
                    end.close()
                self.reports = reports
                ears = {out: self.listener.line, console: self.on_kernel_message, reports: self.on_report}
                self.program = program
                self.listener.started()
                self.listen({source.fileno(): ear for source, ear in ears.items()})
            except TimeoutError:
                raise self.time_limit_error(program) from None
            except KeyboardInterrupt:
                if self.still:
                    raise self.hang() from None
                raise
            finally:
                self.kill()
                self.process.wait()
        return self.result()

    def listen(self, handlers: dict[int, Callable[[str], None]]) -> None:
        """Pass each line to its handler until all pipes are closed. Raises TimeoutError at the limit."""
        rest, heard = dict.fromkeys(handlers, b""), deque[tuple[int, bytes]]()
        ended, screen, *_, reports = os.pidfd_open(self.process.pid), *handlers
        put_off = 0
        with selectors.DefaultSelector() as selector, os.fdopen(ended, "rb", 0):
            for source in (*handlers, ended):
                selector.register(source, selectors.EVENT_READ)
            while rest or heard:
                try:
                    while heard:
                        source, line = heard.popleft()
                        handlers[source](line.decode(errors="replace").rstrip("\r"))
                    left_s = None if self.deadline is None else self.deadline - time.monotonic()
                    if self.clock is Clock.VIRTUAL:
                        left_s = CHECK_S if left_s is None else min(left_s, CHECK_S)
                    ready = selector.select(left_s)
                    self.check_limit()
                    self.check_clock()
                    put_off = put_off + 1 if {screen, reports} <= {key.fd for key, _ in ready} else 0
                    for source in (key.fd for key, _ in ready):
                        if source == reports and 0 < put_off < PATIENCE:
                            continue  # earlier printed output comes first
                        if source == ended:
                            self.kill()  # kill its guests, which hold the pipes open
                            selector.unregister(ended)
                            continue
                        data = read(source)
                        *lines, last = (rest.get(source, b"") + data).split(b"\n")
                        if last and (not data or len(last) > LONGEST):
                            lines, last = [*lines, last], b""
                        heard.extend((source, line) for line in lines)
                        rest[source] = last
                        if not data:
                            del rest[source]
                            selector.unregister(source)
                except Terminated:
                    raise
                except KeyboardInterrupt:  # at any time: lines that were received are kept
                    self.interrupts += 1
                    if not self.interactive or self.interrupts >= (2 if self.still else CTRL_C_LIMIT):
                        raise
                    self.type(CONTROL_C)
                    if self.still:
                        advance_clock(self.process.pid, self.program)

    def kill(self) -> None:
        """Kill the kernel and its guests: its process group, which exists until the kernel has been waited for."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def on_kernel_message(self, line: str) -> None:
        if line.startswith(NO_TERMINALS):
            return
        if line != POWERED_OFF:
            self.kernel_messages.append(line)
        try:
            self.log.write(line.encode() + b"\n")
        except OSError as error:
            self.error = {"error": error.strerror, "errno": error.errno}
        if not self.crash and CRASH.search(line):
            self.crash = line

    def on_report(self, line: str) -> None:
        try:
            report = parse(line, self.verb)
        except ValueError:
            said = "a program wrote to /dev/tty2, which carries the lane's own reports"
            raise self.failure(Reason.PROGRAM, f"{said}: {line[:60]}") from None
        if "barriers" in report and not self.booted:
            self.barriers = report["barriers"]
            return
        if "boot" in report and self.booted:
            raise self.failure(Reason.PROGRAM, "a program rebooted it; a lane ends with its program")
        if not self.booted:
            self.waited_s = -self.waited()
        self.booted = True
        if "progress" in report:
            self.runs, self.air_s = True, report["air_s"]
            self.listener.progress(report["progress"], self.air_s)
        elif "prompt" in report:
            self.answer(report["prompt"])
        elif "capture" in report:
            self.listener.capture(report["run"], report["capture"], report["now_ns"])
        elif "words" in report:
            self.listener.words(report["words"])
        elif "error" in report:
            self.error = report
        elif "exit" in report:
            self.exit = report["exit"]
            self.waited_s += self.waited()

    def waited(self) -> float:
        """Return how long the process has waited for a CPU, in seconds; not counted in virtual time."""
        return times(self.process.pid).waited if self.clock is Clock.REAL else 0.0

    def age_s(self) -> float:
        """Return for how long it exists, without the time that it waited for a CPU."""
        pid = self.process.pid
        return age_s(time.monotonic() - self.started, times(pid, *children(pid)))

    def answer(self, prompt: str) -> None:
        """Ask the user, and stop the kernel meanwhile: it would only poll for the input."""
        if self.listener.ask is None:
            self.type(END_OF_INPUT)
            return
        self.interactive = True
        self.send_signal(signal.SIGSTOP)
        if self.process.poll() is not None:  # it was killed meanwhile
            return
        try:
            text = self.listener.ask(prompt)
            self.interrupts = 0 if text else self.interrupts
        except Terminated:
            raise
        except KeyboardInterrupt:
            self.interrupts += 1
            if self.interrupts >= CTRL_C_LIMIT:
                raise
            text = ""
        self.looked_s, self.still = self.age_s(), 0
        self.send_signal(signal.SIGCONT)
        self.type(END_OF_INPUT if text is None else text.encode() + b"\n")

    def send_signal(self, number: signal.Signals) -> None:
        """Stop or continue the kernel; without effect in real time."""
        if self.clock is Clock.VIRTUAL:
            self.process.send_signal(number)

    def type(self, keys: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            if self.keyboard.write(keys) != len(keys):
                raise self.failure(Reason.PROGRAM, "a program asks on and on, and does not read what is typed")

    def check_limit(self) -> None:
        """Raise TimeoutError if the limit is reached. On a busy machine that is later than the deadline."""
        if self.limit_s is None or self.deadline is None or time.monotonic() < self.deadline:
            return
        if (left_s := self.limit_s - self.age_s()) <= 0:
            raise TimeoutError
        self.deadline = time.monotonic() + max(left_s, SOON_S)

    def check_clock(self) -> None:
        """Check virtual time. If it has not advanced for long, a program runs and never waits: raise LaneError, or for
        a script, which may compute, print a note once."""
        next_s = self.looked_s + CHECK_S
        if self.clock is not Clock.VIRTUAL or time.monotonic() - self.started < next_s or self.age_s() < next_s:
            return
        shown_ns = virtual_time_ns(self.process.pid, self.program)
        same = shown_ns is not None and shown_ns == self.clock_ns
        self.still = self.still + 1 if same else 0
        self.looked_s, self.clock_ns = self.age_s(), -1 if shown_ns is None else shown_ns
        if self.verb not in NEVER_STILL:
            if self.still == STILL_CHECKS:
                self.listener.line(MAY_STAND)
        elif self.still >= (STILL_CHECKS if self.runs else SET_UP_CHECKS) and running_program(
            self.process.pid, self.program
        ):
            raise self.hang()

    def hang(self) -> LaneError:
        """Return the error of a program that waits for nothing while time stands still."""
        who = running_program(self.process.pid, self.program) or "a program"
        since = f", {self.air_s:.1f} s or more into the run" if self.verb in NEVER_STILL else ""
        return self.failure(
            Reason.STILL,
            f"virtual time has stopped{since}: {who} runs and never waits{self.place()}. "
            "It may poll in a loop: let it sleep between polls. Or it may have no memory left: use fewer stations",
        )

    def place(self) -> str:
        """Return where a script is that waits for nothing, as " at FILE, line N", for each of its threads; empty if it
        does not answer. The script cannot go on afterwards."""
        if self.verb in NEVER_STILL:
            return ""
        self.type(QUIT)
        said = ""
        with selectors.DefaultSelector() as selector:
            selector.register(self.reports, selectors.EVENT_READ)
            for _ in range(TRIES):
                advance_clock(self.process.pid, self.program)
                while selector.select(ANSWER_S) and (data := read(self.reports.fileno())):
                    said += data.decode(errors="replace")
                if said:
                    break
        found = [OWN_FRAME.search(thread) for thread in said.split("\n\n")]
        places = [f"{os.path.basename(frame[1])}, line {frame[2]}" for frame in found if frame]
        return f" at {' and '.join(dict.fromkeys(places))}" if places else ""

    def time_limit_error(self, kernel: Path) -> LaneError:
        running = running_program(self.process.pid, kernel)
        who = {None: "", "": "; every program in it was waiting"}.get(running, f"; {running} was running in it")
        wall_s = time.monotonic() - self.started
        where = self.place() if self.still else ""
        detail = f"stopped after {wall_s:.0f} s, at {self.air_s:.1f} s of air time{who}{where}"
        return self.failure(Reason.WALL_LIMIT, detail)

    def failure(self, reason: Reason, detail: str = "") -> LaneError:
        return LaneError(reason, detail, self.kernel_messages)

    def result(self) -> LaneResult:
        """Return how the lane ended. Raises LaneError if it failed."""
        code = self.process.returncode
        if self.error and self.error.get("errno") == errno.ENOSPC:
            raise self.failure(Reason.DISK_FULL, f"{self.folder}: {self.error['error']}")
        if NO_MEMORY in self.crash:
            raise self.failure(Reason.MEMORY, "use fewer stations within range of each other, or fewer flows at once")
        if NO_ROOM in self.crash:
            raise self.failure(Reason.MEMORY, "there is no more room for it; $TMPDIR can name another folder")
        if self.verb == "plan" and (ended := FIRST_ENDED.search(self.crash)):
            status = os.waitstatus_to_exitcode(int(ended[1], 16) & 0xFFFF)
            how = f"ended with status {status}" if status >= 0 else f"was killed by {name_of(-status)}"
            raise LaneError(
                Reason.PROGRAM, f"the process in which plug-ins run {how}. If a plug-in ends it, raise an error there"
            )
        if self.crash:
            raise self.failure(Reason.CRASHED, self.crash)
        if code < 0:
            raise self.failure(Reason.KILLED, f"by {name_of(-code)}")
        if self.exit is None and self.booted and code == 0:
            raise self.failure(Reason.PROGRAM, "a program powered it off; a lane ends with its program")
        if self.exit is None:
            reason = Reason.KILLED if self.booted else Reason.NOT_STARTED
            raise self.failure(reason, " | ".join(list(self.kernel_messages)[-3:]) or f"it ended with status {code}")
        if self.error:
            raise self.failure(Reason.MISUSE if self.error.get("misuse") else Reason.PROGRAM, self.error["error"])
        if self.exit < 0:
            raise self.failure(Reason.PROGRAM, f"killed by {name_of(-self.exit)}")
        return LaneResult(self.exit, time.monotonic() - self.started, self.barriers, waited_s=self.waited_s)


def name_of(number: int) -> str:
    """Return the name of a signal; real-time signals have only numbers."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def read(source: int) -> bytes:
    """Return the next data; empty at the end, which a terminal reports as an error."""
    try:
        return os.read(source, 1 << 16)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def child_error(reports: BinaryIO) -> str:
    """Return the error of a child process that did not become the kernel; empty if it reported none."""
    os.set_blocking(reports.fileno(), False)
    said = [parsed(line) for line in (reports.read() or b"").splitlines()]
    return "; ".join(each[boot.NOT_READY] for each in said if boot.NOT_READY in each)


def terminal(stack: contextlib.ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Open a terminal. Return our end and the program's."""
    ours, theirs = (os.fdopen(end, "r+b", 0) for end in os.openpty())
    return stack.enter_context(ours), stack.enter_context(theirs)


def pipe(stack: contextlib.ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Open a large pipe, closed with the stack: while a guest waits for room in it, virtual time jumps."""
    ends = os.pipe()
    with contextlib.suppress(OSError):  # a user's pipes may have a limit
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 1 << 20)
    reader, writer = os.fdopen(ends[0], "rb", 0), os.fdopen(ends[1], "wb", 0)
    return stack.enter_context(reader), stack.enter_context(writer)
