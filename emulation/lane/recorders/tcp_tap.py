# SPDX-License-Identifier: BSD-3-Clause
"""What TCP senders do, event by event: the records of tcp_tap.ko (docs/interfaces.md, section 8)."""

from __future__ import annotations

import os

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from traffic.loop import Loop

FOLDER = "/sys/kernel/debug/tcp_tap"


class Recorder(recorders.Relay):
    """The tap of this kernel, if the module is loaded."""

    channel, file = FOLDER + "/trace0", "tcp.trace"

    def there(self) -> bool:
        return os.path.exists(self.channel)

    def start(self, loop: Loop) -> None:
        super().start(loop)
        self.lost_before = self.lost()

    def lost(self) -> int:
        """The records for which there was no room since the module was loaded."""
        with open(FOLDER + "/lost") as file:
            return int(file.read())

    def report(self) -> dict[str, int]:
        return {"lost_records": self.lost() - self.lost_before}
