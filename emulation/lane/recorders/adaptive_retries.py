# SPDX-License-Identifier: BSD-3-Clause
"""Retry limits that follow what the MAC has just seen, at each station by itself: seed 002's future work.

A frame that is given up says that the next station is gone, or that it is there and others are in the way. A station
that is answered takes the latter for true, and tries several times as long as its own limits say; one that has given
up and was not answered meanwhile keeps to these. So this one does not only write down: it sets, through the same door
as a script does, and what it set is in `changes` of lane.json, which whoever reads the trace follows. To look takes no
virtual time.
"""

from __future__ import annotations

import time

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.loop import Loop

EVERY_NS = 100_000_000
PATIENT = 4  # times a station's own limits
LIMITS = ("short_retry", "long_retry")
GIVEN_UP = ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT")
LARGEST = 255


def ended(counters: dict[str, Any]) -> tuple[int, int]:
    """A station's frames that were acknowledged, and those that were given up."""
    kinds = counters["end"].values()
    return sum(kind.get("ACKED", 0) for kind in kinds), sum(kind.get(why, 0) for kind in kinds for why in GIVEN_UP)


class Station:
    """How many times its own limits a station has now, and what it had seen at the last look."""

    def __init__(self) -> None:
        self.times, self.acked, self.given_up = 1, 0, 0

    def look(self, acked: int, given_up: int) -> int:
        """How many times it shall have from now on."""
        answered, lost = acked > self.acked, given_up > self.given_up
        self.acked, self.given_up = acked, given_up
        return PATIENT if answered else 1 if lost else self.times


class Recorder(recorders.Recorder):
    """Reports how often limits were set, and by how many times those of all stations were theirs, in the mean."""

    def there(self) -> bool:
        return self.net.air is not None and self.net.plan["air"]["retry_by"] == "limits"

    def start(self, loop: Loop) -> None:
        assert self.net.air
        self.loop, self.stations = loop, [Station() for _ in self.net.air.names]
        self.own = [{limit: has[limit] for limit in LIMITS} for has in self.net.air.has.values()]
        self.set, self.looks, self.sum = 0, 0, 0
        loop.at(time.monotonic_ns() + EVERY_NS, self.look)

    def look(self) -> None:
        assert self.net.air
        now = time.monotonic_ns()
        for at, counted in enumerate(self.net.air.report()["stations"]):
            station = self.stations[at]
            times = station.look(*ended(counted["counters"]))
            if times != station.times:
                station.times, self.set = times, self.set + 1
                limits = {limit: min(times * value, LARGEST) for limit, value in self.own[at].items()}
                self.net.motion.own(self.net.nodes[counted["name"]], limits)
            self.looks, self.sum = self.looks + 1, self.sum + times
        self.loop.at(now + EVERY_NS, self.look)

    def report(self) -> dict[str, Any]:
        return {"set": self.set, "times_mean": self.sum / self.looks if self.looks else 1.0}
