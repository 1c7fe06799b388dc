# SPDX-License-Identifier: BSD-3-Clause
"""HWMP, the path selection of 802.11s (IEEE 802.11-2016, 14.10), by the kernel, on a link of kind `mesh`.

To IP the whole mesh is one link. A station finds another by ARP, and searches for a path when it has a frame for it. So
this only sets the protocol's parameters. A full queue does not break a link.
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
# The kernel's defaults, in time units of 1,024 µs (net/wireless/mesh.c), and the limits of its attributes.
OPTIONS = {
    "active_path_timeout_tu": (5000, 1, 65_535),
    "preq_min_interval_tu": (10, 1, 65_535),
    "preq_retries": (4, 0, 255),
    "root_mode": (0, 0, 4),
}
GET_MESH_CONFIG, SET_MESH_CONFIG, MESH_CONFIG = 28, 29, 35  # include/uapi/linux/nl80211.h
GET_PATH, MAC, NEXT_HOP, PATH_INFO, PATH_FLAGS, ACTIVE = 21, 6, 26, 27, 5, 1
NO_PATH = (errno.ENOENT, errno.ENOTCONN, errno.ENETDOWN)
ATTRIBUTES = {  # NL80211_MESHCONF_HWMP_*, and their sizes in bytes
    "active_path_timeout_tu": (11, 4),
    "preq_min_interval_tu": (12, 2),
    "preq_retries": (8, 1),
    "root_mode": (14, 1),
}


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Return each node's options. It peers with all nodes in range before the run. Raises ValueError or Unreachable."""
    chosen = routing.numbers("hwmp", options, OPTIONS)
    routing.ends(reach, demands, unreachable)
    metrics = routing.metrics_of_nodes(ips, demands)
    return [Planned({**chosen, "tcp": each}, list(near)) for each, near in zip(metrics, reach, strict=True)]


def farthest(part: dict[str, Any]) -> tuple[int, str]:
    """Return the most hops a frame can take, and why."""
    return FARTHEST, "the mesh's own TTL in Linux"


class Routing(routing.Routing):
    """The kernel's HWMP, with its parameters."""

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
        """Look up the mesh path. The kernel deletes an expired path when asked, as it does when it sends a frame."""
        try:
            path = node.radio.tune(GET_PATH, (MAC, hardware_address(to.MAC())), what="mesh path")[0]
        except NetlinkError as error:
            if error.errno not in NO_PATH:
                raise
            return None
        active = number(parse(path[PATH_INFO])[PATH_FLAGS]) & ACTIVE
        return self.nodes.get(path[NEXT_HOP]) if active else None
