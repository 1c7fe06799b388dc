# SPDX-License-Identifier: BSD-3-Clause
"""Babel (RFC 8966), as the distribution's babeld speaks it: a program in each node's namespace, for as long as the
network is there.

Its packets go between link-local addresses of IPv6, which a node's radio has for that, without duplicate address
detection and router solicitations. A node's own address is a network by itself, so that nobody is looked for by ARP to
whom Babel knows no way. docs/routing.md has the options.
"""

from __future__ import annotations

import errno
import select
import time
from functools import partial

from emulation.lane import routing
from emulation.lane.netlink import NetlinkError
from emulation.lane.node import set_file
from emulation.lane.programs import Daemon, find, last_line
from emulation.lane.routing import Demand, Planned, Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

RECORDERS = ("flow_routes",)
PROGRAM = "babeld"
# babeld's defaults for wireless interfaces; RFC 8966, appendix B, has the same.
OPTIONS = {
    "hello_interval_ms": (4000, 10, 600_000),
    "update_interval_ms": (16_000, 10, 600_000),
    "rxcost": (256, 1, 65_534),
    "half_time_s": (4, 0, 3600),
}
IPV6 = {"disable_ipv6": "0", "accept_dad": "0", "router_solicitations": "0"}
LEARNING_S, LOOK_S = 120.0, 0.01  # for all to know all, in the lane's time; how often it is looked whether they do


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """For each node babeld's options, and to whom it must know a way before anything else begins. Raises ValueError,
    Unreachable."""
    chosen = routing.numbers("babel", options, OPTIONS)
    if told := sorted({name for one in demands for name in (*one.there, *one.back)}):
        raise ValueError(
            f"babel: the routes are babeld's, and cannot tell TCP {', '.join(told)}: add --ack delayed, and leave out "
            "initial_window and rto_min_ms"
        )
    wanted = routing.ends(reach, demands, unreachable)
    return [Planned({**chosen, "wanted": [ips[to] for to in each]}, []) for each in wanted]


class Routing(routing.Routing):
    """A babeld for each node."""

    def start(self, net: Network) -> None:
        program = find(PROGRAM)
        self.nodes = {node.IP(): node for node in net.nodes.values()}
        running = {node.name: begin(program, node) for node in net.nodes.values()}
        deadline = time.monotonic() + LEARNING_S
        for node in net.nodes.values():
            while missing := [ip for ip in node.plan["routing"]["wanted"] if not has_route(node, ip)]:
                running[node.name].check()
                if time.monotonic() > deadline:
                    unknown = f"{node.name}: {PROGRAM} knows no way to {', '.join(missing)} after {LEARNING_S:g} s"
                    raise NetlinkError(errno.ENETUNREACH, unknown)
                select.select([], [], [], LOOK_S)

    def via(self, node: Node, to: Node) -> Node | None:
        """By the kernel's route, which babeld keeps."""
        try:
            return self.nodes.get(node.route.gateway(to.IP()))
        except NetlinkError as error:
            if error.errno != errno.ENETUNREACH:
                raise
            return None


def begin(program: str, node: Node) -> Daemon:
    """Give a node's radio what Babel needs of it, and start babeld."""
    radio, chosen = node.radio, node.plan["routing"]
    node.route.delete_address(radio.index, radio.plan["ip"])
    node.route.add_address(radio.index, node.IP())
    with node:
        for name, value in sorted(IPV6.items()):
            path = f"/proc/sys/net/ipv6/conf/{radio.name}/{name}"
            node.settings.append(set_file(node.name, f"net.ipv6.conf.{radio.name}.{name}", path, value))
    for name, (default, _, _) in OPTIONS.items():
        node.note(f"babel {name}", chosen[name], default)
    interface = (
        f"interface {radio.name} type wireless rxcost {chosen['rxcost']}"
        f" hello-interval {chosen['hello_interval_ms'] / 1000:g}"
        f" update-interval {chosen['update_interval_ms'] / 1000:g}"
    )
    # Forwarding is set already, and a state of the past would make a run depend on another.
    files = ["-S", f"/run/{PROGRAM}-{node.name}.state", "-I", "", "-L", log(node)]
    own = ["-C", f"router-id {node.MAC()}", "-C", "skip-kernel-setup true"]
    settings = [*own, "-M", str(chosen["half_time_s"]), "-C", interface]
    command = [program, *files, *settings, radio.name]
    return node.keep(command, partial(last_line, log(node)))


def log(node: Node) -> str:
    return f"/run/{PROGRAM}-{node.name}.log"


def has_route(node: Node, ip: str) -> bool:
    """Whether the kernel knows a way to an address."""
    try:
        node.route.route_metrics(ip)
    except NetlinkError as error:
        if error.errno != errno.ENETUNREACH:
            raise
        return False
    return True
