# SPDX-License-Identifier: BSD-3-Clause
"""Repeat the moment of a fault: record what was on the air before it.

The same seed does the same again, and a program's computing takes no time. So a second workout knows when the fault
will come, and records the air in the second before it, except the last ten microseconds. An alarm starts it, whatever
the workout waits for.
"""

from __future__ import annotations

import os
import signal
import time

from emulation.lane.air import Air
from emulation.lane.recorders.air_trace import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.features.check.inside.job import Job

SECONDS, BEFORE_S, SOON_S = 1.0, 1e-5, 1e-6  # an alarm may come some microseconds late
MESSAGE = "moment"  # message to the host at the end
READ_SIZE = 1 << 20  # bytes to read at once


class Moment:
    """Records the second before `at_us`, in microseconds of the lane's clock."""

    def __init__(self, job: Job, at_us: int) -> None:
        self.job, self.end_s, self.air = job, at_us / 1e6 - BEFORE_S, Air()
        signal.signal(signal.SIGALRM, lambda *_: self.begin())
        alarm_at(self.end_s - SECONDS)

    def begin(self) -> None:
        self.air.start()
        signal.signal(signal.SIGALRM, lambda *_: self.end())
        alarm_at(self.end_s)

    def end(self) -> None:
        self.air.stop()
        source = os.open(Recorder.channel, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(f"{self.job.folder}/{Recorder.file}", "wb") as file:
            while data := os.read(source, READ_SIZE):
                file.write(data)
        self.job.announce(MESSAGE)


def alarm_at(lane_s: float) -> None:
    """Set the alarm, soon if the time is past."""
    signal.setitimer(signal.ITIMER_REAL, max(lane_s - time.monotonic_ns() / 1e9, SOON_S))
