# SPDX-License-Identifier: BSD-3-Clause
"""Access points, their networks, and the access points that a station can join: `wlan` of the plan's interfaces
(`emulation.lane.links.wlan`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.interface import WIntf
from emulation.features.mininet.modes import freq_of, width_of
from emulation.features.mininet.refusals import note, numeric
from emulation.lane.errors import Misuse
from emulation.lane.links.infrastructure import Client, Security, check_passphrase
from emulation.lane.links.wlan import EAP, IDLE, leave
from emulation.plan.nodes import HWSIM_DOMAIN
from emulation.specification.modes import centre

if TYPE_CHECKING:
    from emulation.features.mininet.medium import Medium

SECURITY = {"": Security.OPEN, "open": Security.OPEN, "wpa2": Security.WPA2, "wpa3": Security.WPA3}
OF_NETWORK = ("ssid", "freq", "security", "passphrase", "protection")
ISOLATING = ("client_isolation", "isolate_clients")  # keywords: clients do not reach each other over it
AUTHMODE = "8021x"
BEACONS = 5  # that announce another channel
AMENDMENTS = {"ofdm": (), "ht": ("ht",), "vht": ("ht", "vht"), "he": ("ht", "vht", "he")}  # of hostapd, by format
BGSCAN = {"s_inverval": 30, "bgscan_threshold": -45, "l_interval": 300}  # keywords, as they are spelled
NO_KEY = "a passphrase of nobody"
MASTER, MANAGED = "master", "managed"  # roles of interfaces

Wlan = dict[str, Any]


def master(intf: WIntf) -> Wlan:
    """Return the network of an access point's interface. Raises Misuse."""
    said = {**intf.node.net.params, **intf.node.params}
    if (mode := said.get("authmode")) not in (None, AUTHMODE):
        raise Misuse(f"{intf.name}: authmode={mode!r}: the only value is {AUTHMODE!r}")
    by_lines = dict(line.split("=", 1) for line in intf.lines)
    if "wpa" in by_lines:
        keys = by_lines.get("wpa_key_mgmt", "")
        security: str | None = EAP if "EAP" in keys else Security.WPA3 if "SAE" in keys else Security.WPA2
    else:
        security = EAP if mode else SECURITY.get(intf.encrypt or "")
    if security is None:
        there = ", ".join(kind for kind in SECURITY if kind)
        raise Misuse(f"{intf.name}: encrypt={intf.encrypt!r}: there are: {there}")
    if "wpa" not in by_lines and security != EAP and (security != Security.OPEN) != bool(intf.passwd):
        raise Misuse(f"{intf.name}: encrypt and passwd belong together: encrypt='wpa2', passwd='…'")
    try:
        check_passphrase(intf.passwd or None)
    except ValueError as error:
        raise Misuse(f"{intf.name}: passwd: {error}") from None
    freq = freq_of(intf.name, intf.mode, intf.channel)
    isolate = any(said.get(keyword) for keyword in ISOLATING)
    own: Wlan = {"users": users(intf)} if mode else {}
    if intf.lines:
        own["lines"] = intf.lines
    if intf.wds:
        own["wds"] = True
    return {"master": True, "ssid": intf.ssid, "freq": freq, "security": security,
            "passphrase": by_lines.get("wpa_passphrase", by_lines.get("sae_password", intf.passwd)),
            "isolate": isolate, "protection": int(intf.ieee80211w), **own}  # fmt: skip


def users(intf: WIntf) -> list[tuple[str, str]]:
    """Return the users of the network: the identities of all stations, each with the password that it has first."""
    note("authmode='8021x': hostapd authenticates, by EAP-pwd; its users are the radius_identity of stations")
    found: dict[str, str] = {}
    for node in (*intf.node.net.stations, *intf.node.net.cars):
        if identity := node.params.get("radius_identity"):
            found.setdefault(str(identity), str(node.params.get("radius_passwd") or ""))
    return list(found.items())


def linked_to(intf: WIntf) -> WIntf | None:
    """Return the access point's interface that the script linked this one to."""
    ends = (intf.link.intf1, intf.link.intf2) if intf.link else ()
    return next((each for each in ends if isinstance(each, WIntf) and each.role == MASTER), None)


def client(intf: WIntf, masters: Mapping[WIntf, Wlan], moving: bool, roam_dbm: float) -> Wlan:
    """Return the networks that a station can join, and what connects it. The first is the access point that the script
    linked it to, else the nearest. If nodes do not move and nothing chooses, there is only this one."""
    linked, said = linked_to(intf), intf.node.net.params
    # A station without a link stays without.
    alone = False in (said.get("allAutoAssociation"), said.get("autoAssociation"))
    clients = [each for each in intf.node.wintfs.values() if each.role in ("", MANAGED)]
    free = not alone and (intf is clients[0] if any(each.link for each in clients) else intf in clients)
    if not masters or (intf.role != MANAGED and not free):
        return {"client": IDLE, "networks": []}
    there = {
        each: {**one, "ssid": intf.own_ssid} if intf.own_ssid in [more.ssid for more in each.more] else one
        for each, one in masters.items()
    }
    if linked and not moving:
        there = {linked: there[linked]}
    elif not linked and intf.own_ssid:
        there = {each: one for each, one in there.items() if one["ssid"] == intf.own_ssid} or there
    first = linked or min(there, key=lambda each: intf.node.get_distance_to(each.node))
    networks: dict[str, Wlan] = {}
    for one in (there[first], *(one for each, one in there.items() if each is not first)):
        known = {**{name: one[name] for name in OF_NETWORK}, "freqs": [], "roams": False}
        if one["security"] != Security.OPEN and intf.passwd:  # the station's own, even if wrong
            known["passphrase"] = intf.passwd
        if known["security"] in (Security.WPA2, Security.WPA3) and not known["passphrase"]:
            note(f"{intf.name} cannot join {one['ssid']}, where each station has a key of its own: give it passwd=")
            known["passphrase"] = NO_KEY
        known |= {"identity": str(intf.node.params.get("radius_identity") or ""),
                  "password": str(intf.node.params.get("radius_passwd") or ""), "lines": intf.lines}  # fmt: skip
        mine = networks.setdefault(one["ssid"], known)
        mine["roams"] = bool(mine["freqs"])
        mine["freqs"] = list(dict.fromkeys([*mine["freqs"], one["freq"]]))
    begin, settings = networks[there[first]["ssid"]], str(intf.node.params.get("wpasup_globals") or "")
    if any(line.startswith("wps_state=") for line in there[first].get("lines", ())) and not (intf.passwd or intf.lines):
        networks, settings = {}, f"ctrl_interface_group=0\nupdate_config=1\n{settings}"  # wpa_cli asks for them
    alone = len(there) == 1 and begin["security"] == Security.OPEN and not moving and not intf.lines
    return {
        **{name: begin[name] for name in OF_NETWORK}, "roams": begin["roams"], "roam_dbm": roam_dbm,
        "client": Client.KERNEL if alone else Client.WPA_SUPPLICANT, "networks": list(networks.values()),
        "globals": settings, "scan": scan_of(intf),
    }  # fmt: skip


def scan_of(intf: WIntf) -> list[int] | None:
    """Return when a station that the script says it of looks for a better access point of its network: seconds while
    it receives its own below a power, the power (dBm), and seconds else. Raises Misuse."""
    said = {**intf.node.net.params, **intf.node.params}
    if not any(keyword in said for keyword in BGSCAN):
        return None
    return [round(numeric(f"{intf.name}: {keyword}", said.get(keyword, usual))) for keyword, usual in BGSCAN.items()]


def let_roam(net: Any) -> None:
    """In a running network, let stations join other access points as they move. Raises OSError or NetlinkError."""
    masters = {intf: intf.lane.plan["wlan"] for intf in net.medium.radios() if intf.role == MASTER}
    for intf in net.medium.radios():
        lane: Any = intf.lane
        before = lane.plan.get("wlan", {})
        if before.get("client", IDLE) == IDLE:
            continue
        after = client(intf, masters, moving=True, roam_dbm=before["roam_dbm"])
        if any(before[what] != after[what] for what in ("client", "networks")):
            with net.lab.halted() as loop:
                lane.plan["wlan"] = after
                net.lab.link_of(lane).restart(lane, loop)


def switch_channel(intf: WIntf, channel: Any) -> None:
    """Move an access point of a running network to another channel, where its stations follow and will look for it. In
    another band hostapd begins anew, as it announces channels of its own band only. Raises Misuse or OSError."""
    lab, lane = intf.node.net.lab, intf.on_air
    freq, before = freq_of(intf.name, intf.mode, channel), lane.plan["wlan"]["freq"]
    if (band := 5 if freq > 3000 else 2) not in lab.bands:
        intf.before(f"setChannel({channel}) to a band that the network does not have", "give an access point that band")
    width, wide = width_of(intf.name, intf.mode, channel, intf.params), list[str]()
    if ht := lane.plan.get("ht"):
        middle = centre(freq, width)
        wide = [f"bandwidth={width}", f"center_freq1={middle}", *AMENDMENTS[ht["format"]]]
        if width > 20:
            wide.append(f"sec_channel_offset={1 if centre(freq, 40) > freq else -1}")
        ht["centre_mhz"] = middle
    anew = (band == 5) != (before > 3000)
    if not anew and "OK" not in (said := intf.cmd("hostapd_cli", "-i", intf.name, "chan_switch", BEACONS, freq, *wide)):
        raise Misuse(f"{intf.name}: setChannel({channel}): hostapd: {said.strip()}")
    intf.channel, lane.plan["wlan"]["freq"] = channel, freq
    clients = list[WIntf]()
    for each in intf.node.net.medium.radios():
        known = each.on_air.plan.get("wlan", {})
        for number, one in enumerate(known.get("networks", ())):
            if one["ssid"] == intf.own_ssid and before in one["freqs"]:
                one["freqs"] = list(dict.fromkeys((*one["freqs"], freq)))
                if known["client"] == Client.WPA_SUPPLICANT:
                    each.cmd("wpa_cli", "-i", each.name, "set_network", number, "scan_freq", *one["freqs"])
        if (known.get("ssid"), known.get("freq"), known.get("client")) == (intf.own_ssid, before, Client.KERNEL):
            known["freq"] = freq
            clients.append(each)
    if anew:
        with lab.halted() as loop:
            lab.link_of(lane).restart(lane, loop)
        for each in clients:
            leave(each.on_air)
            lab.link_of(each.on_air).reconnect(each.on_air)


def give(plan: dict[str, Any], radios: Mapping[str, WIntf], medium: Medium, moving: bool) -> None:
    """Set `wlan` of each interface on a link with access points, and the access points that it may receive. Radios of a
    node may have several modes; and in a network of two bands each may change its band. Raises Misuse."""
    of_link = {link["name"]: link for link in plan["links"]}
    planned = [
        (radios[each["name"]], each) for node in plan["nodes"] for each in node["interfaces"] if each["kind"] == "radio"
    ]
    medium.give_modes(planned, {name: link["kind"] for name, link in of_link.items()})
    if len(medium.bands()) > 1:
        for _, interface in planned:
            interface["regulatory"] = HWSIM_DOMAIN
    masters = {intf: master(intf) for intf, _ in planned if intf.role == MASTER}
    power, least = plan["air"]["power_mdbm"], plan["air"]["rx_threshold_mdbm"]

    def hear(a: int, b: int) -> bool:
        return all(found is not None and found >= least for found in (power[a][b], power[b][a]))

    for at, (intf, interface) in enumerate(planned):
        if of_link[interface["link"]]["kind"] != "wlan":
            continue
        if intf in masters:
            interface["wlan"] = masters[intf]
            if intf.more:
                found = [{"ssid": one.ssid, "bssid": one.bssid_of(interface["address"])} for one in intf.more]
                interface["wlan"] = {**masters[intf], "more": found}
            if "ht" in interface:
                interface["ht"]["centre_mhz"] = centre(masters[intf]["freq"], interface["ht"]["width_mhz"])
            continue
        roam_dbm = float(of_link[interface["link"]]["roam_dbm"])
        interface["wlan"] = client(intf, masters, moving, roam_dbm)
        if interface["wlan"]["networks"]:  # one that it may wait for
            interface["aps"] = [ap.node.name for to, (ap, _) in enumerate(planned) if ap in masters and hear(at, to)]
