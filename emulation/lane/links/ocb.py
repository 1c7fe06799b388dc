# SPDX-License-Identifier: BSD-3-Clause
"""Communication outside the context of a BSS (IEEE 802.11-2016, 11.20), as between vehicles.

There are no beacons, and nothing to join. Ad hoc networks in simulators work like this.

Linux learns a station from the first data frame it hears from it, and drops that frame; so too after 240 s of silence.
Routing interfaces (`emulation.lane.manet`) compensate for that.
"""

from __future__ import annotations

from emulation.lane import links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.interfaces.radio import Interface


class Link(links.Link):
    """All radios on one channel."""

    type, staggered = "ocb", False  # there are no beacons

    def join(self, interface: Interface) -> None:
        interface.join_ocb(self.plan["freq"])
