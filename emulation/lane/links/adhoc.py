# SPDX-License-Identifier: BSD-3-Clause
"""An independent BSS (IEEE 802.11-2016, 4.3.3) on one channel. A fixed BSSID makes scans unnecessary."""

from __future__ import annotations

import errno

from emulation.lane import links
from emulation.lane.netlink import NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.interfaces.radio import Interface

BSSID = "02:ca:ff:ee:00:00"
ATTEMPTS, ANSWER_S = 200, 0.05  # attempts to hear all neighbours: probes and their answers are frames, and may collide


class Link(links.Link):
    """An independent BSS: all stations on one channel with one SSID."""

    type = "ibss"

    def join(self, interface: Interface) -> None:
        plan = self.plan
        interface.join_ibss(plan["ssid"], plan["freq"], BSSID, plan["beacon_tu"], plan["basic_rates"])

    def meet(self, interface: Interface) -> None:
        """Send probe requests until all neighbours have answered and are peers. Linux drops frames for a station it has
        not heard. Waiting for beacons would take long, as they are ten seconds apart."""
        neighbours = interface.plan["neighbours"]
        missing = set(neighbours.values()) - interface.peers()
        for _ in range(ATTEMPTS):
            if not missing:
                return
            interface.probe(self.plan["ssid"], self.plan["freq"])
            while missing and interface.wait_for_peer(ANSWER_S):
                missing -= interface.peers()
        names = ", ".join(ip for ip, address in neighbours.items() if address in missing)
        message = f"{interface.node.name} does not hear its neighbours {names}; are they in range?"
        raise NetlinkError(errno.ENETUNREACH, message)

    def greet(self, interface: Interface) -> None:
        interface.probe(self.plan["ssid"], self.plan["freq"])
