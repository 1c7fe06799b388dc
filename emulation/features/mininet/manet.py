# SPDX-License-Identifier: BSD-3-Clause
"""Routing protocols by `mn_wifi.manetRoutingProtocols`, instead of `proto=` of a link."""

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
