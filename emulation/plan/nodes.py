# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a plan, their interfaces, and the links between them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from emulation.lane import links
from emulation.lane.errors import Misuse
from emulation.lane.links.infrastructure import check_passphrase
from emulation.plan.air import (
    CW_MAX,
    ERP_PHY,
    GAIN,
    HR_PHY,
    RECEIVE,
    SENSE,
    TX_POWER,
    basic_rates,
    node_thresholds,
    phy_of,
    units,
)
from emulation.plan.bridges import check_bridge, check_loops, plan_bridge
from emulation.plan.checks import as_misuse, check_names, find_kind
from emulation.plan.edca import EDCA, plan_edca
from emulation.plan.ht import hold, of_node, plan_ht
from emulation.specification import Specification
from emulation.specification.propagation import mdbm
from emulation.specification.radio import CHANNEL, CHANNELS_1_TO_11, HR, OF_MODE, OFDM, OLDER, RATES, Radio, frequency
from topologies import Network, Node
from topologies.files import ask, is_a
from topologies.network import BRIDGES, WITH_RADIO
from traffic import plugins

# In bytes. mac80211 compares a frame's length with FCS: that of a TCP ACK is up to 118, of a DATA segment 612 or more.
PARTIAL_RTS = 400
RTS_THRESHOLDS = {"full": 0, "partial": PARTIAL_RTS, "none": None}
# A beacon costs airtime. But Linux learns a station of an IBSS only by hearing it, and stations that meet while moving
# first hear each other's beacons.
BEACON_TU, BEACON_TU_MOVING = 10_000, 1_000
RETRIES = ("short_retry", "long_retry")
# Settings of a node that override the network's. TX_POWER, thresholds and those of clients are others.
RADIO_SETTINGS = ("rate", "rts", *RETRIES)
PASSPHRASE = "passphrase"
MAC = "mac"  # the address of its radio
LINK_SETTINGS = ("ssid", "freq", "beacon_tu", CHANNEL, "width")
HWSIM_DOMAIN = 0  # hwsim's first regulatory domain: it has channel 14, and 5 GHz without radar detection
SSID = "dcflab"
IN_24 = 250  # nodes in a /24
FURTHER = 0x80  # in addresses: from here on a node's further radios; below, its wires
ADDRESS = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
LONGEST_SSID = 32  # bytes (IEEE 802.11-2016, 9.4.2.2)

# A router that neither sends nor accepts redirects. IPv6 is off, as its solicitations take airtime.
ROUTER = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.send_redirects": "0",
    "net.ipv4.conf.default.send_redirects": "0",
    "net.ipv4.conf.all.accept_redirects": "0",
    "net.ipv4.conf.default.accept_redirects": "0",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}


def address(index: int, port: int = 0) -> str:
    """Return the address of a node's interface: its radio, 0, or one on a wire, 1 and more."""
    high, low = divmod(index + 1, 256)
    return f"02:00:00:{high:02x}:{port:02x}:{low:02x}"


def ip(index: int) -> str:
    return f"10.0.{index // IN_24}.{index % IN_24 + 1}"


def prefix(count: int) -> int:
    """Return the prefix length of a network with `count` nodes."""
    return 24 if count <= IN_24 else 16


def plan_links(specification: Specification, network: Network, basic_rates: list[int]) -> list[dict[str, Any]]:
    """Return `links` of docs/interfaces.md, section 1, with one for radios that are on no link. Raises Misuse."""
    planned = []
    for number, (kind, members, settings) in enumerate(links_of(specification, network), 1):
        radio = radio_of_link(specification.radio, network, kind, members, settings)
        found, own = link_class(kind), link_settings(radio, kind, settings)
        _fits(found, kind, network, members)
        usual: dict[str, Any] = {}
        if found.interface == "radio":
            beacon_tu = radio.beacon_tu or found.beacon_tu or (BEACON_TU_MOVING if network.motion else BEACON_TU)
            usual = {"ssid": SSID, "freq": radio.freq, "beacon_tu": beacon_tu, "basic_rates": basic_rates}
            if old := [name for name in members if _is_older(radio, name, network.nodes[name])]:
                usual |= {"basic_rates": _mixed(radio, kind, old), "mixed": True}
        one = {"name": f"link{number}", "kind": kind, **usual, **own}
        if found.over_ap:
            one["may_fail"] = specification.network.unreachable
        changing = specification.network.unreachable or not is_static(network, members)
        receive_dbm = specification.medium.effective_thresholds().receive_dbm
        assert receive_dbm is not None
        kinds = [network.nodes[name].kind for name in members]
        with as_misuse(f"link {kind}"):
            ask(found.decide, is_a(object), one, kinds, changing, receive_dbm)
        planned.append(one)
    return planned


def radio_of_link(
    usual: Radio, network: Network, kind: str, members: Sequence[str], settings: Mapping[str, Any]
) -> Radio:
    """Return the radio that nodes of a link have without settings of their own. Raises Misuse. It is the network's,
    with the link's channel. In a BSS, it is that of the first access point."""
    found, radio = link_class(kind), usual
    if found.interface != "radio":
        return usual
    leaders = [name for name in members if network.nodes[name].kind == "ap"] if found.one_channel else []
    for name in leaders[:1] or (name for name in members if CHANNEL in network.nodes[name].settings):
        its = network.nodes[name].settings
        radio = mode_of(radio, name, its if leaders else {CHANNEL: its[CHANNEL]}, leads=True)
        break
    changed = _changed(radio, f"link {kind}", tuned(f"link {kind}", settings))
    _of_phy(f"link {kind}", changed, usual)
    return changed


def _of_phy(what: str, radio: Radio, usual: Radio) -> None:
    """Check that a link's radios have the PHY of the network, or both have OFDM. Raises Misuse."""
    if phy_of(radio) != phy_of(usual) and HR_PHY in (phy_of(radio), phy_of(usual)):
        raise Misuse(f"{what}: at {radio.freq} MHz its PHY differs from the network's at {usual.freq} MHz")


def mode_of(radio: Radio, name: str, settings: Mapping[str, Any], leads: bool = False) -> Radio:
    """Return a radio with the mode and channel of a node's settings. Raises Misuse."""
    with as_misuse(name):
        return _changed(radio, name, of_node(radio, settings, leads)) if {CHANNEL, *OF_MODE} & set(settings) else radio


def tuned(what: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a link's settings change in the radios of its nodes. Raises Misuse."""
    with as_misuse(what):
        freq = {"freq": frequency(settings[CHANNEL])} if CHANNEL in settings else {}
    return {**{name: settings[name] for name in ("freq", "width", "beacon_tu") if name in settings}, **freq}


def _is_older(radio: Radio, name: str, node: Node) -> bool:
    """Return whether a node's radio is 802.11b in a network of 802.11g. Raises Misuse."""
    return node.kind in WITH_RADIO and phy_of(check_node(radio, name, node)) != phy_of(radio)


def _mixed(radio: Radio, kind: str, old: list[str]) -> list[int]:
    """Return the basic rates of a link with 802.11b and 802.11g. Raises Misuse if it has no access points."""
    if not link_class(kind).over_ap:
        raise Misuse(
            f"link {kind}: {old[0]} is of 802.11b and others of 802.11g: only access points protect such a network"
        )
    return basic_rates(radio, mixed=True)


def recorders_of(planned: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the kinds of recorders that these links need."""
    return list(dict.fromkeys(kind for link in planned for kind in link_class(link["kind"]).recorders))


def is_static(network: Network, members: Sequence[str]) -> bool:
    """Return whether no node of a link moves, comes or goes."""
    return not any(len(network.motion.get(name, ())) > 1 or name in network.presence for name in members)


def links_of(
    specification: Specification, network: Network
) -> list[tuple[str, tuple[str, ...], Mapping[str, JsonValue]]]:
    """Return kind, nodes and settings of each link, with that of radios which are on none. Raises Misuse."""
    found: list[tuple[str, tuple[str, ...], Mapping[str, JsonValue]]]
    found = [(link.kind, link.nodes, link.settings) for link in network.links]
    on_one = {name for kind, members, _ in found if link_class(kind).interface == "radio" for name in members}
    if rest := tuple(name for name in network.on_air().nodes if name not in on_one):
        find_kind(links, specification.network.link)
        found.append((specification.network.link, rest, {}))
    return found


def link_class(kind: str) -> type[links.Link]:
    """Return the class of a link. A script's own class is unknown to the plan, which then takes it for radios. Raises
    Misuse if a file of this kind defines none."""
    if kind not in plugins.kinds(links.__name__):
        return links.Link
    found: type[links.Link] = find_kind(links, kind)
    return found


def _fits(found: type[links.Link], kind: str, network: Network, members: Sequence[str]) -> None:
    """Check that these nodes can be on this link. Raises Misuse."""
    kinds = {name: network.nodes[name].kind for name in members}
    if found.interface == "radio":
        if wired := next((name for name in kinds if kinds[name] not in WITH_RADIO), None):
            raise Misuse(f"link {kind}: {wired} is a {kinds[wired]}, and has no radio")
    elif len(kinds) != 2:
        raise Misuse(f"link {kind}: a wire has two ends, not {', '.join(kinds) or 'none'}")
    if not found.over_ap and len(kinds) < len(members):
        twice = next(name for name in members if members.count(name) > 1)
        raise Misuse(f"link {kind}: {twice} is on it twice")
    if found.needs_ap and "ap" not in kinds.values():
        raise Misuse(f"link {kind}: none of {', '.join(kinds)} is an access point")


def link_settings(radio: Radio, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a link's own settings, checked. Raises Misuse."""
    what, found = f"link {kind}", link_class(kind)
    common = LINK_SETTINGS if found.interface == "radio" else ()
    check_names(what, settings, (*common, *found.settings))
    with as_misuse(what):
        own = ask(found.check, is_a(dict), {name: settings[name] for name in settings if name in found.settings})
    ssid = settings.get("ssid", SSID)
    if not isinstance(ssid, str) or not 1 <= len(ssid.encode()) <= LONGEST_SSID:
        raise Misuse(f"{what}: ssid: must be a name of 1 to {LONGEST_SSID} bytes, not {ssid!r}")
    changed = _changed(radio, what, tuned(what, settings))
    _of_phy(what, changed, radio)
    kept = tuned(what, settings)
    kept = {name: getattr(changed, name) for name in ("freq", "beacon_tu") if name in kept}
    return {**({"ssid": ssid} if "ssid" in settings else {}), **kept, **own}


def plan_nodes(specification: Specification, network: Network, links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `nodes` of docs/interfaces.md, section 1, without their routing. Raises Misuse."""
    on: dict[str, list[tuple[dict[str, Any], Radio]]] = {name: [] for name in network.nodes}
    for link, (kind, members, settings) in zip(links, links_of(specification, network), strict=True):
        radio = radio_of_link(specification.radio, network, kind, members, settings)
        for name in members:
            on[name].append((link, radio))
    bits = prefix(len(network.nodes))
    check_loops(network)
    all_ = enumerate(network.nodes.items())
    nodes = [_node(specification, i, name, node, on[name], bits) for i, (name, node) in all_]
    hold([interface["ht"] for node in nodes for interface in node["interfaces"] if "ht" in interface])
    taken: dict[str, str] = {}
    for name, its in ((node["name"], interface["address"]) for node in nodes for interface in node["interfaces"]):
        if (other := taken.setdefault(its, name)) != name:
            raise Misuse(f"{name}: {MAC}: {its} is {other}'s address")
    return nodes


def _node(
    specification: Specification, index: int, name: str, node: Node, mine: Sequence[tuple[dict[str, Any], Radio]],
    bits: int,
) -> dict[str, Any]:  # fmt: skip
    """Return a node on these links, each with its usual radio; `bits` is the prefix length of its address."""
    if node.kind not in WITH_RADIO:
        check_node(specification.radio, name, node)
    over_air = [(link, radio) for link, radio in mine if link_class(link["kind"]).interface == "radio"]
    radios = [
        _radio(specification.radio, check_node(radio, name, node), name, index, number, link, node.settings)
        for number, (link, radio) in enumerate(over_air)
    ]
    wires = [link for link, _ in mine if link_class(link["kind"]).interface != "radio"]
    interfaces = [*radios, *(_wired(name, index, port, link) for port, link in enumerate(wires, 1))]
    bridge = plan_bridge(name, node.settings) if node.kind in BRIDGES else None
    for each in radios:
        each |= air_settings(specification, name, node.settings)
    for place, each in enumerate(interfaces):  # the node's address; it is in the network on the first interface only
        each["ip"] = None if bridge else f"{ip(index)}/{32 if place else bits}"
    if not interfaces:
        raise Misuse(f"{name}: a {node.kind} has no link yet; add one")
    return {
        "name": name,
        "kind": node.kind,
        "position": [float(value) for value in node.position],
        "sysctl": dict(ROUTER),
        "bridge": bridge,
        "interfaces": interfaces,
        "routing": {},
    }


def _radio(
    usual: Radio, radio: Radio, name: str, index: int, number: int, link: dict[str, Any],
    settings: Mapping[str, JsonValue],
) -> dict[str, Any]:  # fmt: skip
    """Return a node's first radio, or one for a further link, in a network with usual radios."""
    older = (phy_of(radio), phy_of(usual)) == (HR_PHY, ERP_PHY)
    return {
        "name": f"{name}-wlan{number}",
        "kind": "radio",
        "link": link["name"],
        "regulatory": None if link["freq"] in CHANNELS_1_TO_11 else HWSIM_DOMAIN,
        "address": address(index, FURTHER + number) if number else settings.get(MAC, address(index)),
        "ip": None,
        "rates": [units(rate) for rate in _rates(radio, "mixed" in link)],
        "rts_threshold": RTS_THRESHOLDS[radio.rts],
        "edca": plan_edca(radio, name, settings, phy_of(radio).cw_min, CW_MAX, older),
        "qdisc": None,
        "neighbours": {},
        **plan_ht(radio, link["kind"], usual.mode == OLDER),
        **(
            {"passphrase": settings.get(PASSPHRASE), "aps": [], "wmm": radio.edca != "off"}
            if link_class(link["kind"]).over_ap
            else {}
        ),
    }


def air_settings(specification: Specification, name: str, settings: Mapping[str, Any]) -> dict[str, int]:
    """Return a radio's own settings for the air. Raises Misuse."""
    own = {what: settings[what] for what in RETRIES if what in settings}
    if not {RECEIVE, SENSE} & settings.keys():
        return own
    thresholds = node_thresholds(specification, name, settings)
    if RECEIVE in settings:
        own["rx_threshold_mdbm"] = mdbm(thresholds.receive_dbm)
    if SENSE in settings:
        own["cs_threshold_mdbm"] = mdbm(thresholds.sense_dbm)
    return own


def _wired(name: str, index: int, port: int, link: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{name}-eth{port - 1}",
        "kind": link_class(link["kind"]).interface,
        "link": link["name"],
        "address": address(index, port),
        "ip": None,
        "qdisc": None,
        "neighbours": {},
    }


def check_new(radio: Radio, name: str, node: Node) -> None:
    """Check a node whose links are not known yet, which say how wide a station's channel is. Raises Misuse."""
    if node.kind == "ap":
        radio = mode_of(radio, name, node.settings, leads=True)
    kept = {what: value for what, value in node.settings.items() if what not in (CHANNEL, *OF_MODE)}
    check_node(radio, name, node.model_copy(update={"settings": kept}))


def check_node(radio: Radio, name: str, node: Node) -> Radio:
    """Return a node's radio, if it has one. Raises Misuse if its kind does not have one of its settings."""
    settings = dict(node.settings)
    if node.kind in BRIDGES:
        check_bridge(name, settings)
    return node_radio(radio, name, settings, node.kind in WITH_RADIO)


def node_radio(radio: Radio, name: str, settings: Mapping[str, Any], has_radio: bool = True) -> Radio:
    """Return a node's radio: the network's, overridden by the node's settings. Raises Misuse."""
    if not settings:
        return radio
    there = (*RADIO_SETTINGS, *OF_MODE, CHANNEL, TX_POWER, GAIN, RECEIVE, SENSE, EDCA, PASSPHRASE, MAC)
    check_names(name, settings, there if has_radio else ())
    _check_mac(name, settings.get(MAC))
    with as_misuse(name):
        check_passphrase(settings.get(PASSPHRASE))
    radio_of_mode = mode_of(radio, name, settings)
    own = _changed(radio_of_mode, name, {what: settings[what] for what in RADIO_SETTINGS if what in settings})
    if phy_of(own) != phy_of(radio):
        what = f"{name}: at {own.rate:g} Mb/s its PHY differs from the network's at {radio.rate:g} Mb/s"
        if (phy_of(own), phy_of(radio)) != (HR_PHY, ERP_PHY):
            raise Misuse(what)
        if radio.rate_control == "fixed":
            raise Misuse(f"{what}: an access point needs several rates for both; use --rate-control minstrel")
    return own


def _check_mac(name: str, mac: JsonValue) -> None:
    """Check the address of a radio. Raises Misuse. hwsim uses bit 0x40 of the first byte for its second addresses."""
    if mac is not None and not (isinstance(mac, str) and ADDRESS.fullmatch(mac) and not int(mac[:2], 16) & 0x41):
        raise Misuse(f"{name}: {MAC}: give a radio's address like 02:00:00:00:00:01, not {mac!r}")


def _changed(radio: Radio, whose: str, settings: Mapping[str, Any]) -> Radio:
    """Return the network's radio with other settings. Raises Misuse."""
    with as_misuse(whose):
        return Radio.model_validate({**dict(radio), **settings})


def _rates(radio: Radio, mixed: bool) -> list[float]:
    """Return the data rates of a station: one, or those of its PHY up to it; 802.11g among 802.11b adds 802.11b's."""
    family = HR if radio.rate in HR else RATES if mixed else OFDM
    return [radio.rate] if radio.rate_control == "fixed" else sorted({rate for rate in family if rate <= radio.rate})
