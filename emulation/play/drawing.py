# SPDX-License-Identifier: BSD-3-Clause
"""Draw figures without waiting: a process loads the drawing library while lanes run, and draws in parallel on request.

Loading takes as long as drawing, and as long as everything else that a program loads, so it may begin `ahead`.
Processes that are started here end with the block that started them, in every case.
"""

import contextlib
import importlib.util
import logging
import os
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from emulation.play.processes import Child, Parent

Figure = Callable[..., None]
Drawing = tuple[Figure, Sequence[Any]]
NUMBER = struct.Struct("I")
LIBRARY = "matplotlib"
_ahead: list[Child[None]] = []  # that nobody has taken yet


class Artist:
    """Call it with a function of `figures.figures` and its arguments to request a figure. Drawing begins with `begin`,
    when all requests are made, or at the end of the block."""

    def __init__(self, studio: Child[None]) -> None:
        self._studio, self._begun = studio, False

    def __call__(self, figure: Figure, *arguments: Any) -> None:
        with _named():
            self._studio.send((figure, arguments))

    def begin(self) -> None:
        """Begin to draw what was requested; no more requests follow."""
        if not self._begun:
            self._begun = True
            with _named():
                self._studio.send(None)

    def finish(self) -> None:
        """Wait for all figures. Raises what drawing one of them raised."""
        self.begin()
        with _named():
            self._studio.result()


@contextlib.contextmanager
def preload() -> Iterator[None]:
    """Load the drawing library in parallel to this block, for the first `artist` in it. Raises ImportError if it is not
    installed."""
    _look_for_it()
    import numpy  # noqa: F401  # both processes need it: load it once

    with Child(_studio, daemon=False) as studio:
        _ahead.append(studio)
        yield
    _ahead.clear()


@contextlib.contextmanager
def artist() -> Iterator[Artist]:
    """Draw figures; the end of the block waits for them, and raises what one of them raised. Raises ImportError if the
    drawing library is not installed."""
    _look_for_it()
    with _ahead.pop() if _ahead else Child(_studio, daemon=False) as studio:
        drawing = Artist(studio)
        yield drawing
        drawing.finish()


def _look_for_it() -> None:
    """Check this before anything is played, not in the process that draws, at the very end."""
    if importlib.util.find_spec(LIBRARY) is None:
        raise ModuleNotFoundError(f"No module named {LIBRARY!r}", name=LIBRARY)


@contextlib.contextmanager
def _named() -> Iterator[None]:
    """Turn the error of a killed process into one that says what it did."""
    try:
        yield
    except (ChildProcessError, BrokenPipeError):
        raise ChildProcessError("a process that draws was killed; ./dcflab figures RUN draws again") from None


def _studio(parent: Parent) -> None:
    """Draw what the parent requests, until it sends None, on all CPUs."""
    parent.give_way()
    # It would report at once that a home cannot be written to, which does not matter.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", "Unable to import Axes3D")  # nor needed
    from matplotlib import _docstring
    from matplotlib.artist import Artist as Drawn

    undocumented = classmethod(lambda cls: None)  # writing documentation is half of the load time
    Drawn._update_set_signature_and_docstring = undocumented  # type: ignore[attr-defined]
    _docstring._ArtistKwdocLoader.__missing__ = lambda *_: ""  # type: ignore  # nor their keywords
    import analysis.figures.figures
    import analysis.figures.panels  # noqa: F401

    drawings: list[Drawing] = list(iter(parent.receive, None))
    turns, numbers = os.pipe()
    with os.fdopen(turns, "rb", 0), os.fdopen(numbers, "wb", 0) as queue, contextlib.ExitStack() as stack:
        draw = partial(_draw, drawings, turns)
        # Fewer processes than figures: a process copies most of what it has loaded when it first uses it.
        more = range(1, min(len(os.sched_getaffinity(0)), len(drawings)))
        for number, _ in enumerate(drawings):
            queue.write(NUMBER.pack(number))
        queue.close()
        others = [stack.enter_context(Child(draw)) for _ in more]
        draw(parent)
        for other in others:
            other.result()


def _draw(drawings: Sequence[Drawing], turns: int, parent: Parent) -> None:
    """Draw figures one after the other, each the next that no other process has taken."""
    while number := os.read(turns, NUMBER.size):
        figure, arguments = drawings[NUMBER.unpack(number)[0]]
        figure(*arguments)
