# SPDX-License-Identifier: BSD-3-Clause
"""How far many runs are, and how long the rest will take, judged by air time, because that is what takes time."""

from collections.abc import Callable, Sequence

EVERY_S = 60.0  # between two lines, if there is no terminal for a bar


class Progress:
    """Progress of runs with these durations in seconds; `now` is a clock in seconds. What was done before does not
    count towards the speed."""

    def __init__(self, seconds: Sequence[float], now: Callable[[], float]) -> None:
        self.seconds, self.now = list(seconds), now
        self.done = [0.0] * len(self.seconds)  # fractions
        self.began = self.last_line_s = now()
        self.first: dict[int, float] = {}  # the fraction of each run at its first report

    def update(self, index: int, fraction: float) -> None:
        """Record the fraction of a run that is done."""
        self.first.setdefault(index, fraction if fraction >= 1 else 0.0)
        self.done[index] = fraction

    @property
    def runs(self) -> int:
        return sum(fraction >= 1 for fraction in self.done)

    @property
    def air_s(self) -> float:
        return sum(map(float.__mul__, self.done, self.seconds))

    def left_s(self) -> float | None:
        """Return how long the rest will take at the speed so far (s); None before there is any progress."""
        found = sum(self.first[index] * self.seconds[index] for index in self.first)
        played, passed = self.air_s - found, self.now() - self.began
        return (sum(self.seconds) - self.air_s) * passed / played if played > 0 and passed > 0 else None

    def line(self) -> str | None:
        """Return a line to print if there is no bar; None if the last one was less than EVERY_S ago."""
        if self.now() - self.last_line_s < EVERY_S or not (left := self.left_s()):
            return None
        self.last_line_s = self.now()
        return f"{self.runs} of {len(self.done)} runs are done, about {duration(left)} left"


def duration(seconds: float) -> str:
    """Format a duration: 40 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
