# SPDX-License-Identifier: BSD-3-Clause
"""Make calls in parallel child processes: a lane needs a main thread and a CPU of its own, and so does a figure.

A child reports through a pipe, and does not outlive its parent. The end of the `with` block ends it and waits for it;
if the parent is killed, the kernel ends it. On SIGTERM it exits normally and cleans up. The parent handles Ctrl-C.
"""

from __future__ import annotations

import contextlib
import enum
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from types import FrameType
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from emulation.lane import syscalls

CONTEXT = multiprocessing.get_context("fork")
ENDING = (signal.SIGINT, signal.SIGTERM)
LATER_S = 0.001
AGAIN_S = 0.1
LOW_PRIORITY = 5  # niceness of work that nobody waits for yet

Result = TypeVar("Result")


class Message(enum.Enum):
    """Kinds of messages from a child."""

    PROGRESS = enum.auto()
    SLOT_FREE = enum.auto()
    DONE = enum.auto()
    FAILED = enum.auto()


class Killed(ChildProcessError):
    """A child was ended from outside; `index` is that of its call, if there are several."""

    def __init__(self, status: int, index: int | None = None) -> None:
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        super().__init__(f"a process at work {how}")
        self.status, self.index, self.how = status, index, how

    @property
    def advice(self) -> str:
        """What may have caused it, and what to do."""
        if self.status == -signal.SIGBUS:  # at a page that a mapped file no longer has
            return "a file that it was reading became shorter: something in the run's lane cut it"
        return "if memory was short, --jobs 1 takes less of it"


class Parent:
    """The parent of a call, as the call sees it."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def report(self, what: object) -> None:
        self._pipe.send((Message.PROGRESS, what))

    def receive(self) -> Any:
        """Wait for a message from the parent. Raises EOFError if there will be none."""
        return self._pipe.recv()

    def give_way(self) -> None:
        """Give way: the next call may begin now, and the rest of this one runs at low priority."""
        os.nice(LOW_PRIORITY)
        self._pipe.send((Message.SLOT_FREE, None))


Call = Callable[[Parent], Result]
OnReport = Callable[[int, Any], None]


class Child(Generic[Result]):
    """A call in a process of its own, which ends with the `with` block. A daemon cannot have children."""

    def __init__(self, call: Call[Result], daemon: bool = True) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_make, args=(call, theirs, self.pipe), daemon=daemon)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # a new child's Python forgets what has arrived
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()

    def send(self, what: object) -> None:
        """Send it a message, which its call can `receive`."""
        self.pipe.send(what)

    def receive(self) -> tuple[Message, Any]:
        """Return its next message. Raises ChildProcessError if it was killed."""
        try:
            return cast("tuple[Message, Any]", self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            raise Killed(self.process.exitcode or 0) from None

    def result(self) -> Result:
        """Return what the call returns. Raises what it raised, or ChildProcessError if it was killed."""
        while True:
            kind, said = self.receive()
            if kind is Message.FAILED:
                raise said
            if kind is Message.DONE:
                return cast(Result, said)

    def end(self) -> None:
        """Start ending it; the end of the block waits for it."""
        self.pipe.close()
        self.process.terminate()

    def wait(self) -> None:
        """Wait until it has ended, and repeat the signal. If one arrives just before a system call, Python notices it
        only after the call, which may wait for something that never comes."""
        while self.process.exitcode is None:
            self.process.terminate()
            self.process.join(AGAIN_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.wait()


class SideBySide(Protocol):
    """Makes calls in parallel; `run_all` does so on this machine."""

    def __call__(self, calls: Iterable[Call[Result]], on_report: OnReport, jobs: int | None) -> list[Result]: ...


def run_all(
    calls: Iterable[Call[Result]], on_report: OnReport = lambda index, what: None, jobs: int | None = None, *,
    on_done: Callable[[int, Result], None] = lambda index, result: None,
    replacement: Callable[[Killed], Result] | None = None,
) -> list[Result]:  # fmt: skip
    """Make all calls, `jobs` at a time (by default one per CPU), and return their results in order.

    `on_report` gets each call's index and its reports; `on_done` gets its index and result, as soon as it has one. A
    call that gives way leaves its place to the next one, so up to twice as many run. Raises what the first failing call
    raised, or ChildProcessError if one was killed and has no `replacement`. Before that, and on KeyboardInterrupt, it
    ends the others.
    """
    jobs = jobs or len(os.sched_getaffinity(0))
    waiting = enumerate(calls)
    children: dict[Connection, tuple[int, Child[Result]]] = {}
    places: set[Connection] = set()
    results: dict[int, Result] = {}
    try:
        while True:
            while len(places) < jobs and len(children) < 2 * jobs and (following := next(waiting, None)):
                index, call = following
                child = Child(call)
                children[child.pipe] = index, child
                places.add(child.pipe)
            if not children:
                return [results[index] for index in range(len(results))]
            for pipe in cast("list[Connection]", wait(list(children))):
                index, child = children[pipe]
                try:
                    kind, said = child.receive()
                except Killed as killed:
                    named = Killed(killed.status, index)
                    if replacement is None:
                        raise named from None
                    kind, said = Message.DONE, replacement(named)
                if kind is Message.PROGRESS:
                    on_report(index, said)
                elif kind is Message.FAILED:
                    raise said
                else:
                    places.discard(pipe)
                if kind is Message.DONE:
                    results[index] = said
                    del children[pipe]
                    child.process.join()
                    pipe.close()
                    on_done(index, said)
    finally:
        for _, child in children.values():
            child.end()
        for _, child in children.values():
            child.wait()


def _make(call: Call[Any], pipe: Connection, parents: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    sys.unraisablehook = _dropped
    syscalls.die_with_parent(signal.SIGTERM)
    parents.close()  # else this end would never notice that the parent is gone
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody listens any more
        try:
            said: tuple[Message, object] = Message.DONE, call(Parent(pipe))
        except Exception as error:
            said = _failed(error)
        try:
            pipe.send(said)
        except OSError:
            raise
        except Exception as error:  # its result cannot be pickled
            pipe.send(_failed(error))


def _failed(error: Exception) -> tuple[Message, Exception]:
    """Return the message for an error: the error with its traceback as a note, because no pipe transports that. If the
    error cannot be pickled, its text is sent instead."""
    where = f"In a process of its own:\n{''.join(traceback.format_exception(error))}"
    error.__traceback__ = error.__cause__ = error.__context__ = None  # Dask's pickle includes them, however deep
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        error = ChildProcessError(f"{type(error).__name__}: {error}")
    error.add_note(where)
    return Message.FAILED, error


def _exit(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once: nothing may disturb the cleanup
    sys.exit(128 + number)


def _dropped(what: sys.UnraisableHookArgs) -> None:
    """Repeat an exit that was raised in a destructor or weak reference's callback, where Python drops it."""
    if isinstance(what.exc_value, SystemExit):
        status = what.exc_value.code
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(status))
        signal.setitimer(signal.ITIMER_REAL, LATER_S)
    else:
        sys.__unraisablehook__(what)
