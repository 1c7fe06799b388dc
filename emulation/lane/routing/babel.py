# SPDX-License-Identifier: BSD-3-Clause
"""Babel (RFC 8966): the distribution's babeld runs in each node's namespace as long as the network exists.

babeld uses IPv6 link-local addresses. A node's radio has one, without duplicate address detection and router
solicitations. A node's IPv4 address has a prefix length of 32, so that the kernel sends no ARP requests for nodes
without a route; ARP finds next hops. It needs `--ack delayed`, as babeld's routes cannot ask for an ACK for each
segment.
"""

from __future__ import annotations

import errno
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
# babeld's defaults for wireless interfaces, which are those of RFC 8966, appendix B.
OPTIONS = {
    "hello_interval_ms": (4000, 10, 600_000),
    "update_interval_ms": (16_000, 10, 600_000),
    "rxcost": (256, 1, 65_534),
    "half_time_s": (4, 0, 3600),
}
IPV6 = {"disable_ipv6": "0", "accept_dad": "0", "router_solicitations": "0"}
CONVERGENCE_S = 120.0  # timeout for all routes, in lane time


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Return babeld's options for each node, and routes it needs before a run. Raises ValueError or Unreachable."""
    chosen = routing.numbers("babel", options, OPTIONS)
    if names := sorted({name for one in demands for name in (*one.there, *one.back)}):
        raise ValueError(
            f"babel: babeld makes the routes, so they cannot set TCP's {', '.join(names)}: add --ack delayed, "
            "and leave out initial_window and rto_min_ms"
        )
    wanted = routing.ends(reach, demands, unreachable)
    return [Planned({**chosen, "wanted": [ips[to] for to in each]}, []) for each in wanted]


class Routing(routing.Routing):
    """A babeld on each node."""

    def start(self, net: Network) -> None:
        program = find(PROGRAM)
        self.nodes = {node.IP(): node for node in routing.routers(net)}
        running = {node.name: start_babeld(program, node) for node in routing.routers(net)}

        def missing(node: Node) -> list[str]:
            running[node.name].check()
            return [ip for ip in node.plan["routing"]["wanted"] if not has_route(node, ip)]

        routing.wait_for_routes(net, PROGRAM, missing, CONVERGENCE_S)

    def via(self, node: Node, to: Node) -> Node | None:
        """Look up the kernel's route, which babeld maintains."""
        try:
            return self.nodes.get(node.route.gateway(to.IP()))
        except NetlinkError as error:
            if error.errno != errno.ENETUNREACH:
                raise
            return None


def start_babeld(program: str, node: Node) -> Daemon:
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
    # Forwarding is set already. A state file of its own keeps the run independent of earlier ones.
    files = ["-S", f"/run/{PROGRAM}-{node.name}.state", "-I", "", "-L", log(node)]
    own = ["-C", f"router-id {node.MAC()}", "-C", "skip-kernel-setup true"]
    settings = [*own, "-M", str(chosen["half_time_s"]), "-C", interface]
    command = [program, *files, *settings, radio.name]
    return node.start_daemon(command, partial(last_line, log(node)))


def log(node: Node) -> str:
    return f"/run/{PROGRAM}-{node.name}.log"


def has_route(node: Node, ip: str) -> bool:
    try:
        node.route.route_metrics(ip)
    except NetlinkError as error:
        if error.errno != errno.ENETUNREACH:
            raise
        return False
    return True
