# SPDX-License-Identifier: BSD-3-Clause
"""Hop limits: the TTL of packets, and flows with more hops than a packet can take.

Nodes get a larger TTL if the kernel's default is too small for the network. IPv4's TTL has eight bits (RFC 791), so no
packet takes more than 255 hops; a routing may have a lower limit.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from emulation.lane.errors import Misuse
from emulation.lane.routing import Demand, Reach, reachable
from emulation.lane.routing.static import hops_to
from topologies.files import ask, is_a

VARIABLE = "net.ipv4.ip_default_ttl"
USUAL, MOST = 64, 255  # include/net/ip.h: IPDEFTTL; RFC 791, 3.1


def plan_lifetime(nodes: Sequence[dict[str, Any]], most_hops: int, found: ModuleType) -> None:
    """Set the nodes' TTL so that it suffices for this routing's routes, with detours: `most_hops` (`hop_bound`)."""
    if getattr(found, "TTL_FALLS", True) and most_hops > USUAL:
        for node in nodes:
            node["sysctl"][VARIABLE] = str(MOST)


def hop_bound(nodes: Sequence[dict[str, Any]], reach: Reach) -> int:
    """Return an upper bound of the hops between any two nodes, and of those of any planned route. It is twice the
    largest hop count from one node of each connected part."""
    most = max((route["metric"] for node in nodes for route in node["routing"].get("routes", ())), default=0)
    left = set(range(len(reach)))
    while left:
        one = min(left)
        most = max(most, 2 * max(hops_to(one, reach)))
        left -= reachable(reach, one)
    return most


def check_hops(
    nodes: Sequence[dict[str, Any]], reach: Reach, most_hops: int, demands: Sequence[Demand], found: ModuleType
) -> None:
    """Check the hop count of each flow; `most_hops` is their `hop_bound`. Raises Misuse if it is too large."""
    for one in demands:
        most, why = MOST, "IPv4's largest TTL"
        if hasattr(found, "farthest"):
            most, why = min((most, why), ask(found.farthest, is_a(tuple), nodes[one.source]["routing"]))
        if most_hops > most and (hops := hops_to(one.destination, reach)[one.source]) > most:
            names = f"{nodes[one.source]['name']} to {nodes[one.destination]['name']}"
            said = f"from {names} it is {hops} hops, and packets take no more than {most}, {why}"
            raise Misuse(f"{said}; use --unreachable to run it anyway")
