# SPDX-License-Identifier: BSD-3-Clause
"""Every frame on the air, between its start and stop: dcf80211's records (docs/records.md, section 3)."""

from emulation.lane import recorders


class Recorder(recorders.Relay):
    """The trace of the air. It is not used without an air, or if the air keeps no trace."""

    channel, file = "/sys/kernel/debug/dcf80211/trace0", "air.trace"

    def there(self) -> bool:
        return self.net.air is not None and bool(self.net.plan["air"]["trace"])
