# SPDX-License-Identifier: BSD-3-Clause
"""Figures without waiting: a process loads the drawing library while lanes run, and draws side by side when asked.

Loading takes as long as drawing, and as all else that a program loads: so it may begin `ahead` of all that. What is
started here ends with the block that started it, however that ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from emulation.play.processes import Child, Parent, run_all

MANY = 1000  # figures at once: none waits for another

Figure = Callable[..., None]
_ahead: list[Child[None]] = []  # that nobody has taken yet


@contextlib.contextmanager
def ahead() -> Iterator[None]:
    """Load the drawing library from now on, beside what is done in this block, for the first `artist` in it."""
    with Child(_studio, daemon=False) as studio:
        _ahead.append(studio)
        yield
    _ahead.clear()


@contextlib.contextmanager
def artist() -> Iterator[Callable[..., None]]:
    """Yields `draw(figure, *arguments)`, which starts drawing one figure: a function of `analysis.figures`. The end of
    the block waits for them all, and raises what one of them raised.
    """
    with _ahead.pop() if _ahead else Child(_studio, daemon=False) as studio:

        def draw(figure: Figure, *arguments: Any) -> None:
            with _named():
                studio.say((figure, arguments))

        yield draw
        with _named():
            studio.say(None)
            studio.result()


@contextlib.contextmanager
def _named() -> Iterator[None]:
    """Say which process was killed."""
    try:
        yield
    except (ChildProcessError, BrokenPipeError):
        raise ChildProcessError("a process that draws was killed; --no-figures does without") from None


def _studio(parent: Parent) -> None:
    """Draw what the parent says, until it says None."""
    parent.stand_back()
    from matplotlib.artist import Artist

    undocumented = classmethod(lambda cls: None)  # its classes; writing that is half of loading the rest
    Artist._update_set_signature_and_docstring = undocumented  # type: ignore[attr-defined]
    import matplotlib.backends.backend_agg
    import matplotlib.figure  # noqa: F401

    import analysis.figures  # noqa: F401

    run_all((partial(_draw, *drawing) for drawing in iter(parent.hear, None)), jobs=MANY)


def _draw(figure: Figure, arguments: Sequence[Any], parent: Parent) -> None:
    figure(*arguments)
