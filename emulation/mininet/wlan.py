# SPDX-License-Identifier: BSD-3-Clause
"""Access points as scripts have them: each with a name, a channel and a passphrase of its own, and stations that may
come to any of several. And stations that are on no link.

All of it is one link of the plan, so that a station may go from one access point to another. What each interface has
otherwise is its `wlan` in the plan: `ssid`, `freq`, `security`, `passphrase`; of a station that of the access point to
begin with, and `networks`, all that it may come to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulation.lane import links
from emulation.lane.interfaces.radio import FREQ, MAC, SSID, Interface
from emulation.lane.links import infrastructure
from emulation.lane.links.infrastructure import CONNECT, DISCONNECT, Client
from emulation.lane.netlink import NetlinkError

CONTROL = "/run/wpa_supplicant"  # of wpa_cli


class Link(infrastructure.Link):
    """All access points, and the stations that may come to them."""

    def of(self, interface: Interface) -> dict[str, Any]:
        return {**self.plan, **interface.plan.get("wlan", {})}

    def networks(self, interface: Interface) -> str:
        mine = self.of(interface)
        there = [infrastructure.network({**mine, **one}, None, one["freqs"]) for one in mine["networks"]]
        return f"ctrl_interface={CONTROL}\n" + "".join(there)

    def associate(self, interface: Interface, ap: Interface) -> None:
        """Let a station go to this access point. Raises NetlinkError, OSError."""
        mine, there = interface.plan["wlan"], self.of(ap)
        if mine["client"] == Client.KERNEL:
            if infrastructure.Security(there["security"]) is not infrastructure.Security.OPEN:
                raise OSError(0, f"{interface.name}: {ap.name} is encrypted: give the station encrypt and passwd")
            mine.update(ssid=there["ssid"], freq=there["freq"])
            leave(interface)
            address = bytes.fromhex(ap.MAC().replace(":", ""))
            wanted = (SSID, there["ssid"].encode()), (FREQ, there["freq"]), (MAC, address)
            with interface.hearing():
                interface.tune(CONNECT, *wanted, what=f"connect to {ap.name}")
                interface.wait([CONNECT], f"connect to {ap.name}", infrastructure.JOINING_S)
            return
        self.select(interface, ap)
        program = next((one for one in self.programs.running if one.node is interface.node), None)
        if program and ap.MAC() not in peers(interface):
            self.programs.wait(program, lambda line: infrastructure.JOINED in line, infrastructure.JOINING_S)

    def select(self, interface: Interface, ap: Interface) -> None:
        """Tell wpa_supplicant to go to this access point; it does so by itself. Raises OSError."""
        there, networks = self.of(ap), interface.plan["wlan"]["networks"]
        number = next(i for i, one in enumerate(networks) if one["ssid"] == there["ssid"])
        for words in (f"bssid {number} {ap.MAC()}", f"select_network {number}"):
            interface.node.cmd(f"wpa_cli -s /run -p {CONTROL} -i {interface.name} {words}")


class Idle(links.Link):
    """Stations that nobody has put on a link: their interfaces are up, and on no network."""

    type = "managed"

    def switch_on(self, interface: Interface) -> None:
        interface.switch(on=True)

    def join(self, interface: Interface) -> None: ...

    def stagger(self, interface: Interface, number: int, count: int) -> None: ...


def leave(interface: Interface) -> None:
    """Let the kernel's client leave its access point, if it has one."""
    try:
        interface.tune(DISCONNECT, what="disconnect")
    except NetlinkError:  # it is not connected
        return


def peers(interface: Any) -> set[str]:
    """Who is connected to an interface, or it to whom, by hardware address."""
    found: set[str] = interface.peers() if interface.on_air else set()
    return found


def plan_of(ap: Mapping[str, Any]) -> dict[str, Any]:
    """What a station needs to know of an access point."""
    return {name: ap[name] for name in ("ssid", "freq", "security", "passphrase")}
