# SPDX-License-Identifier: BSD-3-Clause
"""How many hops a packet may take: the TTL that nodes send with, where the kernel's own is too little for the network,
and flows over more hops than any packet takes.

IPv4's TTL has eight bits (RFC 791), so no packet goes further than 255 hops, and a routing may have a limit besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from emulation.lane.errors import Misuse
from emulation.lane.routing import Demand, Reach, within
from emulation.lane.routing.static import hops_to

VARIABLE = "net.ipv4.ip_default_ttl"
USUAL, MOST = 64, 255  # include/net/ip.h: IPDEFTTL; RFC 791, 3.1


def plan_lifetime(nodes: Sequence[dict[str, Any]], far: int, found: ModuleType) -> None:
    """Let nodes send with a TTL that is enough for the ways that this routing finds, detours included; `far` is their
    `bound`."""
    if getattr(found, "TTL_FALLS", True) and far > USUAL:
        for node in nodes:
            node["sysctl"][VARIABLE] = str(MOST)


def bound(nodes: Sequence[dict[str, Any]], reach: Reach) -> int:
    """No less than the hops between any two nodes: in each part of the network twice those from one of its nodes to the
    farthest; and no less than those of any planned route."""
    most = max((route["metric"] for node in nodes for route in node["routing"].get("routes", ())), default=0)
    left = set(range(len(reach)))
    while left:
        one = min(left)
        most = max(most, 2 * max(hops_to(one, reach)))
        left -= within(reach, one)
    return most


def check_hops(
    nodes: Sequence[dict[str, Any]], reach: Reach, far: int, demands: Sequence[Demand], found: ModuleType
) -> None:
    """Raises Misuse for a flow over more hops than its packets take; `far` is their `bound`."""
    for one in demands:
        most, why = MOST, "IPv4's largest TTL"
        if hasattr(found, "farthest"):
            most, why = min((most, why), found.farthest(nodes[one.source]["routing"]))
        if far > most and (hops := hops_to(one.destination, reach)[one.source]) > most:
            names = f"{nodes[one.source]['name']} to {nodes[one.destination]['name']}"
            said = f"from {names} it is {hops} hops, and packets take no more than {most}, {why}"
            raise Misuse(f"{said}; set unreachable to run all the same")
