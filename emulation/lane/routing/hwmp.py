# SPDX-License-Identifier: BSD-3-Clause
"""HWMP, the path selection of 802.11s (IEEE 802.11-2016, 14.10): what the kernel does in a link of kind `mesh`.

To IP the whole mesh is one link: a station finds another by ARP, and a path to it when it first has a frame for it. So
there is nothing to enter but the protocol's parameters, and docs/routing.md has those.
"""

from __future__ import annotations

import errno

from emulation.lane import routing
from emulation.lane.netlink import NetlinkError, number, parse
from emulation.lane.routing import Demand, Planned, Reach
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

LINK, RECORDERS = "mesh", ("flow_routes",)
TTL_FALLS, FARTHEST = False, 31  # dot11MeshTTL (net/wireless/mesh.c)
# The kernel's defaults, in time units of 1,024 us (net/wireless/mesh.c); and what its attributes allow.
OPTIONS = {
    "active_path_timeout_tu": (5000, 1, 65_535),
    "preq_min_interval_tu": (10, 1, 65_535),
    "preq_retries": (4, 0, 255),
    "root_mode": (0, 0, 4),
}
GET_MESH_CONFIG, SET_MESH_CONFIG, MESH_CONFIG = 28, 29, 35  # include/uapi/linux/nl80211.h
GET_PATH, MAC, NEXT_HOP, PATH_INFO, PATH_FLAGS, ACTIVE = 21, 6, 26, 27, 5, 1
NO_PATH = (errno.ENOENT, errno.ENOTCONN, errno.ENETDOWN)
ATTRIBUTES = {  # NL80211_MESHCONF_HWMP_*, and how many bytes they have
    "active_path_timeout_tu": (11, 4),
    "preq_min_interval_tu": (12, 2),
    "preq_retries": (8, 1),
    "root_mode": (14, 1),
}


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """For each node its options; it peers with all that it hears before anything else begins. Raises ValueError,
    Unreachable."""
    chosen = routing.numbers("hwmp", options, OPTIONS)
    routing.ends(reach, demands, unreachable)
    told = routing.metrics_of_nodes(ips, demands)
    return [Planned({**chosen, "tcp": each}, list(near)) for each, near in zip(told, reach, strict=True)]


def farthest(part: dict[str, Any]) -> tuple[int, str]:
    """Over how many hops a frame goes at most, and why."""
    return FARTHEST, "the mesh's own TTL in Linux"


class Routing(routing.Routing):
    """The kernel's, with its parameters."""

    def start(self, net: Network) -> None:
        self.nodes = {hardware_address(node.MAC()): node for node in net.nodes.values()}
        for node in net.nodes.values():
            radio, chosen = node.radio, node.plan["routing"]
            values = [(kind, chosen[name].to_bytes(size, "little")) for name, (kind, size) in ATTRIBUTES.items()]
            radio.tune(SET_MESH_CONFIG, (MESH_CONFIG, values), what="HWMP")
            kept = parse(radio.tune(GET_MESH_CONFIG, what="HWMP")[0][MESH_CONFIG])
            for name, (kind, _) in ATTRIBUTES.items():
                node.note(f"hwmp {name}", number(kept[kind]), OPTIONS[name][0])
            self.restore(node)

    def restore(self, node: Node) -> None:
        routing.add_metrics(node, node.radio.index, node.plan["routing"]["tcp"])

    def via(self, node: Node, to: Node) -> Node | None:
        """By the mesh path. The kernel forgets one that has expired when it is asked for it, as when it has a frame."""
        try:
            path = node.radio.tune(GET_PATH, (MAC, hardware_address(to.MAC())), what="mesh path")[0]
        except NetlinkError as error:
            if error.errno not in NO_PATH:
                raise
            return None
        active = number(parse(path[PATH_INFO])[PATH_FLAGS]) & ACTIVE
        return self.nodes.get(path[NEXT_HOP]) if active else None
