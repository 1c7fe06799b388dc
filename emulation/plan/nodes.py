# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a plan, with their interfaces, and the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulation.lane import links
from emulation.plan.air import TX_POWER, phy_of, units
from emulation.plan.errors import PlanError, known, only, refusals
from emulation.specification import Specification
from emulation.specification.radio import CHANNELS_1_TO_11, HR, OFDM, Radio
from topologies import Network

PARTIAL_RTS = (
    400  # bytes; mac80211 compares the frame's length with its FCS: a TCP ACK's is up to 118, a DATA's from 612
)
RTS_THRESHOLDS = {"full": 0, "partial": PARTIAL_RTS, "none": None}
# A beacon costs airtime. But Linux knows a station of an IBSS only once it has heard it, and a beacon is the first that
# those hear of each other who meet under way.
BEACON_TU, BEACON_TU_MOVING = 10_000, 1_000
OF_RADIO = ("rate", "rts")  # what a node may have otherwise than the others; and TX_POWER
LINK_SETTINGS = ("ssid", "freq", "beacon_tu")
HWSIM_DOMAIN = 0  # of hwsim's own regulatory domains the first, which has channel 14, and 5 GHz without radar's
LONGEST_SSID = 32  # bytes (IEEE 802.11-2016, 9.4.2.2)

# A router that takes and gives no advice; and no IPv6, whose solicitations would take airtime.
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


def address(index: int) -> str:
    return f"02:00:00:00:00:{index + 1:02x}"


def ip(index: int) -> str:
    return f"10.0.0.{index + 1}"


def plan_links(specification: Specification, network: Network, basic_rates: list[int]) -> list[dict[str, Any]]:
    """docs/interfaces.md, section 1, `links`: the network's, and one for all who are on none. Raises PlanError."""
    radio, chosen = specification.radio, specification.network
    beacon_tu = radio.beacon_tu or (BEACON_TU_MOVING if network.motion else BEACON_TU)
    usual = {"ssid": "dcflab", "freq": radio.freq, "beacon_tu": beacon_tu}
    joined = {name for link in network.links for name in link.nodes}
    wanted = [(link.kind, link.settings) for link in network.links]
    if joined != set(network.nodes):
        known(links.find, chosen.link)
        wanted.append((chosen.link, {}))
    own = [link_settings(radio, kind, settings) for kind, settings in wanted]
    return [
        {"name": f"link{number}", "kind": kind, **usual, **settings, "basic_rates": basic_rates}
        for number, ((kind, _), settings) in enumerate(zip(wanted, own, strict=True), 1)
    ]


def link_settings(radio: Radio, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a link has otherwise than the others, checked. Raises PlanError."""
    what = f"link {kind}"
    only(what, settings, LINK_SETTINGS)
    ssid = settings.get("ssid", "dcflab")
    if not isinstance(ssid, str) or not 1 <= len(ssid.encode()) <= LONGEST_SSID:
        raise PlanError(f"{what}: ssid: must be a name of 1 to {LONGEST_SSID} bytes, not {ssid!r}")
    own = _changed(radio, what, {name: value for name, value in settings.items() if name != "ssid"})
    if phy_of(own) != phy_of(radio):
        raise PlanError(f"{what}: at {own.freq} MHz it has another PHY than the network at {radio.freq} MHz")
    return {name: ssid if name == "ssid" else getattr(own, name) for name in settings}


def plan_nodes(specification: Specification, network: Network, links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """docs/interfaces.md, section 1, `nodes`, whose routing is still to be planned. Raises PlanError."""
    link_of = {name: link for link, own in zip(links, network.links, strict=False) for name in own.nodes}
    last, radio = links[-1], specification.radio
    return [
        {
            "name": name,
            "kind": node.kind,
            "position": [float(value) for value in node.position],
            "sysctl": dict(ROUTER),
            "interfaces": [_radio(own_radio(radio, name, node.settings), name, i, link_of.get(name, last))],
            "routing": {},
        }
        for i, (name, node) in enumerate(network.nodes.items())
    ]


def _radio(radio: Radio, name: str, index: int, link: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"{name}-wlan0",
        "kind": "radio",
        "link": link["name"],
        "regulatory": None if link["freq"] in CHANNELS_1_TO_11 else HWSIM_DOMAIN,
        "address": address(index),
        "ip": f"{ip(index)}/24",
        "rates": [units(rate) for rate in _rates(radio)],
        "rts_threshold": RTS_THRESHOLDS[radio.rts],
        "qdisc": None,
        "neighbours": {},
    }


def own_radio(radio: Radio, name: str, settings: Mapping[str, Any]) -> Radio:
    """A node's radio: the network's, but for what the node has otherwise. Raises PlanError."""
    only(name, settings, (*OF_RADIO, TX_POWER))
    own = _changed(radio, name, {what: settings[what] for what in OF_RADIO if what in settings})
    if phy_of(own) != phy_of(radio):
        raise PlanError(f"{name}: at {own.rate:g} Mb/s it has another PHY than the network at {radio.rate:g} Mb/s")
    return own


def _changed(radio: Radio, whose: str, settings: Mapping[str, Any]) -> Radio:
    """The network's radio but for what is set otherwise. Raises PlanError."""
    with refusals(whose):
        return Radio.model_validate({**dict(radio), **settings})


def _rates(radio: Radio) -> list[float]:
    """The data rates a station may use: one, or those of its PHY up to it."""
    family = HR if radio.rate in HR else OFDM
    return [radio.rate] if radio.rate_control == "fixed" else sorted({rate for rate in family if rate <= radio.rate})
