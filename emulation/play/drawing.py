# SPDX-License-Identifier: BSD-3-Clause
"""Figures without waiting: a process loads the drawing library while lanes run, and draws side by side when asked.

Loading takes as long as drawing. All that is started here ends with the `artist` block, however that ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from emulation.lane import syscalls

CONTEXT = multiprocessing.get_context("fork")
STAND_BACK = 5  # niceness of work that nobody waits for yet


@contextlib.contextmanager
def artist() -> Iterator[Callable[..., None]]:
    """Yields `draw(figure, *arguments)`, which starts drawing one figure: a function of `analysis.figures`. The end of
    the block waits for them all, and raises what one of them raised.
    """
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_draw_all, args=(theirs, ours))
    asked = 0

    def draw(*drawing: Any) -> None:
        nonlocal asked
        asked += 1
        ours.send(drawing)

    try:
        process.start()
        theirs.close()
        yield draw
        for _ in range(asked):
            if error := ours.recv():
                raise error
    except (EOFError, BrokenPipeError):
        raise ChildProcessError("a process that draws was killed; --no-figures does without") from None
    finally:
        ours.close()
        if process.pid:
            process.terminate()
            process.join()


def _draw_all(pipe: Connection, parents: Connection) -> None:
    parents.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    syscalls.die_with_parent(signal.SIGTERM)
    os.nice(STAND_BACK)
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # which ends and waits for those that draw

    with contextlib.suppress(EOFError):  # no more is wanted
        while True:
            CONTEXT.Process(target=_draw, args=(pipe, *pipe.recv()), daemon=True).start()


def _draw(pipe: Connection, figure: Callable[..., None], *arguments: Any) -> None:
    syscalls.die_with_parent(signal.SIGTERM)
    try:
        figure(*arguments)
        pipe.send(None)
    except Exception as error:
        pipe.send(error)
