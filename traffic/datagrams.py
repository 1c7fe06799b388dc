# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of numbered datagrams: how many arrive, with what delay and jitter.

Both ends have the same clock, so the delay from application to application is exact. Jitter is that of RFC 3550,
section 6.4.1: the difference between the delays of consecutive arrivals, smoothed over sixteen.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from operator import lt, sub

from traffic.spread import spread_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING = -1
ALIKE = 8  # datagrams of one time, from which a loop over times costs less than one over datagrams


class Datagrams:
    """The datagrams of one flow. Times are ns of one clock."""

    def __init__(self) -> None:
        self.sent_ns, self.delay_ns = array("q"), array("q")  # by number; the delay of a missing one is MISSING
        self.arrived = self.duplicates = self.reordered = self.hops = 0
        self.highest, self.last_ns = -1, 0  # the highest number that arrived; time of the last arrival
        self.jitter_ns = self.jitters_ns = 0.0  # now, and the sum over all arrivals
        self.before_ns: int | None = None  # the delay of the last arrival
        self.since = [0, 0]  # since the last sample: arrivals, and the sum of their delays

    def send(self, now_ns: int) -> int:
        """Record a transmission; return its number."""
        self.send_many(1, now_ns)
        return len(self.sent_ns) - 1

    def send_many(self, count: int, now_ns: int) -> None:
        """Record transmissions at one instant."""
        self.sent_ns.extend(array("q", (now_ns,)) * count)
        self.delay_ns.extend(array("q", (MISSING,)) * count)

    def arrive(self, number: int, now_ns: int, hops: int = 1) -> None:
        """Record an arrival over `hops` hops."""
        if self.delay_ns[number] != MISSING:
            self.duplicates += 1
            return
        self.delay_ns[number] = delay_ns = now_ns - self.sent_ns[number]
        if self.before_ns is not None:
            self.jitter_ns += (abs(delay_ns - self.before_ns) - self.jitter_ns) / 16
            self.jitters_ns += self.jitter_ns
        self.reordered += number < self.highest
        self.highest, self.before_ns, self.last_ns = max(number, self.highest), delay_ns, now_ns
        self.arrived, self.hops = self.arrived + 1, self.hops + hops
        self.since = [self.since[0] + 1, self.since[1] + delay_ns]

    def arrive_many(self, numbers: list[int], hops: list[int], times_ns: list[int]) -> None:
        """Record arrivals in the order of their times. Numbers that were not sent belong to another sender."""
        if not numbers:
            return
        first, last = numbers[0], numbers[-1]
        if not self.highest < first or last >= len(self.sent_ns) or not all(map(lt, numbers, numbers[1:])):
            for number, over, at_ns in zip(numbers, hops, times_ns, strict=True):
                if 0 <= number < len(self.sent_ns):
                    self.arrive(number, at_ns, over)
            return
        # The usual case, and the same without a call for each. Of a long aggregate, many are sent and arrive together.
        place = 0
        if bisect_right(times_ns, times_ns[0]) < ALIKE:
            self._arrive_apart(numbers, times_ns)
            place = len(numbers)
        while place < len(numbers):
            number, at_ns = numbers[place], times_ns[place]
            after = bisect_right(self.sent_ns, self.sent_ns[number], number, last + 1)
            end = min(bisect_left(numbers, after, place), bisect_right(times_ns, at_ns, place))
            self._arrive_alike(numbers[place:end], at_ns)
            place = end
        self.highest, self.last_ns = last, times_ns[-1]
        self.arrived, self.hops = self.arrived + len(numbers), self.hops + sum(hops)

    def _arrive_apart(self, numbers: list[int], times_ns: list[int]) -> None:
        """Record the delays of new ones in order."""
        delays_ns = list(map(sub, times_ns, map(self.sent_ns.__getitem__, numbers)))
        self._keep(numbers, array("q", delays_ns))
        row_ns = delays_ns if self.before_ns is None else [self.before_ns, *delays_ns]
        jitter_ns, jitters_ns = self.jitter_ns, self.jitters_ns
        for change_ns in map(abs, map(sub, row_ns[1:], row_ns)):
            jitter_ns += (change_ns - jitter_ns) / 16
            jitters_ns += jitter_ns
        self.before_ns, self.jitter_ns, self.jitters_ns = delays_ns[-1], jitter_ns, jitters_ns
        self.since = [self.since[0] + len(numbers), self.since[1] + sum(delays_ns)]

    def _arrive_alike(self, numbers: list[int], at_ns: int) -> None:
        """The same for those that were sent at one time and arrive at one time."""
        count, delay_ns = len(numbers), at_ns - self.sent_ns[numbers[0]]
        self._keep(numbers, array("q", (delay_ns,)) * count)
        jitter_ns, jitters_ns = self.jitter_ns, self.jitters_ns
        if self.before_ns is not None:
            jitter_ns += (abs(delay_ns - self.before_ns) - jitter_ns) / 16
            jitters_ns += jitter_ns
        for _ in range(count - 1):
            jitter_ns -= jitter_ns / 16
            jitters_ns += jitter_ns
        self.before_ns, self.jitter_ns, self.jitters_ns = delay_ns, jitter_ns, jitters_ns
        self.since = [self.since[0] + count, self.since[1] + delay_ns * count]

    def _keep(self, numbers: list[int], delays_ns: array[int]) -> None:
        first, last = numbers[0], numbers[-1]
        if last - first + 1 == len(numbers):
            self.delay_ns[first : last + 1] = delays_ns
        else:
            for number, delay_ns in zip(numbers, delays_ns, strict=True):
                self.delay_ns[number] = delay_ns

    def waiting_s(self, now_ns: int) -> float | None:
        """Return how long data sent after the last arrival has been under way, s; None if nothing was sent."""
        after = self.highest + 1
        return (now_ns - self.sent_ns[after]) / 1e9 if after < len(self.sent_ns) else None

    def within(self, delay_s: float) -> int:
        """Return how many arrived within this delay."""
        most_ns = round(delay_s * 1e9)
        return sum(MISSING < delay_ns <= most_ns for delay_ns in self.delay_ns)

    def sample(self) -> dict[str, Any]:
        """Return the counts, the mean delay since the last sample, and the current jitter."""
        (arrived, delays_ns), self.since = self.since, [0, 0]
        return {
            "sent": len(self.sent_ns),
            "arrived": self.arrived,
            "delay_ms": delays_ns / arrived / 1e6 if arrived else None,
            "jitter_ms": self.jitter_ns / 1e6 if self.arrived > 1 else None,
        }

    def report(self) -> dict[str, Any]:
        """Return the statistics. What has not arrived yet counts as lost. The jitter is the mean over all arrivals but
        the first."""
        sent, between = len(self.sent_ns), self.arrived - 1
        counts = Counter(self.delay_ns)  # far fewer than datagrams, where these arrive together
        counts.pop(MISSING, None)
        return {
            "sent": sent,
            "arrived": self.arrived,
            "lost_percent": 100 * (sent - self.arrived) / sent if sent else None,
            "duplicates": self.duplicates,
            "reordered": self.reordered,
            "hops_mean": self.hops / self.arrived if self.arrived else None,
            "delay_ms": spread_of({delay_ns / 1e6: count for delay_ns, count in counts.items()}),
            "jitter_ms": self.jitters_ns / between / 1e6 if between > 0 else None,
        }
