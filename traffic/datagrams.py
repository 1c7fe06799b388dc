# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of numbered datagrams: how many arrive, after how long, and how evenly.

Both ends have one clock, so the delay is exact, from one application to the other. Jitter is that of RFC 3550, section
6.4.1: of each arrival and the one before, by how much their delays differ, smoothed over sixteen.
"""

from __future__ import annotations

from array import array

from traffic.spread import spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING = -1


class Datagrams:
    """Those of one flow. Times are nanoseconds of one clock."""

    def __init__(self) -> None:
        self.sent_ns, self.delay_ns = array("q"), array("q")  # by number; the delay of one that is missing: MISSING
        self.arrived = self.duplicates = self.reordered = self.hops = 0
        self.highest, self.last_ns = -1, 0  # the latest that arrived, and when the last did
        self.jitter_ns = self.jitters_ns = 0.0  # now, and the sum over all arrivals
        self.before_ns: int | None = None  # the delay of the last one to arrive
        self.since = [0, 0]  # the last look: how many arrived, and the sum of their delays

    def send(self, now_ns: int) -> int:
        """One is sent; its number."""
        self.sent_ns.append(now_ns)
        self.delay_ns.append(MISSING)
        return len(self.sent_ns) - 1

    def arrive(self, number: int, now_ns: int, hops: int = 1) -> None:
        """One arrives, over so many hops."""
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

    def waiting_s(self, now_ns: int) -> float | None:
        """For how long what was sent after the last that arrived has been on its way; None: nothing was."""
        after = self.highest + 1
        return (now_ns - self.sent_ns[after]) / 1e9 if after < len(self.sent_ns) else None

    def within(self, delay_s: float) -> int:
        """How many arrived in time."""
        most_ns = round(delay_s * 1e9)
        return sum(MISSING < delay_ns <= most_ns for delay_ns in self.delay_ns)

    def sample(self) -> dict[str, Any]:
        """Since the last look: the mean delay; and the jitter now."""
        (arrived, delays_ns), self.since = self.since, [0, 0]
        return {
            "sent": len(self.sent_ns),
            "arrived": self.arrived,
            "delay_ms": delays_ns / arrived / 1e6 if arrived else None,
            "jitter_ms": self.jitter_ns / 1e6 if self.arrived > 1 else None,
        }

    def report(self) -> dict[str, Any]:
        """What has not arrived yet counts as lost. The jitter is the mean over all arrivals but the first."""
        sent, between = len(self.sent_ns), self.arrived - 1
        return {
            "sent": sent,
            "arrived": self.arrived,
            "lost_percent": 100 * (sent - self.arrived) / sent if sent else None,
            "duplicates": self.duplicates,
            "reordered": self.reordered,
            "hops_mean": self.hops / self.arrived if self.arrived else None,
            "delay_ms": spread(delay_ns / 1e6 for delay_ns in self.delay_ns if delay_ns != MISSING),
            "jitter_ms": self.jitters_ns / between / 1e6 if between > 0 else None,
        }
