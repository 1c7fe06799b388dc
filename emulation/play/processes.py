# SPDX-License-Identifier: BSD-3-Clause
"""Calls side by side, each in a process of its own, as a lane wants a main thread and a CPU for itself."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar, cast

from emulation.lane import syscalls
from emulation.play.drawing import CONTEXT

Result = TypeVar("Result")
Call = Callable[[Callable[[str], None]], Result]


def run_all(calls: Sequence[Call[Result]], heard: Callable[[int, str], None]) -> list[Result]:
    """Make all calls, as many at a time as there are CPUs, and return what they do, in order.

    Each is given a function that tells `heard` something, beside the call's index. Raises what the first to fail
    raised; then, and on KeyboardInterrupt, the others are ended first.
    """
    waiting = list(enumerate(calls))[::-1]
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    results: dict[int, Result] = {}
    try:
        while waiting or running:
            while waiting and len(running) < len(os.sched_getaffinity(0)):
                index, call = waiting.pop()
                ours, theirs = CONTEXT.Pipe(duplex=False)
                process: BaseProcess = CONTEXT.Process(target=_work, args=(theirs, call), daemon=True)
                process.start()
                theirs.close()
                running[ours] = index, process
            for pipe in cast("list[Connection]", wait(list(running))):
                index, process = running[pipe]
                try:
                    kind, said = pipe.recv()
                except EOFError:
                    process.join()
                    raise ChildProcessError(f"a worker process ended with {process.exitcode}") from None
                if kind == "told":
                    heard(index, said)
                elif kind == "failed":
                    raise said
                else:
                    results[index] = said
                    del running[pipe]
                    pipe.close()
                    process.join()
    finally:
        for pipe, (_, process) in running.items():
            process.terminate()
            pipe.close()
        for _, process in running.values():
            process.join()
    return [results[index] for index in range(len(calls))]


def _work(pipe: Connection, call: Call[Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    syscalls.die_with_parent(signal.SIGTERM)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody listens any more
        try:
            said: tuple[str, object] = "done", call(lambda what: pipe.send(("told", what)))
        except Exception as error:
            said = "failed", error
        pipe.send(said)
