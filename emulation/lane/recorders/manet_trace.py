# SPDX-License-Identifier: BSD-3-Clause
"""The events of routing interfaces: manet.ko's records (docs/internals.md), and each node's counters."""

from __future__ import annotations

from emulation.lane import recorders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Recorder(recorders.CountingRelay):
    """The records of all routing interfaces of this kernel."""

    channel, file = "/sys/kernel/debug/manet/trace0", "manet.trace"

    def report(self) -> dict[str, Any]:
        return {**super().report(), "nodes": self.net.routing.counters() if self.net.routing else {}}
