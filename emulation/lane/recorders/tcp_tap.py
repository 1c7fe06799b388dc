# SPDX-License-Identifier: BSD-3-Clause
"""The events of TCP senders: tcp_tap.ko's records (docs/records.md, section 8)."""

import os

from emulation.lane import recorders


class Recorder(recorders.CountingRelay):
    """The records of this kernel's TCP tap, if the module is loaded."""

    channel, file = "/sys/kernel/debug/tcp_tap/trace0", "tcp.trace"

    def there(self) -> bool:
        return os.path.exists(self.channel)
