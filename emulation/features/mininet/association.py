# SPDX-License-Identifier: BSD-3-Clause
"""Association control (`ac_method`): the lab, not wpa_supplicant, chooses a station's access point.

`ssf` takes the strongest signal; `llf` takes the least loaded access point in range, the one with the fewest stations.
Once a second of the lane's time each station is checked. wpa_supplicant carries a change out.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from emulation.features.mininet.access import MANAGED
from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.node import Node
from emulation.lane.errors import Misuse
from traffic.loop import Loop

METHODS = ("ssf", "llf")
EVERY_NS = 1_000_000_000
BETTER_DB = 1.0  # hysteresis, so that stations do not alternate


class AssociationControl:
    """The association control of a network."""

    def __init__(self, net: Any, method: str) -> None:
        if method not in METHODS:
            raise Misuse(f"ac_method: there is no {method!r}; there are: {', '.join(METHODS)}")
        self.net, self.method = net, method

    def begin(self, loop: Loop, began_ns: int) -> None:
        loop.at(began_ns + EVERY_NS, partial(self.again, loop, began_ns + EVERY_NS))

    def again(self, loop: Loop, at_ns: int) -> None:
        load = {ap.name: len(ap.wintf().associatedStations) for ap in self.net.aps}
        radios = [intf for node in (*self.net.stations, *self.net.cars) for intf in node.wintfs.values()]
        clients = {intf.node: intf for intf in reversed(radios) if intf.role in ("", MANAGED)}  # the first of each
        for intf in reversed(clients.values()):
            now, best = intf.associatedTo, self.best(intf, load)
            if best and (not isinstance(now, WIntf) or now.node is not best):
                if isinstance(now, WIntf):
                    load[now.node.name] -= 1
                load[best.name] += 1
                self.net.send_to(intf, best.wintf())
        loop.at(at_ns + EVERY_NS, partial(self.again, loop, at_ns + EVERY_NS))

    def best(self, intf: WIntf, load: dict[str, int]) -> Node | None:
        """Return the access point that the station should change to; None: no change."""
        known = {one["ssid"] for one in intf.lane.plan["wlan"]["networks"]} if intf.lane else set()
        aps = [ap for ap in self.net.aps if ap.wintf().lane.plan["wlan"]["ssid"] in known]
        powers = {ap: self.net.medium.received_dbm(ap, intf.node) for ap in aps}
        near = [ap for ap, power in powers.items() if power >= self.net.medium.receive_dbm()]
        now = intf.associatedTo
        here = now.node if isinstance(now, WIntf) else None
        if not near:
            return None
        if self.method == "ssf":
            best = max(near, key=lambda ap: powers[ap])
            return best if here is None or powers[best] > powers.get(here, -1e9) + BETTER_DB else None
        best = min(near, key=lambda ap: (load[ap.name], -powers[ap]))
        return best if here is None or here not in near or load[best.name] + 1 < load[here.name] else None

    def close(self) -> None: ...
