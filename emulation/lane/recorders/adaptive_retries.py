# SPDX-License-Identifier: BSD-3-Clause
"""Retry limits that follow what each station's MAC has just seen: the future work of paper 002.

If a frame is given up, either the next hop is gone, or it is there and others contend. A station that got an
acknowledgement assumes contention, and uses MULTIPLE times its own limits. A station that gave up a frame and got none
returns to its own limits.

So this recorder also sets limits, by the same function as a script. They are in `changes` of lane.json, for readers of
the trace. Looking takes no virtual time.
"""

from __future__ import annotations

import time

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.loop import Loop

INTERVAL_NS = 100_000_000
MULTIPLE = 4  # multiple of a station's own limits
LIMITS = ("short_retry", "long_retry")
GIVEN_UP = ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT")
LARGEST = 255


def acked_and_given_up(counters: dict[str, Any]) -> tuple[int, int]:
    """Return how many of a station's frames were acknowledged, and how many were given up."""
    kinds = counters["end"].values()
    return sum(kind.get("ACKED", 0) for kind in kinds), sum(kind.get(why, 0) for kind in kinds for why in GIVEN_UP)


class Station:
    """A station's current multiple of its own limits, and its counters at the last update."""

    def __init__(self) -> None:
        self.multiple, self.acked, self.given_up = 1, 0, 0

    def update(self, acked: int, given_up: int) -> int:
        answered, lost = acked > self.acked, given_up > self.given_up
        self.acked, self.given_up = acked, given_up
        return MULTIPLE if answered else 1 if lost else self.multiple


class Recorder(recorders.Recorder):
    """Sets limits, and reports how often it did so, and the mean multiple over all stations."""

    def there(self) -> bool:
        return self.net.air is not None and self.net.plan["air"]["retry_by"] == "limits"

    def start(self, loop: Loop) -> None:
        assert self.net.air
        self.loop, self.stations = loop, [Station() for _ in self.net.air.names]
        self.own = [{limit: settings[limit] for limit in LIMITS} for settings in self.net.air.station_settings.values()]
        self.changed, self.updates, self.sum = 0, 0, 0
        loop.at(time.monotonic_ns() + INTERVAL_NS, self.update_all)

    def update_all(self) -> None:
        assert self.net.air
        now = time.monotonic_ns()
        for at, counted in enumerate(self.net.air.report()["stations"]):
            station = self.stations[at]
            multiple = station.update(*acked_and_given_up(counted["counters"]))
            if multiple != station.multiple:
                station.multiple, self.changed = multiple, self.changed + 1
                limits = {limit: min(multiple * value, LARGEST) for limit, value in self.own[at].items()}
                self.net.motion.override_settings(self.net.nodes[counted["name"]], limits)
            self.updates, self.sum = self.updates + 1, self.sum + multiple
        self.loop.at(now + INTERVAL_NS, self.update_all)

    def report(self) -> dict[str, Any]:
        return {"set": self.changed, "times_mean": self.sum / self.updates if self.updates else 1.0}
