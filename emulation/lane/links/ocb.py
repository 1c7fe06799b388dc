# SPDX-License-Identifier: BSD-3-Clause
"""Outside the context of a BSS (IEEE 802.11-2016, 11.20), as vehicles talk: no beacons, nothing to join, and nobody to
be met. It is what simulators' ad hoc networks are.

Linux knows a station only once it has heard data from it, and loses the first; so it does after 240 s of silence.
Routing interfaces (`emulation.lane.manet`) make up for that.
"""

from __future__ import annotations

from emulation.lane import links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.interfaces.radio import Interface


class Link(links.Link):
    """All on one channel hear each other."""

    type = "ocb"

    def join(self, interface: Interface) -> None:
        interface.join_ocb(self.plan["freq"])

    def stagger(self, interface: Interface, number: int, count: int) -> None:
        """Without beacons there is nothing to stagger."""
