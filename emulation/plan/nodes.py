# SPDX-License-Identifier: BSD-3-Clause
"""The nodes of a plan, with their interfaces, and the links between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from emulation.lane import links
from emulation.plan.air import phy_of, units
from emulation.plan.errors import PlanError, known
from emulation.specification import Specification, explain
from emulation.specification.radio import CHANNELS_1_TO_11, HR, OFDM, Radio
from topologies import Network, Node

PARTIAL_RTS = (
    400  # bytes; mac80211 compares the frame's length with its FCS: a TCP ACK's is up to 118, a DATA's from 612
)
RTS_THRESHOLDS = {"full": 0, "partial": PARTIAL_RTS, "none": None}
OWN_SETTINGS = ("rate", "rts")  # of a node
LINK_SETTINGS = ("ssid", "freq", "beacon_tu")
HWSIM_DOMAIN = 0  # of hwsim's own regulatory domains the first, which has channel 14, and 5 GHz without radar's

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
    usual = {"ssid": "dcflab", "freq": radio.freq, "beacon_tu": radio.beacon_tu}
    joined = {name for link in network.links for name in link.nodes}
    wanted = [(link.kind, link.settings) for link in network.links]
    if joined != set(network.nodes):
        known(links.find, chosen.link)
        wanted.append((chosen.link, {}))
    for kind, settings in wanted:
        if strange := next((name for name in settings if name not in LINK_SETTINGS), None):
            raise PlanError(f"link {kind}: there is no setting {strange}; there are: {', '.join(LINK_SETTINGS)}")
        own = _changed(radio, f"link {kind}", {name: settings[name] for name in settings if name != "ssid"})
        if phy_of(own) != phy_of(radio):
            raise PlanError(f"link {kind}: at {own.freq} MHz it has another PHY than the network at {radio.freq} MHz")
    return [
        {"name": f"link{number}", "kind": kind, **usual, **settings, "basic_rates": basic_rates}
        for number, (kind, settings) in enumerate(wanted, 1)
    ]


def plan_nodes(specification: Specification, network: Network, links: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """docs/interfaces.md, section 1, `nodes`, whose routing is still to be planned. Raises PlanError."""
    link_of = {name: link for link, own in zip(links, network.links, strict=False) for name in own.nodes}
    return [
        {
            "name": name,
            "kind": node.kind,
            "position": [float(value) for value in node.position],
            "sysctl": dict(ROUTER),
            "interfaces": [_radio(_own(specification.radio, name, node), name, i, link_of.get(name, links[-1]))],
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


def _own(radio: Radio, name: str, node: Node) -> Radio:
    """A node's radio: the network's, but for what the node says otherwise."""
    if strange := next((setting for setting in node.settings if setting not in OWN_SETTINGS), None):
        raise PlanError(f"{name}: a node has no setting {strange} of its own; there are: {', '.join(OWN_SETTINGS)}")
    own = _changed(radio, name, node.settings)
    if phy_of(own) != phy_of(radio):
        raise PlanError(f"{name}: at {own.rate:g} Mb/s it has another PHY than the network at {radio.rate:g} Mb/s")
    return own


def _changed(radio: Radio, whose: str, settings: Mapping[str, Any]) -> Radio:
    """The network's radio but for what is set otherwise. Raises PlanError."""
    try:
        return Radio.model_validate({**dict(radio), **settings})
    except ValidationError as error:
        raise PlanError("; ".join(f"{whose}: {line}" for line in explain(error))) from error


def _rates(radio: Radio) -> list[float]:
    """The data rates a station may use: one, or those of its PHY up to it."""
    family = HR if radio.rate in HR else OFDM
    return [radio.rate] if radio.rate_control == "fixed" else sorted({rate for rate in family if rate <= radio.rate})
