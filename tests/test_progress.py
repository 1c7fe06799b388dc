# SPDX-License-Identifier: BSD-3-Clause
"""The remaining time of many runs, by a clock that the test sets."""

from __future__ import annotations

import pytest

from emulation.play.progress import Progress, duration


class Clock:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def test_the_rest_takes_as_long_as_what_was_done() -> None:
    """Per air time: a long run counts for more."""
    clock = Clock()
    progress = Progress([100, 100, 800], clock)
    assert progress.left_s() is None
    clock.at += 30
    progress.update(0, 0.5)
    progress.update(0, 1.0)
    assert (progress.runs, progress.air_s, progress.left_s()) == (1, 100, pytest.approx(270))
    progress.update(1, 1.0)
    progress.update(2, 0.25)
    clock.at += 30
    assert progress.left_s() == pytest.approx(60 * 600 / 300)


def test_what_was_done_before_says_nothing_of_the_rest() -> None:
    """In a continued sweep."""
    clock = Clock()
    progress = Progress([100.0] * 4, clock)
    progress.update(0, 1.0)
    progress.update(1, 1.0)
    clock.at += 10
    assert progress.left_s() is None
    progress.update(2, 0.5)
    assert progress.left_s() == pytest.approx(10 * 150 / 50)


def test_a_line_now_and_then() -> None:
    clock, said = Clock(), []
    progress = Progress([60.0] * 10, clock)
    for run in range(10):
        for step in range(1, 11):
            clock.at += 3
            progress.update(run, step / 10)
            said += [line] if (line := progress.line()) else []
    assert said[0] == "2 of 10 runs are done, about 4 min left"
    assert len(said) == 4


@pytest.mark.parametrize(("seconds", "said"), [(4.4, "4 s"), (89, "89 s"), (100, "2 min"), (7800, "2 h 10 min")])
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
