# SPDX-License-Identifier: BSD-3-Clause
"""Move a radio to another kind of link: `setMasterMode`, `setAdhocMode` and the like. In a running network this changes
the kernel's interface. Interfaces of hostapd raise Misuse."""

from __future__ import annotations

import contextlib
import select
from itertools import permutations
from typing import TYPE_CHECKING, Any

from emulation.features.mininet import link
from emulation.features.mininet.access import MANAGED, MASTER
from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.modes import MODES, WIDTH, freq_of, mode_of
from emulation.features.mininet.refusals import check, refuse
from emulation.lane.errors import Misuse
from emulation.lane.interfaces.radio import Interface
from emulation.lane.links import adhoc, wlan
from emulation.lane.links.infrastructure import Client
from emulation.plan.ht import FORMATS as ht_modes
from emulation.specification.modes import centre, channel_number, refuse_link
from emulation.specification.radio import OLDER

if TYPE_CHECKING:
    from traffic.loop import Loop

PEERS: dict[str, type[link.Link]] = {"adhoc": link.adhoc, "mesh": link.mesh, "ocb": link.ITSLink}
TYPES = {"adhoc": "ibss", "mesh": "mesh", "ocb": "ocb", MANAGED: "managed"}
OF_MASTER = ("ssid", "mode", "channel", "encrypt", "passwd", "txpower", "intf", *WIDTH)
BEACON_TU, MOST = 100, 256
ATTEMPTS = 20


def become(intf: WIntf, role: str, said: dict[str, Any]) -> None:
    """Change an interface's role, before the network is built or while it runs. Raises Misuse or OSError."""
    call = f"{intf.node.name}: to become {role}"
    if role == MASTER:
        if intf.lane:
            refuse(f"{call} while the network runs", "write it before net.build()")
        check(call, said, OF_MASTER, {"datapath": "a station has no bridge"})
        for name in set(said) - {"intf", "datapath", *WIDTH}:
            setattr(intf, name, said[name])
        intf.params |= {keyword: said[keyword] for keyword in WIDTH if keyword in said}
        intf.role, intf.mode = MASTER, mode_of(intf.name, intf.mode)
        return
    if role == MANAGED:
        check(call, said, ("ssid", "intf"))
        intf.role, intf.ssid = "", said.get("ssid", "")
    else:
        link.tune(intf, PEERS[role], link.settings_of(PEERS[role], call, said))
    if intf.lane:
        with intf.node.net.lab.halted() as loop:
            retune(intf, role, loop)
        intf.show_mesh_name()


def check_mode(intf: WIntf, role: str, freq: int) -> None:
    """Check that the radio, as it was made, has the mode, band and width of its new link. Raises Misuse."""
    lab, name = intf.node.net.lab, MODES[intf.mode].name
    ht = intf.lane.plan.get("ht")  # type: ignore[union-attr]
    made = OLDER if not ht else next(mode for mode, format_ in ht_modes.items() if format_ == ht["format"])
    ranks = list(ht_modes)
    both = made == name and (intf.mode == "b") == (lab.mode == "b")  # 802.11b has a PHY of its own
    fits = ranks.index(made) >= ranks.index(name) if OLDER not in (made, name) else both
    if not fits or (ht and intf.width > ht["width_mhz"]) or (5 if freq > 3000 else 2) not in lab.bands:
        bands = " and ".join("5" if band == 5 else "2.4" for band in lab.bands)
        there = f"the network has mode {lab.mode!r} at {bands} GHz"
        raise Misuse(f"{intf.name}: mode {intf.mode!r}, channel {intf.channel}: {there}: set both before net.build()")
    if refused := refuse_link(name, role, 5 if freq > 3000 else 2, channel_number(freq), intf.width):
        raise Misuse(f"{intf.name}: {refused}")


def retune(intf: WIntf, role: str, loop: Loop) -> None:
    """Leave the radio's network and join the other. Raises Misuse or OSError."""
    lane: Any = intf.lane
    busy = lane.plan.get("wlan", {})
    if busy.get("master"):
        raise Misuse(f"{intf.name} is controlled by hostapd: call it before net.build()")
    if busy.get("client") == Client.WPA_SUPPLICANT and role == MANAGED:
        return
    freq = freq_of(intf.name, intf.mode, intf.channel)
    if role != MANAGED:
        check_mode(intf, role, freq)
        if ht := lane.plan.get("ht"):
            ht |= {"width_mhz": intf.width, "centre_mhz": centre(freq, intf.width)}
    if busy.get("client", wlan.IDLE) != wlan.IDLE:
        intf.node.net.lab.link_of(lane).release(lane, loop)
        busy["client"] = wlan.IDLE
    keep_ip6(lane, True)
    lane.switch(on=False)
    lane.set_type(TYPES[role])
    lane.switch(on=True)
    keep_ip6(lane, False)
    if lane.plan["rates"] and role != MANAGED:
        lane.set_rate_mask(lane.plan["rates"], freq)
    basic = next(made["basic_rates"] for made in intf.node.net.lab.plan["links"] if "basic_rates" in made)
    with lane.receiving_events():
        if role == "adhoc":
            lane.join_ibss(intf.ssid, freq, adhoc.BSSID, BEACON_TU, basic)
            lane.shift_beacons(1024 * BEACON_TU * intf.node.net.medium.radios().index(intf) // MOST)
            meet(intf, freq)
        elif role == "mesh":
            lane.join_mesh(intf.ssid, freq, BEACON_TU, basic)
        elif role == "ocb":
            lane.join_ocb(freq)


def keep_ip6(lane: Interface, keep: bool) -> None:
    """Have an interface keep its IPv6 addresses when it goes down, as it does with those of IPv4, or not."""
    path = f"/proc/sys/net/ipv6/conf/{lane.name}/keep_addr_on_down"
    with lane.node, contextlib.suppress(FileNotFoundError), open(path, "w") as file:  # not there without IPv6
        file.write(f"{keep:d}")


def meet(intf: WIntf, freq: int) -> None:
    """Send probe requests until the stations of the cell in range know each other: Linux drops frames for a station
    that it has not heard, and knows one by its answer or beacon."""
    medium, lane = intf.node.net.medium, intf.on_air
    cell = [each for each in medium.radios() if each is not intf and each.role == "adhoc" and each.lane]
    near = [
        each.on_air
        for each in cell
        if (each.ssid, round(1000 * each.freq)) == (intf.ssid, freq)
        and min(medium.received_dbm(*pair) for pair in permutations((each.node, intf.node))) >= medium.receive_dbm()
    ]
    for _ in range(ATTEMPTS):
        known = lane.peers()
        deaf = [lane] * any(each.MAC() not in known for each in near)
        deaf += [each for each in near if lane.MAC() not in each.peers()]
        for each in deaf:
            each.probe(intf.ssid, freq)
        if not deaf:
            return
        select.select([], [], [], adhoc.ANSWER_S)
