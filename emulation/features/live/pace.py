# SPDX-License-Identifier: BSD-3-Clause
"""The pace of the network's time: its seconds per second of wall time.

Time passes in strides, one for each frame of the page. A stride is at most what the lane can compute in LONGEST_S, by
the strides before. A lane that cannot keep up falls behind, and does not catch up later.
"""

from dataclasses import dataclass

SLOWEST, FASTEST = 1e-5, 1e3  # a slot of 20 us takes two seconds; and as fast as any lane goes
FRAME_S = 1 / 30  # wall time between two frames of the page
LONGEST_S = 0.05  # wall time that a stride may take
FIRST_PER_S = 1e9  # ns of lane time per second of wall time, before it is measured
SHARE = 0.3  # weight of the latest stride in the estimate


@dataclass
class Pace:
    """Wall times are in seconds of any clock. `pace` may be set at any time."""

    pace: float = 1.0
    last_s: float | None = None  # when the latest stride began
    per_s: float = FIRST_PER_S  # the lane's speed: ns of its time per second of wall time
    owed_ns: float = 0.0  # left over from earlier strides, less than 1 ns

    def halt(self) -> None:
        self.last_s, self.owed_ns = None, 0.0

    def due_s(self, now_s: float) -> float:
        """Return in how many seconds the next stride is due."""
        return 0.0 if self.last_s is None else max(self.last_s + FRAME_S - now_s, 0.0)

    def stride(self, now_s: float) -> int:
        """Begin a stride and return its length in ns, which may be 0."""
        passed_s = FRAME_S if self.last_s is None else min(now_s - self.last_s, 2 * FRAME_S + LONGEST_S)
        self.last_s = now_s
        self.owed_ns += passed_s * self.pace * 1e9
        stride = int(min(self.owed_ns, self.per_s * LONGEST_S))
        self.owed_ns = min(self.owed_ns - stride, 1.0)
        return stride

    def record(self, stride_ns: int, wall_s: float) -> None:
        """Record the wall time of a stride. A short one is mostly overhead: it can only raise the estimate."""
        found = stride_ns / max(wall_s, 1e-4)
        slower = wall_s > LONGEST_S / 2
        self.per_s = (1 - SHARE) * self.per_s + SHARE * found if slower else max(self.per_s, found)
