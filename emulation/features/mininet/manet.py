# SPDX-License-Identifier: BSD-3-Clause
"""Routing protocols by `mn_wifi.manetRoutingProtocols`, instead of `proto=` of a link: by name, or as a class with an
interface."""

from __future__ import annotations

from typing import Any

from emulation.features.mininet.node import Node
from emulation.lane.errors import Misuse

NAMES = {"batman": "batman_adv", "olsr": "olsrd"}  # `proto=` has other names


class manetProtocols:
    """Set the protocol of the network, before it is built. Raises Misuse."""

    def __init__(self, protocol: str, node: Node, wlan: int = 0, **_: Any) -> None:
        call = f"manetProtocols({protocol!r}, {node})"
        if node.net.built:
            raise Misuse(f"{call}: a routing protocol is the network's: call it before net.build()")
        node.net.route_by({"proto": NAMES.get(protocol, protocol)}, call)


class _Protocol:
    """A protocol by its class. Raises Misuse."""

    def __init__(self, intf: Any, proto_args: str = "", **_: Any) -> None:
        call = f"{type(self).__name__}({intf})"
        intf.node.net.route_by({"proto": type(self).__name__, "proto_args": proto_args}, call)


aodv, babel, batman_adv, batmand, olsrd, olsrd2 = (
    type(name, (_Protocol,), {}) for name in ("aodv", "babel", "batman_adv", "batmand", "olsrd", "olsrd2")
)
