# SPDX-License-Identifier: BSD-3-Clause
"""Every frame on the air: the records of dcf80211 (docs/interfaces.md, section 3), between the air's start and stop."""

from __future__ import annotations

from emulation.lane import recorders


class Recorder(recorders.Relay):
    """The air's trace; without an air, or where it keeps none, there is nothing to record."""

    channel, file = "/sys/kernel/debug/dcf80211/trace0", "air.trace"

    def there(self) -> bool:
        return self.net.air is not None and bool(self.net.plan["air"]["trace"])
