# SPDX-License-Identifier: BSD-3-Clause
"""Calls in child processes: reports arrive, children end with their parents, and killed ones are noticed."""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pickle import PicklingError

import pytest
from tblib import pickling_support

from emulation.play.processes import Call, Child, Killed, Parent, run_all

STEP_S = 0.01


def square(number: int, parent: Parent) -> int:
    parent.report(f"{number} squared")
    return number * number


def wait_forever(parent: Parent) -> None:
    signal.pause()


def wait_in_steps(parent: Parent) -> None:
    """Wait, and hear of each signal: one that arrives just before pause() would be noticed only after it."""
    while True:
        time.sleep(STEP_S)


def miss_one_signal(parent: Parent) -> None:
    """Do what Python does if a signal arrives just before a system call that waits for something else."""
    ending = signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: signal.signal(signal.SIGTERM, ending))
    parent.report("here")
    while True:
        signal.pause()


def cleaning_up(file: Path, parent: Parent) -> None:
    try:
        parent.report("begun")
        signal.pause()
    finally:
        file.touch()


def fail(parent: Parent) -> None:
    raise ValueError("no")


def die(parent: Parent) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def gone(process: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, 0)
        return False
    return True


def test_results_come_in_order_and_all_is_heard() -> None:
    """For any number of calls, also calls that are made on demand."""
    heard: list[tuple[int, str]] = []
    found = run_all((partial(square, n) for n in range(9)), lambda index, said: heard.append((index, said)), jobs=3)
    assert found == [n * n for n in range(9)]
    assert sorted(heard) == [(n, f"{n} squared") for n in range(9)]
    assert run_all([]) == []


def test_so_many_at_a_time() -> None:
    def come_and_go(parent: Parent) -> None:
        parent.report(1)
        parent.report(-1)

    there = [0]
    run_all([come_and_go] * 6, lambda index, said: there.append(there[-1] + said), jobs=2)
    assert max(there) <= 2 and len(there) == 13


def test_a_place_is_given_away() -> None:
    """With one place, the second call begins while the first, which gives way, waits for it."""
    ours, theirs = os.pipe()

    def first(parent: Parent) -> bytes:
        parent.give_way()
        return os.read(ours, 1)

    def second(parent: Parent) -> int:
        return os.write(theirs, b"!")

    assert run_all([first, second], jobs=1) == [b"!", 1]


def test_who_was_killed_is_named() -> None:
    with pytest.raises(Killed, match="was killed by SIGKILL") as caught:
        run_all([partial(square, 1), die, partial(square, 2)], jobs=1)
    assert caught.value.index == 1


def test_a_file_that_was_cut_is_not_taken_for_a_lack_of_memory(tmp_path: Path) -> None:
    """The host maps files of a lane, and a program there may truncate them."""
    (tmp_path / "trace").write_bytes(bytes(2 * mmap.PAGESIZE))

    def cut(parent: Parent) -> int:
        with open(tmp_path / "trace", "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        os.truncate(tmp_path / "trace", 1)
        return mapped[mmap.PAGESIZE]

    with pytest.raises(Killed, match="was killed by SIGBUS") as caught:
        run_all([cut])
    assert "became shorter" in caught.value.advice


def test_something_can_be_returned_instead() -> None:
    """For a killed call; the others continue, and each is reported when done."""
    done: list[tuple[int, int]] = []
    found = run_all(
        [die, partial(square, 2), die, partial(square, 3)],
        jobs=1,
        on_done=lambda *each: done.append(each),
        replacement=lambda killed: -(killed.index or 0),
    )
    assert found == [0, 4, -2, 9]
    assert done == [(0, 0), (1, 4), (2, -2), (3, 9)]


@pytest.mark.parametrize(("bad", "error"), [(fail, ValueError), (die, ChildProcessError)])
def test_the_first_to_fail_ends_the_others(
    tmp_path: Path, bad: Callable[[Parent], None], error: type[Exception]
) -> None:
    """They clean up, and the parent waits for them."""
    ours, theirs = os.pipe()

    def other(parent: Parent) -> None:
        try:
            os.write(theirs, b"!")
            signal.pause()
        finally:
            (tmp_path / "cleaned").touch()

    def one(parent: Parent) -> None:
        os.read(ours, 1)
        bad(parent)

    with pytest.raises(error):
        run_all([one, other], jobs=2)
    assert (tmp_path / "cleaned").exists()


def test_an_interrupt_ends_all(tmp_path: Path) -> None:
    def interrupt(index: int, said: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_all([partial(cleaning_up, tmp_path / "cleaned"), wait_forever], interrupt, jobs=2)
    assert (tmp_path / "cleaned").exists()


def test_a_child_hears_and_ends_with_its_block() -> None:
    def double(parent: Parent) -> list[int]:
        return [2 * number for number in iter(parent.receive, None)]

    with Child(double) as child:
        for number in (1, 2, None):
            child.send(number)
        assert child.result() == [2, 4]
    with Child(wait_forever) as child:
        process = child.process.pid
    assert process and gone(process)


def test_a_child_can_be_ended_before_it_runs() -> None:
    """On one CPU the parent goes on first. Python forgets signals that come before it is done with the fork."""
    cpus = os.sched_getaffinity(0)
    handler = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        os.sched_setaffinity(0, [min(cpus)])
        for _ in range(10):
            with Child(wait_in_steps) as child:
                child.end()
                child.process.join(5)
                ended = child.process.exitcode
                child.process.kill()  # else its end would be waited for
            assert ended == 128 + signal.SIGTERM
    finally:
        os.sched_setaffinity(0, cpus)
        signal.signal(signal.SIGTERM, handler)


def test_a_child_that_misses_a_signal_is_ended() -> None:
    child = Child(miss_one_signal)
    child.receive()
    ending = threading.Thread(target=child.__exit__, daemon=True)
    ending.start()
    ending.join(30)
    child.process.kill()  # else the thread would go on
    assert not ending.is_alive()


def test_a_child_that_is_ended_while_python_would_not_hear_of_it(capfd: pytest.CaptureFixture[str]) -> None:
    """Python drops exceptions in destructors, and the child is in one."""

    class Last:
        def __init__(self, parent: Parent) -> None:
            self.parent = parent

        def __del__(self) -> None:
            self.parent.report("here")
            signal.pause()

    def drop(parent: Parent) -> None:
        Last(parent)
        signal.pause()

    with Child(drop) as child:
        child.receive()
        child.end()
        child.process.join(20)
        child.process.kill()  # else its end would be waited for
    assert child.process.exitcode == 128 + signal.SIGTERM
    assert capfd.readouterr().err == ""


def test_a_child_has_children_that_end_with_it(tmp_path: Path) -> None:
    """As the one that draws figures."""

    def two(parent: Parent) -> None:
        run_all([partial(cleaning_up, tmp_path / "cleaned")], lambda index, said: parent.report(said))

    with Child(two, daemon=False) as child:
        child.receive()
    assert (tmp_path / "cleaned").exists()


class Awkward(Exception):
    """An error that cannot be pickled: it takes two arguments, and stores one."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def deep(parent: Parent) -> int:
    return deep(parent) + 1


def awkward(parent: Parent) -> None:
    raise Awkward("no", "pipe")


def unsendable(parent: Parent) -> object:
    return lambda: None


def as_dask_does(call: Call[object], parent: Parent) -> object:
    """Make a call where exceptions keep tracebacks when pickled, as after importing Dask."""
    pickling_support.install()
    return call(parent)


@pytest.mark.parametrize("way", [lambda call: call, lambda call: partial(as_dask_does, call)], ids=["plain", "dask"])
@pytest.mark.parametrize(
    ("call", "kind", "said", "where"),
    [
        (fail, ValueError, "no", "in fail"),
        (deep, RecursionError, "maximum recursion depth", "in deep"),
        (awkward, (ChildProcessError, Awkward), "nopipe", "in awkward"),
        (unsendable, (AttributeError, PicklingError), "lambda", "In a process of its own"),
    ],
)
def test_what_a_child_raises_says_where(
    way: Callable[[Call[object]], Call[object]], call: Call[object], kind: type[Exception], said: str, where: str
) -> None:
    with pytest.raises(kind, match=said) as raised:
        run_all([way(call)])
    assert where in "\n".join(raised.value.__notes__)
