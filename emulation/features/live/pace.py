# SPDX-License-Identifier: BSD-3-Clause
"""How the network's time follows the wall clock's: so many of its seconds in one of the wall's.

Time passes in strides, one a frame of the page. If a lane cannot keep up it falls behind, and does not hurry to catch
up afterwards: a stride is never more than the lane can do in a moment, by what its strides have taken so far.
"""

from __future__ import annotations

from dataclasses import dataclass

SLOWEST, FASTEST = 1e-5, 1e3  # a slot of 20 us takes two seconds; and as fast as any lane goes
FRAME_S = 1 / 30  # of the wall's time, between two looks
LONGEST_S = 0.05  # that a stride may take
FIRST_PER_S = 1e9  # ns that a lane can do a second, before it is known
SHARE = 0.3  # of the latest stride in what strides are thought to take


@dataclass
class Pace:
    """`pace` may be set at any time; wall times are in seconds, of any clock."""

    pace: float = 1.0
    last_s: float | None = None  # when the latest stride began
    per_s: float = FIRST_PER_S  # how much the lane can do, ns of its time a second of the wall's
    owed_ns: float = 0.0  # less than a nanosecond, from strides before

    def halt(self) -> None:
        """Time stands still from now on."""
        self.last_s, self.owed_ns = None, 0.0

    def due_s(self, now_s: float) -> float:
        """In how many seconds the next stride is to begin."""
        return 0.0 if self.last_s is None else max(self.last_s + FRAME_S - now_s, 0.0)

    def stride(self, now_s: float) -> int:
        """One begins: how much time passes in it, in ns; perhaps none."""
        passed_s = FRAME_S if self.last_s is None else min(now_s - self.last_s, 2 * FRAME_S + LONGEST_S)
        self.last_s = now_s
        self.owed_ns += passed_s * self.pace * 1e9
        stride = int(min(self.owed_ns, self.per_s * LONGEST_S))
        self.owed_ns = min(self.owed_ns - stride, 1.0)
        return stride

    def record(self, stride_ns: int, wall_s: float) -> None:
        """So long did a stride take. A short one is mostly the way there and back: it says only that more can be done,
        if it does."""
        found = stride_ns / max(wall_s, 1e-4)
        slower = wall_s > LONGEST_S / 2
        self.per_s = (1 - SHARE) * self.per_s + SHARE * found if slower else max(self.per_s, found)
