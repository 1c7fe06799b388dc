# SPDX-License-Identifier: BSD-3-Clause
"""Access points of several networks, each with a name, a channel and a passphrase of its own, and stations that may
come to any of them; a station may be an access point, too, and nodes may have several radios on it.

All is one link, so that a station may go from one access point to another. What each interface has otherwise is its
`wlan` in the plan: `ssid`, `freq`, `security`, `passphrase`; of a station that of the access point to begin with, the
`client` that it has (`idle`: it is connected to nobody) and `networks`, all that it may come to. Who has a `master` is
an access point. `emulation.features.mininet` plans it.
"""

from __future__ import annotations

import errno

from emulation.lane import links
from emulation.lane.interfaces.radio import FREQ, MAC, SSID
from emulation.lane.links import infrastructure
from emulation.lane.links.infrastructure import (
    CONNECT,
    CONTROL,
    DISCONNECT,
    JOINED,
    JOINING_S,
    Client,
    Security,
    elements,
)
from emulation.lane.netlink import NetlinkError
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

CONTROL_OF_APS = "/run/hostapd"  # where hostapd_cli looks
IDLE = "idle"


class Link(infrastructure.Link):
    """All access points, and the stations that may come to them."""

    needs_ap = False

    def of(self, interface: Interface) -> dict[str, Any]:
        return {**self.plan, **interface.plan.get("wlan", {})}

    def is_ap(self, interface: Interface) -> bool:
        return bool(self.of(interface).get("master"))

    def more(self, interface: Interface) -> list[str]:
        isolated = bool(self.of(interface).get("isolate"))
        return [f"ctrl_interface={CONTROL_OF_APS}", *["ap_isolate=1"] * isolated]

    def join(self, interface: Interface) -> None:
        if self.is_ap(interface) or self.of(interface)["client"] != IDLE:
            super().join(interface)

    def connect(self, interface: Interface, wait: bool = True) -> None:
        if self.of(interface)["client"] != IDLE:
            super().connect(interface, wait)

    def heard(self, interface: Interface, loop: Loop) -> None:
        """The kernel's client stays where it is told to be, also without an access point: it is told by hand."""
        interface.heard()

    def again(self, interface: Interface) -> None:
        """Ask once more, if it has lost its access point. Raises NetlinkError."""
        if self.of(interface).get("client") == Client.KERNEL and not interface.peers():
            super().again(interface)

    def networks(self, interface: Interface) -> str:
        mine = self.of(interface)
        there = [infrastructure.network({**mine, **one}, None, one["freqs"]) for one in mine["networks"]]
        return f"ctrl_interface={CONTROL}\n" + "".join(there)

    def associate(self, interface: Interface, ap: Interface) -> None:
        """Let a station go to this access point. Raises NetlinkError, OSError."""
        mine, there = interface.plan["wlan"], self.of(ap)
        if mine["client"] == Client.WPA_SUPPLICANT:
            self.select(interface, ap)
            program = next(one for one in self.programs.running if one.node is interface.node)
            if ap.MAC() not in interface.peers():
                self.programs.wait(program, lambda line: JOINED in line, JOINING_S)
            return
        if there["security"] != Security.OPEN:
            said = f"{interface.name}: {ap.name} is encrypted: let the network begin with the station there"
            raise NetlinkError(errno.EACCES, said)
        mine.update(ssid=there["ssid"], freq=there["freq"], client=Client.KERNEL)
        leave(interface)
        wanted = (SSID, there["ssid"].encode()), (FREQ, there["freq"]), (MAC, hardware_address(ap.MAC()))
        own = elements(self.plan, interface)
        with interface.hearing():
            interface.tune(CONNECT, *wanted, *own, what=f"connect to {ap.name}")
            interface.wait([CONNECT], f"connect to {ap.name}", JOINING_S)

    def select(self, interface: Interface, ap: Interface) -> None:
        """Tell wpa_supplicant to go to this access point; it does so by itself. Raises OSError."""
        there, networks = self.of(ap), interface.plan["wlan"]["networks"]
        number = next(i for i, one in enumerate(networks) if one["ssid"] == there["ssid"])
        for words in (f"bssid {number} {ap.MAC()}", f"select_network {number}"):
            interface.node.cmd(f"wpa_cli -s /run -p {CONTROL} -i {interface.name} {words}")


class Idle(links.Link):
    """Radios that nobody has put on a link: they are up, and on no network."""

    type = "managed"

    def switch_on(self, interface: Interface) -> None:
        interface.switch(on=True)

    def join(self, interface: Interface) -> None:
        """There is nothing to join."""

    def stagger(self, interface: Interface, number: int, count: int) -> None:
        """It sends no beacons."""


def leave(interface: Interface) -> None:
    """Let the kernel's client leave its access point, if it has one."""
    try:
        interface.tune(DISCONNECT, what="disconnect")
    except NetlinkError as error:
        if error.errno not in (errno.ENOTCONN, errno.EALREADY):  # it has none
            raise
