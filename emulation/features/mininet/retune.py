# SPDX-License-Identifier: BSD-3-Clause
"""Move a radio to another kind of link: `setMasterMode`, `setAdhocMode` and the like. In a running network this changes
the kernel's interface. Interfaces of hostapd or wpa_supplicant raise Misuse."""

from __future__ import annotations

from typing import Any

from emulation.features.mininet import link
from emulation.features.mininet.access import MANAGED, MASTER
from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.modes import MODES, WIDTH, freq_of, mode_of
from emulation.features.mininet.refusals import check, refuse
from emulation.lane.errors import Misuse
from emulation.lane.links import adhoc, wlan
from emulation.lane.links.infrastructure import Client
from emulation.specification.modes import centre

PEERS: dict[str, type[link.Link]] = {"adhoc": link.adhoc, "mesh": link.mesh, "ocb": link.ITSLink}
TYPES = {"adhoc": "ibss", "mesh": "mesh", "ocb": "ocb", MANAGED: "managed"}
OF_MASTER = ("ssid", "mode", "channel", "encrypt", "passwd", "txpower", "intf", *WIDTH)
BEACON_TU, MOST = 100, 256


def become(intf: WIntf, role: str, said: dict[str, Any]) -> None:
    """Change an interface's role, before the network is built or while it runs. Raises Misuse for access points;
    OSError."""
    call = f"{intf.node.name}: to become {role}"
    if role == MASTER:
        if intf.lane:
            refuse(f"{call} while the network runs", "write it before net.build()")
        check(call, said, OF_MASTER, {"datapath": "a station has no bridge"})
        for name in set(said) - {"intf", "datapath", *WIDTH}:
            setattr(intf, name, said[name])
        intf.params |= {word: said[word] for word in WIDTH if word in said}
        intf.role, intf.mode = MASTER, mode_of(intf.name, intf.mode)
        return
    if role == MANAGED:
        check(call, said, ("ssid", "intf"))
        intf.role, intf.ssid = "", said.get("ssid", "")
    else:
        link.tune(intf, PEERS[role], link.settings_of(PEERS[role], call, said))
    if intf.lane:
        with intf.node.net.lab.halted():
            retune(intf, role)


def retune(intf: WIntf, role: str) -> None:
    """Leave the radio's network and join the other. Raises Misuse or OSError."""
    lane: Any = intf.lane
    busy = lane.plan.get("wlan", {})
    if busy.get("master") or busy.get("client") == Client.WPA_SUPPLICANT:
        who = "hostapd" if busy.get("master") else "wpa_supplicant"
        raise Misuse(f"{intf.name} is {who}'s, as it may go to several networks: write it before net.build()")
    freq = freq_of(intf.name, intf.mode, intf.channel)
    mode, ht = intf.node.net.lab.mode, lane.plan.get("ht")
    wide = {"width_mhz": intf.width, "centre_mhz": centre(freq, intf.width)}
    if MODES[intf.mode] != MODES[mode] or (ht and wide["width_mhz"] > ht["width_mhz"]):
        raise Misuse(f"{intf.name}: mode {intf.mode!r}: the network's air is of mode {mode!r}: say both before it")
    if ht:
        ht |= wide
    if busy.get("client", wlan.IDLE) != wlan.IDLE:
        wlan.leave(lane)
        busy["client"] = wlan.IDLE
    lane.switch(on=False)
    lane.set_type(TYPES[role])
    lane.switch(on=True)
    if lane.plan["rates"] and role != MANAGED:
        lane.fix_rates(lane.plan["rates"], freq)
    basic = next(made["basic_rates"] for made in intf.node.net.lab.plan["links"] if "basic_rates" in made)
    with lane.hearing():
        if role == "adhoc":
            lane.join_ibss(intf.ssid, freq, adhoc.BSSID, BEACON_TU, basic)
            lane.shift_beacons(1024 * BEACON_TU * intf.node.net.medium.radios().index(intf) // MOST)
            lane.probe(intf.ssid, freq)  # peers answer, and learn of it
        elif role == "mesh":
            lane.join_mesh(intf.ssid, freq, BEACON_TU, basic)
        elif role == "ocb":
            lane.join_ocb(freq)
