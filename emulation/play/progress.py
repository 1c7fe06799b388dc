# SPDX-License-Identifier: BSD-3-Clause
"""How far many runs are, and how long the rest will take: by the air time that is done, as that is what takes time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

EVERY_S = 60.0  # between two lines, where there is no terminal to show a bar


class Progress:
    """Runs of so many seconds of air each; `now` is a clock in seconds. What was done before it began tells nothing of
    how fast the rest goes."""

    def __init__(self, seconds: Sequence[float], now: Callable[[], float]) -> None:
        self.seconds, self.now = list(seconds), now
        self.done = [0.0] * len(self.seconds)  # fractions
        self.began = self.said = now()
        self.first: dict[int, float] = {}  # the fraction of each run that was heard first

    def heard(self, index: int, fraction: float) -> None:
        """A run has come so far."""
        self.first.setdefault(index, fraction if fraction >= 1 else 0.0)
        self.done[index] = fraction

    @property
    def runs(self) -> int:
        """That are done."""
        return sum(fraction >= 1 for fraction in self.done)

    @property
    def air_s(self) -> float:
        return sum(map(float.__mul__, self.done, self.seconds))

    def left_s(self) -> float | None:
        """How long the rest will take, as fast as it went so far; None before anything has come of it."""
        found = sum(self.first[index] * self.seconds[index] for index in self.first)
        played, passed = self.air_s - found, self.now() - self.began
        return (sum(self.seconds) - self.air_s) * passed / played if played > 0 and passed > 0 else None

    def line(self) -> str | None:
        """What to say where there is no bar, once in a while."""
        if self.now() - self.said < EVERY_S or not (left := self.left_s()):
            return None
        self.said = self.now()
        return f"{self.runs} of {len(self.done)} runs are done, about {duration(left)} left"


def duration(seconds: float) -> str:
    """40 s, 3 min, 2 h 10 min"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
