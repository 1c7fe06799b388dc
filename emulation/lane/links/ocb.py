# SPDX-License-Identifier: BSD-3-Clause
"""Outside the context of a BSS (IEEE 802.11-2016, 11.20), as vehicles talk: no beacons, nothing to join, and nobody to
be met. It is what simulators' ad hoc networks are.

Linux knows a station only once it has heard data from it, and loses the first; so it does after 240 s of silence.
Routing interfaces (`emulation.lane.manet`) make up for that.
"""

from __future__ import annotations

from emulation.lane import links
from emulation.lane.interfaces import radio

JOIN_OCB = 108  # of nl80211


class Link(links.Link):
    """All on one channel hear each other."""

    type = "ocb"

    def join(self, interface: radio.Interface) -> None:
        interface.tune(JOIN_OCB, *radio.channel(self.plan["freq"]), what="join OCB")

    def stagger(self, interface: radio.Interface, number: int, count: int) -> None:
        """Without beacons there is nothing to stagger."""
