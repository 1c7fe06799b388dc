# SPDX-License-Identifier: BSD-3-Clause
"""Access points of several networks, each with its own SSID, channel and passphrase, and stations that may join any.

A station may also be an access point, and a node may have several radios. All are on one link, so that a station can
change access points. `wlan` in the plan has what differs by interface: `ssid`, `freq`, `security`, `passphrase`. A
station has those of its first access point, and also `client` (`idle`: not connected) and `networks`, those it may
join. An interface with `master` is an access point; `more` has its further networks, each `ssid` and
`bssid`, of the same radio and security. With `wds` it takes clients with four addresses. With the security
`eap`, it has `users`, and a station `identity` and `password`. `lines` are further lines of hostapd's file; those of a
station's network replace its keys. `scan` has other seconds and dBm of a station's scans: how often below this power,
the power, and how often else. `emulation.features.mininet` makes such plans.
"""

from __future__ import annotations

import errno

from emulation.lane import links
from emulation.lane.interfaces.radio import FREQ, MAC, SSID
from emulation.lane.links import infrastructure
from emulation.lane.links.infrastructure import (
    CONNECT,
    CONTROL,
    CONTROL_OF_APS,
    DISCONNECT,
    JOINED,
    JOINING_S,
    PATIENT,
    SECURITY_LINES,
    Client,
    Security,
    association_elements,
)
from emulation.lane.netlink import NetlinkError
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane import hostap
    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

IDLE = "idle"
EAP = "eap"  # security: 802.1X with hostapd's own server, by EAP-pwd (RFC 5931), which needs no certificates
EAP_SERVER = "ieee8021x=1\neap_server=1\neap_user_file={}\nwpa=2\nwpa_key_mgmt=WPA-EAP\nrsn_pairwise=CCMP\n"
EAP_CLIENT = 'key_mgmt=WPA-EAP\neap=PWD\nidentity="{}"\npassword="{}"\n'


class Link(infrastructure.Link):
    """All access points, and their stations."""

    needs_ap = one_channel = False

    def settings_of(self, interface: Interface) -> dict[str, Any]:
        return {**self.plan, **interface.plan.get("wlan", {})}

    def is_ap(self, interface: Interface) -> bool:
        return bool(self.settings_of(interface).get("master"))

    def extra_lines(self, interface: Interface) -> list[str]:
        mine = self.settings_of(interface)
        lines = ["ap_isolate=1"] * bool(mine.get("isolate")) + ["wds_sta=1"] * bool(mine.get("wds"))
        if mine["security"] == Security.WPA2 and mine.get("protection"):  # of management frames; WPA3 always has it
            lines.append(f"ieee80211w={mine['protection']}")
        return lines

    def access(self, interface: Interface) -> str:
        """Return hostapd's lines about who may join; and its further networks, which have the same ones."""
        own, bridge = self.keys(interface), interface.node.plan["bridge"]
        into = f"bridge={bridge['name']}\n" if bridge and not interface.node.switch else ""
        found = own
        for number, one in enumerate(self.settings_of(interface).get("more", ()), 1):
            found += f"bss={interface.name}-{number}\nbssid={one['bssid']}\nssid2={one['ssid'].encode().hex()}\n{into}"
            found += f"ctrl_interface={CONTROL_OF_APS}\n{PATIENT}wmm_enabled={int(interface.plan['wmm'])}\n"
            found += "".join(f"{line}\n" for line in self.extra_lines(interface)) + own
        return found

    def ports(self, interface: Interface) -> list[str]:
        further = enumerate(self.settings_of(interface).get("more", ()), 1)
        return [interface.name, *(f"{interface.name}-{number}" for number, _ in further)]

    def keys(self, interface: Interface) -> str:
        mine = self.settings_of(interface)
        more = "".join(f"{line}\n" for line in mine.get("lines", ()))
        if "\nwpa=" in f"\n{more}":
            return more
        if mine["security"] != EAP:
            return super().access(interface) + more
        file = f"/run/hostapd-{interface.name}.users"
        with open(file, "w") as users:
            users.writelines(f'"{identity}" PWD "{password}"\n' for identity, password in mine["users"])
        return EAP_SERVER.format(file) + more

    def join(self, interface: Interface) -> None:
        if self.is_ap(interface) or self.settings_of(interface)["client"] != IDLE:
            super().join(interface)

    def connect(self, interface: Interface, wait: bool = True) -> None:
        if self.settings_of(interface)["client"] != IDLE:
            super().connect(interface, wait)

    def on_event(self, interface: Interface, loop: Loop) -> None:
        """Drop the events: the kernel's client does not retry by itself here; a script reconnects it."""
        interface.pending_events()

    def reconnect(self, interface: Interface) -> None:
        """Connect again if the client has lost its access point. Raises NetlinkError."""
        if self.settings_of(interface).get("client") == Client.KERNEL and not interface.peers():
            super().reconnect(interface)

    def networks(self, interface: Interface) -> str:
        settings = self.settings_of(interface)
        head = settings.get("globals", "")
        if "ctrl_interface=" not in head:
            head = f"ctrl_interface={CONTROL}\n{head}"
        return f"{head.rstrip()}\n" + "".join(block(settings, one) for one in settings["networks"])

    def associate(self, interface: Interface, ap: Interface) -> None:
        """Associate a station with this access point. Raises NetlinkError or OSError if it fails."""
        settings, ap_settings = interface.plan["wlan"], self.settings_of(ap)
        if settings["client"] == Client.WPA_SUPPLICANT:
            self.select(interface, ap)
            program = self.supplicant(interface)
            assert program
            if ap.MAC() not in interface.peers():
                self.programs.wait(program, lambda line: JOINED in line, JOINING_S)
            return
        if ap_settings["security"] != Security.OPEN:
            message = f"{interface.name}: {ap.name} is encrypted: let the network begin with the station there"
            raise NetlinkError(errno.EACCES, message)
        settings.update(ssid=ap_settings["ssid"], freq=ap_settings["freq"], client=Client.KERNEL)
        leave(interface)
        wanted = (SSID, ap_settings["ssid"].encode()), (FREQ, ap_settings["freq"]), (MAC, hardware_address(ap.MAC()))
        elements = association_elements(self.plan, interface)
        with interface.receiving_events():
            interface.tune(CONNECT, *wanted, *elements, what=f"connect to {ap.name}")
            interface.wait([CONNECT], f"connect to {ap.name}", JOINING_S)

    def supplicant(self, interface: Interface) -> hostap.Program | None:
        """Return the interface's wpa_supplicant."""
        mine = (one for one in self.programs.running if interface.name in one.arguments)
        return next(mine, None)

    def release(self, interface: Interface, loop: Loop) -> None:
        """End the program that runs an interface; or leave the access point. Raises NetlinkError or OSError."""
        if old := self.hostapds.get(interface.name) or self.supplicant(interface):
            self.programs.running.remove(old)
            loop.forget(old.output)
            old.stop()
        else:
            leave(interface)

    def restart(self, interface: Interface, loop: Loop) -> None:
        """Let what runs an interface begin anew, by its new settings. Raises NetlinkError or OSError."""
        self.release(interface, loop)
        before = len(self.programs.running)
        with interface.receiving_events():
            self.join(interface)
        self.programs.watch(loop, before)

    def select(self, interface: Interface, ap: Interface) -> None:
        """Select this access point in wpa_supplicant, which then connects by itself. Raises OSError."""
        theirs, networks = self.settings_of(ap), interface.plan["wlan"]["networks"]
        number = next((i for i, one in enumerate(networks) if one["ssid"] == theirs["ssid"]), len(networks))
        commands = list[list[str]]()
        if number == len(networks):  # a script sends it to one that it was not to join
            names = ("ssid", "freq", "security", "passphrase", "protection")
            networks.append(
                {**(networks or [{}])[0], **{name: theirs.get(name) for name in names}, "freqs": [theirs["freq"]]}
            )
            lines = block(self.settings_of(interface), networks[-1]).splitlines()[1:-1]
            commands = [["add_network"], *(["set_network", str(number), *line.split("=", 1)] for line in lines)]
        elif theirs["freq"] not in networks[number]["freqs"]:
            networks[number]["freqs"].append(theirs["freq"])
            freqs = " ".join(map(str, networks[number]["freqs"]))
            commands = [["set_network", str(number), "scan_freq", freqs]]
        commands += [["bssid", str(number), ap.MAC()], ["select_network", str(number)]]
        if ap.MAC() not in interface.peers():  # by itself it stays at another one of this network
            commands.append(["reassociate"])
        for words in commands:
            interface.node.cmd(["wpa_cli", "-s", CONTROL, "-p", CONTROL, "-i", interface.name, *words])


class Idle(links.Link):
    """Radios without a link: they are up, but on no network."""

    type, staggered = "managed", False

    def switch_on(self, interface: Interface) -> None:
        interface.switch(on=True)

    def join(self, interface: Interface) -> None:
        """Do nothing: there is no network."""


def block(settings: dict[str, Any], one: dict[str, Any]) -> str:
    """Return one of a client's networks for wpa_supplicant's file."""
    if one.get("lines"):
        return infrastructure.network({**settings, **one}, "".join(f"{line}\n" for line in one["lines"]), one["freqs"])
    if one["security"] == EAP:
        access = EAP_CLIENT.format(one["identity"], one["password"])
    else:
        access = SECURITY_LINES[Security(one["security"])][1].format(one["passphrase"])
    if one["security"] == Security.WPA2 and one.get("protection"):
        access += f"ieee80211w={one['protection']}\n"
    return infrastructure.network({**settings, **one}, access, one["freqs"])


def leave(interface: Interface) -> None:
    """Disconnect the kernel's client from its access point, if it has one."""
    try:
        interface.tune(DISCONNECT, what="disconnect")
    except NetlinkError as error:
        if error.errno not in (errno.ENOTCONN, errno.EALREADY):  # it is not connected
            raise
