# SPDX-License-Identifier: BSD-3-Clause
"""batman-adv, the kernel's multihop routing of Ethernet frames (net/batman-adv).

A node's radio gives its address to an interface bat0 above it. To IP, all bat0 are on one Ethernet: each node is a
neighbour, and TTL does not fall. Packets for other nodes are encapsulated in batman-adv's own packets, ethertype
0x4305, which need 32 bytes more of the radio's MTU.

batman-adv's timers count ticks, and the nodes of one kernel share them. Timers more than 640 ms ahead expire only at
every eighth tick. So all nodes would send their OGMs at the same time, again and again, and all would collide. A netem
on the radio delays them by 0 to 20 ms at random. The ends of flows are entered as neighbours; ARP finds others.
"""

from __future__ import annotations

import errno
import struct
import time

from emulation.lane import netem, routing
from emulation.lane.netlink import DUMP, Generic, NetlinkError
from emulation.lane.routing import Demand, Planned, Reach
from emulation.lane.rtnetlink import hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

NAME, KIND, OVERHEAD, MTU = "bat0", "batadv", 32, 1500
ALGORITHMS = ("BATMAN_IV", "BATMAN_V")
RECORDERS = ("flow_routes",)
FAMILY, TRANSLATIONS, ORIGINATORS, SET_MESH = "batadv", 7, 8, 15  # include/uapi/linux/batman_adv.h
ORIGINATOR, BEST, NEIGHBOUR = 9, 22, 24
ALGO_NAME, MESH_IFINDEX, TT_ADDRESS, HOP_PENALTY, ORIG_INTERVAL = 1, 3, 16, 53, 57
OPTIONS = {"interval_ms": (1000, 40, 60_000), "hop_penalty": (30, 0, 255)}  # the kernel's defaults and limits
JITTER_NS = 20_000_000  # batman-adv's own jitter (BATADV_JITTER)
CONTROL, BANDS, HANDLE = 7, 2, 1 << 16  # TC_PRIO_CONTROL: batman-adv's own packets have this priority
TTL_FALLS, FARTHEST = False, 50  # BATADV_TTL
CONVERGENCE_S = 60.0  # timeout for all routes, in lane time


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Return each node's options, and the nodes it must know before the run. Raises ValueError or Unreachable."""
    algorithm = options.pop("algorithm", ALGORITHMS[0])
    if algorithm not in ALGORITHMS:
        raise ValueError(f"batman-adv: there is no algorithm {algorithm!r}; there are: {', '.join(ALGORITHMS)}")
    chosen = {"algorithm": algorithm, **routing.numbers("batman-adv", options, OPTIONS)}
    wanted = routing.ends(reach, demands, unreachable)
    return [
        Planned({**chosen, "tcp": metrics, "wanted": [ips[to] for to in wanted[at]]}, [])
        for at, metrics in enumerate(routing.metrics_of_nodes(ips, demands))
    ]


def farthest(part: dict[str, Any]) -> tuple[int, str]:
    """Return the most hops a packet can take, and why."""
    return FARTHEST, "batman-adv's own TTL"


def address(radio: str) -> bytes:
    """Return the address of a node's bat0, derived from its radio's."""
    return b"\x06" + hardware_address(radio)[1:]


class Routing(routing.Routing):
    """bat0 on each node."""

    def start(self, net: Network) -> None:
        self.netlink_sockets: list[Generic] = []
        self.at_ns, self.tables = 0, dict[str, dict[bytes, bytes]]()
        routers = routing.routers(net)
        self.nodes = {hardware_address(node.MAC()): node for node in routers}
        for node in routers:
            self.join(node)
        self.socket_of = {node.name: made for node, made in zip(routers, self.netlink_sockets, strict=True)}
        macs = {node.IP(): address(node.MAC()) for node in routers}
        for node in routers:
            index = node.route.index(NAME)
            for ip in node.plan["routing"]["wanted"]:
                node.route.add_neighbour(index, ip, macs[ip])
            routing.add_metrics(node, index, node.plan["routing"]["tcp"])

        def missing(node: Node) -> list[str]:
            known = known_addresses(self.socket_of[node.name], node)
            return [ip for ip in node.plan["routing"]["wanted"] if macs[ip] not in known]

        routing.wait_for_routes(net, "batman-adv", missing, CONVERGENCE_S)

    def join(self, node: Node) -> None:
        """Make a node's bat0, and let it replace the radio."""
        radio, chosen, route = node.radio, node.plan["routing"], node.route
        try:
            route.new_link(NAME, KIND, None, [(ALGO_NAME, chosen["algorithm"])])
        except NetlinkError as error:
            if error.errno == errno.EOPNOTSUPP:
                message = "this kernel has no batman-adv (CONFIG_BATMAN_ADV)"
                raise NetlinkError(error.errno, f"{node.name}: {message}") from None
            raise
        index = route.index(NAME)
        with node:
            netlink = Generic()
        self.netlink_sockets.append(netlink)
        for attribute, value in ((ORIG_INTERVAL, chosen["interval_ms"]), (HOP_PENALTY, bytes([chosen["hop_penalty"]]))):
            netlink.command(FAMILY, SET_MESH, [(MESH_IFINDEX, index), (attribute, value)], what=f"{node.name}: {NAME}")
        for name in ("algorithm", *OPTIONS):
            node.note(f"batman-adv {name}", chosen[name], None)
        routing.replace_radio(node, index, MTU + OVERHEAD)
        route.set_link(index, address=address(node.MAC()))
        route.set_link(radio.index, master=index)
        route.set_link(index, up=True)
        route.add_address(index, radio.plan["ip"])
        add_jitter(node)

    def via(self, node: Node, to: Node) -> Node | None:
        """Look up the originator's best neighbour. Each node's table is read once per instant."""
        if self.at_ns != (now := time.monotonic_ns()):
            self.at_ns, self.tables = now, {}
        if node.name not in self.tables:
            self.tables[node.name] = originators(self.socket_of[node.name], node)
        return self.nodes.get(self.tables[node.name].get(hardware_address(to.MAC()), b""))

    def stop(self) -> None:
        for netlink in getattr(self, "netlink_sockets", []):
            netlink.close()


def add_jitter(node: Node) -> None:
    """Delay batman-adv's own packets by up to JITTER_NS; other packets are not delayed."""
    bands = struct.pack("=i16B", BANDS, *(priority == CONTROL for priority in range(16)))
    node.route.replace_qdisc(node.radio.index, "prio", bands, handle=HANDLE)
    mean = JITTER_NS // 2  # ± the same
    waits = netem.pack({"latency_ns": mean, "jitter_ns": mean})
    node.route.replace_qdisc(node.radio.index, "netem", waits, parent=HANDLE | 2)


def known_addresses(netlink: Generic, node: Node) -> set[bytes]:
    """Return the hardware addresses to which batman-adv has a route."""
    mesh = [(MESH_IFINDEX, node.route.index(NAME))]
    return {each[TT_ADDRESS] for each in netlink.command(FAMILY, TRANSLATIONS, mesh, DUMP) if TT_ADDRESS in each}


def originators(netlink: Generic, node: Node) -> dict[bytes, bytes]:
    """Return the best next hop to each originator that batman-adv knows, as hardware addresses."""
    mesh = [(MESH_IFINDEX, node.route.index(NAME))]
    try:
        found = netlink.command(FAMILY, ORIGINATORS, mesh, DUMP, what=f"{node.name}: originators")
    except NetlinkError as error:
        if error.errno != errno.ENOENT:  # the radio is off
            raise
        return {}
    return {each[ORIGINATOR]: each[NEIGHBOUR] for each in found if BEST in each}
