# SPDX-License-Identifier: BSD-3-Clause
"""Calls in child processes, side by side: a lane wants a main thread and a CPU for itself, and so does a figure.

A child tells its story through a pipe, and does not outlive its parent, however that ends: it is ended and waited for
when its `with` block is left, and the kernel ends it should the parent be killed. SIGTERM ends it as an exit does, so
that it cleans up; Ctrl-C is its parent's affair.
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
LATER_S = 0.001
STAND_BACK = 5  # niceness of work that nobody waits for yet

Result = TypeVar("Result")


class Said(enum.Enum):
    """What a child's messages are about."""

    TOLD = enum.auto()
    PLACE_FREE = enum.auto()
    DONE = enum.auto()
    FAILED = enum.auto()


class Killed(ChildProcessError):
    """A child was ended from outside; `index` is that of its call, if it was one of several."""

    def __init__(self, status: int, index: int | None = None) -> None:
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        super().__init__(f"a process at work {how}")
        self.status, self.index, self.how = status, index, how

    @property
    def advice(self) -> str:
        """What may have led to it, and what to do."""
        if self.status == -signal.SIGBUS:  # at a page of a mapped file that is no longer there
            return "a file that it was reading became shorter: something in the run's lane cut it"
        return "if memory was short, --jobs 1 takes less of it"


class Parent:
    """Who made the call, as it sees it."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def tell(self, what: object) -> None:
        """Tell how it goes."""
        self._pipe.send((Said.TOLD, what))

    def hear(self) -> Any:
        """Wait for what the parent has to say. Raises EOFError if it will say nothing any more."""
        return self._pipe.recv()

    def stand_back(self) -> None:
        """Give way: the next call may begin now, and what is left to do here takes the CPU time that others leave."""
        os.nice(STAND_BACK)
        self._pipe.send((Said.PLACE_FREE, None))


Call = Callable[[Parent], Result]
Heard = Callable[[int, Any], None]


class Child(Generic[Result]):
    """A call in a process of its own, from here to the end of the `with` block. A daemon has no children itself."""

    def __init__(self, call: Call[Result], daemon: bool = True) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_make, args=(call, theirs, self.pipe), daemon=daemon)
        self.process.start()
        theirs.close()

    def say(self, what: object) -> None:
        """Tell it something, which it will `hear`."""
        self.pipe.send(what)

    def listen(self) -> tuple[Said, Any]:
        """Its next message. Raises ChildProcessError if it was killed."""
        try:
            return cast("tuple[Said, Any]", self.pipe.recv())
        except (EOFError, ConnectionResetError):
            self.process.join()
            raise Killed(self.process.exitcode or 0) from None

    def result(self) -> Result:
        """What the call returns. Raises what it raised, and ChildProcessError if it was killed."""
        while True:
            kind, said = self.listen()
            if kind is Said.FAILED:
                raise said
            if kind is Said.DONE:
                return cast(Result, said)

    def end(self) -> None:
        """Begin to end it; the block's end waits for it."""
        self.pipe.close()
        self.process.terminate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self.process.join()


class SideBySide(Protocol):
    """What makes calls side by side: `run_all` does on this machine."""

    def __call__(self, calls: Iterable[Call[Result]], heard: Heard, jobs: int | None) -> list[Result]: ...


def run_all(
    calls: Iterable[Call[Result]],
    heard: Heard = lambda index, what: None,
    jobs: int | None = None,
    *,
    done: Callable[[int, Result], None] = lambda index, result: None,
    instead: Callable[[Killed], Result] | None = None,
) -> list[Result]:
    """Make all calls, so many at a time (by default one a CPU), and return what they do, in order.

    `heard` hears each call's index and what it tells, and `done` what it returned, as soon as it has. A call that
    stands back leaves its place to the next one, so that up to twice as many are at work. Raises what the first to fail
    raised, and ChildProcessError for one that was killed, unless there is something to return `instead`; then, and on
    KeyboardInterrupt, the others are ended first.
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
                    kind, said = child.listen()
                except Killed as killed:
                    named = Killed(killed.status, index)
                    if instead is None:
                        raise named from None
                    kind, said = Said.DONE, instead(named)
                if kind is Said.TOLD:
                    heard(index, said)
                elif kind is Said.FAILED:
                    raise said
                else:
                    places.discard(pipe)
                if kind is Said.DONE:
                    results[index] = said
                    del children[pipe]
                    child.process.join()
                    pipe.close()
                    done(index, said)
    finally:
        for _, child in children.values():
            child.end()
        for _, child in children.values():
            child.process.join()


def _make(call: Call[Any], pipe: Connection, parents: Connection) -> None:
    """The child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit)
    sys.unraisablehook = _dropped
    syscalls.die_with_parent(signal.SIGTERM)
    parents.close()  # else this end would never see that the parent is gone
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody listens any more
        try:
            said: tuple[Said, object] = Said.DONE, call(Parent(pipe))
        except Exception as error:
            said = _failed(error)
        try:
            pipe.send(said)
        except OSError:
            raise
        except Exception as error:  # what it returns does not go through a pipe
            pipe.send(_failed(error))


def _failed(error: Exception) -> tuple[Said, Exception]:
    """What to tell of an error: it, with where it happened, which no pipe takes along; or, if it does not go through a
    pipe itself, what it was."""
    where = f"In a process of its own:\n{''.join(traceback.format_exception(error))}"
    error.__traceback__ = error.__cause__ = error.__context__ = None  # Dask has pickle take them along, however deep
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        error = ChildProcessError(f"{type(error).__name__}: {error}")
    error.add_note(where)
    return Said.FAILED, error


def _exit(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # once: nothing disturbs the cleaning up
    sys.exit(128 + number)


def _dropped(what: sys.UnraisableHookArgs) -> None:
    """What is raised in a destructor, or in a weak reference's callback, is dropped; an exit comes again."""
    if isinstance(what.exc_value, SystemExit):
        status = what.exc_value.code
        signal.signal(signal.SIGALRM, lambda *_: sys.exit(status))
        signal.setitimer(signal.ITIMER_REAL, LATER_S)
    else:
        sys.__unraisablehook__(what)
