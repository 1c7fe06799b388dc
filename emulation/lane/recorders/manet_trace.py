# SPDX-License-Identifier: BSD-3-Clause
"""The events of routing interfaces: manet.ko's records (docs/internals.md), and each node's counters."""

from __future__ import annotations

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.loop import Loop

FOLDER = "/sys/kernel/debug/manet"


class Recorder(recorders.Relay):
    """The records of all routing interfaces of this kernel."""

    channel, file = FOLDER + "/trace0", "manet.trace"

    def start(self, loop: Loop) -> None:
        super().start(loop)
        self.lost_before = self.lost()

    def lost(self) -> int:
        """Return how many records had no room since the module was loaded."""
        with open(FOLDER + "/lost") as file:
            return int(file.read())

    def report(self) -> dict[str, Any]:
        return {
            "lost_records": self.lost() - self.lost_before,
            "nodes": self.net.routing.counters() if self.net.routing else {},
        }
