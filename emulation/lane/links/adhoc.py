# SPDX-License-Identifier: BSD-3-Clause
"""An independent BSS (IEEE 802.11-2016, 4.3.3) on one channel, with a fixed BSSID so that nobody has to scan."""

from __future__ import annotations

import errno

from emulation.lane import links
from emulation.lane.netlink import NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.interfaces.radio import Interface

BSSID = "02:ca:ff:ee:00:00"
ATTEMPTS, ANSWER_S = 200, 0.05  # to hear from all neighbours: probes and their answers are frames, and may collide


class Link(links.Link):
    """All on one channel with one name are one cell."""

    type = "ibss"

    def join(self, interface: Interface) -> None:
        plan = self.plan
        interface.join_ibss(plan["ssid"], plan["freq"], BSSID, plan["beacon_tu"], plan["basic_rates"])

    def meet(self, interface: Interface) -> None:
        """Linux drops what is for a station it has not heard, and with ten seconds between beacons hearing one would
        take long; so it probes, and the answers make peers."""
        neighbours = interface.plan["neighbours"]
        missing = set(neighbours.values()) - interface.peers()
        for _ in range(ATTEMPTS):
            if not missing:
                return
            interface.probe(self.plan["ssid"], self.plan["freq"])
            while missing and interface.wait_for_peer(ANSWER_S):
                missing -= interface.peers()
        who = ", ".join(ip for ip, address in neighbours.items() if address in missing)
        said = f"{interface.node.name} does not hear its neighbours {who}; are they in range?"
        raise NetlinkError(errno.ENETUNREACH, said)

    def greet(self, interface: Interface) -> None:
        interface.probe(self.plan["ssid"], self.plan["freq"])
