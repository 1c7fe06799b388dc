# SPDX-License-Identifier: BSD-3-Clause
"""The events of TCP senders: tcp_tap.ko's records (docs/records.md, section 8)."""

from __future__ import annotations

import os

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from traffic.loop import Loop

FOLDER = "/sys/kernel/debug/tcp_tap"


class Recorder(recorders.Relay):
    """The records of this kernel's TCP tap, if the module is loaded."""

    channel, file = FOLDER + "/trace0", "tcp.trace"

    def there(self) -> bool:
        return os.path.exists(self.channel)

    def start(self, loop: Loop) -> None:
        super().start(loop)
        self.lost_before = self.lost()

    def lost(self) -> int:
        """Return how many records had no room since the module was loaded."""
        with open(FOLDER + "/lost") as file:
            return int(file.read())

    def report(self) -> dict[str, int]:
        return {"lost_records": self.lost() - self.lost_before}
