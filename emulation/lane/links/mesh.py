# SPDX-License-Identifier: BSD-3-Clause
"""An 802.11s mesh (IEEE 802.11-2016, 4.3.20). It is open, and the kernel does peering and routing."""

from __future__ import annotations

from emulation.lane import links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.interfaces.radio import Interface

PEERING_S = 30.0  # timeout for peering, in lane time


class Link(links.Link):
    """A mesh: all stations on one channel with one mesh ID."""

    type = "mesh"

    def join(self, interface: Interface) -> None:
        plan = self.plan
        interface.join_mesh(plan["ssid"], plan["freq"], plan["beacon_tu"], plan["basic_rates"])
        if interface.node.join_bridge:  # of an access point that also has this radio
            interface.node.join_bridge(interface)

    def meet(self, interface: Interface) -> None:
        """Wait until the kernel has peered with all neighbours."""
        interface.wait_for_peers(set(interface.plan["neighbours"].values()), PEERING_S)
