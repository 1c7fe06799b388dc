# SPDX-License-Identifier: BSD-3-Clause
"""Routing: how packets find their way over several hops.

Each kind is a file in this package with two halves. Its function `plan` runs on the host when the plan is made, and
computes what is known before a run. Its class `Routing` runs in the lane, and installs routes or starts a protocol.
docs/plugins.md shows how to write one.

    def plan(reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options) -> list[Planned]

`plan` is a pure function. It returns a plan for each node, and raises Unreachable if a demand has no path, unless it is
`unreachable`. Nodes are indices; `ips` has their addresses, and `options` are the user's.

A kind can also define:

- `MODULES`: kernel modules that it needs.
- `RECORDERS`: recorders for it.
- `PUNCTUAL`: whether the link layer must report frames that are given up without delay.
- `OVERHEARS`: whether it receives frames addressed to other stations.
- `LINK`: the kind of link that it needs.
- `ANY_LINK`: whether it also works on wires and access points, not only between stations of an ad hoc network.
- `SNAP`: how many bytes of each frame the trace must keep, to include TCP after the routing's headers.
- `farthest`: a function that returns, for a node's part of the plan, the most hops a packet can take, and why.
- `TTL_FALLS`: False if a hop of this routing is not a hop of IP.
"""

from __future__ import annotations

import errno

from emulation.lane.clock import wait_until
from emulation.lane.netlink import NetlinkError
from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

Reach = list[list[int]]  # the nodes each node can exchange frames with, sorted; symmetric
Metrics = dict[str, int]  # of a route, for TCP
DEFAULT_METRICS = {"quickack": 0, "initcwnd": 10, "rto_min": 200}  # TCP's behaviour if no route has a metric


class Demand:
    """A flow between two nodes, and the metrics of its routes, for TCP: `there` from the source, `back` to it.

    Metrics are quickack, initcwnd and rto_min, as in `emulation.lane.rtnetlink`.
    """

    def __init__(self, source: int, destination: int, there: Metrics, back: Metrics) -> None:
        self.source, self.destination, self.there, self.back = source, destination, there, back


class Planned:
    """The result for one node: its `routing` in the plan, and the nodes that it must know before the network starts."""

    def __init__(self, node: dict[str, Any], neighbours: list[int]) -> None:
        self.node, self.neighbours = node, neighbours


class Unreachable(ValueError):
    """There is no path from node `at` to node `to`."""

    def __init__(self, at: int, to: int) -> None:
        super().__init__(f"no path leads from node {at} to node {to}")
        self.at, self.to = at, to


class Routing:
    """A routing in a lane. `plan` is the plan's `routing`; each node has its own part in `node.plan`."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan

    def start(self, net: Network) -> None:
        """Install routes, after all links have been joined; return when they work. Raises OSError."""

    def restore(self, node: Node) -> None:
        """Install a node's routes again, after an interface was down and the kernel has lost them."""

    def via(self, node: Node, to: Node) -> Node | None:
        """Return a node's next hop to another, from its kernel's current routes; None: there is no route. The recorder
        `flow_routes` uses it. Raises OSError."""
        raise NotImplementedError

    def counters(self) -> dict[str, Any]:
        """Return each node's counters by name; empty if there are none."""
        return {}

    def stop(self) -> None:
        """Clean up what does not disappear with the nodes, even after a partial start."""


def routers(net: Network) -> list[Node]:
    """Return the nodes with a radio among peers: a routing of radios ignores wires, access points and their clients."""
    return [node for node in net.nodes.values() if node.on_air and not node.radio.plan.get("beside")]


def wait_for_routes(net: Network, program: str, missing: Callable[[Node], list[str]], seconds: float) -> None:
    """Wait until no node misses routes to these addresses. Raises NetlinkError (ENETUNREACH) after `seconds`."""
    waiting = routers(net)

    def complete() -> bool:
        while waiting and not missing(waiting[0]):
            del waiting[0]
        return not waiting

    if not wait_until(complete, seconds):
        node, ips = waiting[0], ", ".join(missing(waiting[0]))
        raise NetlinkError(errno.ENETUNREACH, f"{node.name}: {program} has no route to {ips} after {seconds:g} s")


def metrics(demands: list[Demand]) -> dict[tuple[int, int], Metrics]:
    """Return (at, to) -> metrics, for routes that have any."""
    found: dict[tuple[int, int], Metrics] = {}
    for demand in demands:
        for ends, values in (
            ((demand.source, demand.destination), demand.there),
            ((demand.destination, demand.source), demand.back),
        ):
            if values:
                found[ends] = found.get(ends, {}) | values
    return found


def metrics_of_nodes(ips: list[str], demands: list[Demand]) -> list[dict[str, Metrics]]:
    """Return the metrics of each node's routes, by the destination's address."""
    found: list[dict[str, Metrics]] = [{} for _ in ips]
    for (at, to), values in metrics(demands).items():
        found[at][ips[to]] = values
    return found


def ends(reach: Reach, demands: list[Demand], unreachable: bool) -> list[list[int]]:
    """Return for each node the other ends of its flows, to which it must have routes before a run. Skip ends without a
    path if they may be `unreachable`; otherwise raises Unreachable."""
    wanted: list[list[int]] = [[] for _ in reach]
    for demand in demands:
        if demand.destination in reachable(reach, demand.source):
            wanted[demand.source].append(demand.destination)
            wanted[demand.destination].append(demand.source)
        elif not unreachable:
            raise Unreachable(demand.source, demand.destination)
    return [sorted(set(each)) for each in wanted]


def reachable(reach: Reach, at: int) -> set[int]:
    """Return the nodes that have a path to a node, including itself."""
    found, front = {at}, [at]
    while front:
        front = list({near for node in front for near in reach[node]} - found)
        found.update(front)
    return found


def replace_radio(node: Node, index: int, mtu: int) -> None:
    """Move the address and the qdisc of a node's radio to another interface. `mtu` is the radio's new MTU."""
    radio = node.radio
    node.route.set_link(radio.index, mtu=mtu)
    node.route.delete_address(radio.index, radio.plan["ip"])
    if radio.plan["qdisc"]:
        node.route.delete_qdisc(radio.index)
        radio.set_qdisc(radio.plan["qdisc"], index)


def add_metrics(node: Node, index: int, routes: dict[str, Metrics]) -> None:
    """Add routes with metrics for TCP on an interface that reaches all destinations directly. Raises NetlinkError."""
    for to, values in routes.items():
        node.route.add_route(index, to, None, values)
        check_metrics(node, to, values)


def check_metrics(node: Node, to: str, metrics: Metrics) -> None:
    """Note the metrics of a route. Raises NetlinkError if the kernel did not keep one."""
    kept = node.route.route_metrics(to) if metrics else {}
    for name, value in metrics.items():
        if kept.get(name) != value:
            message = f"{node.name}: route to {to}: {name} was set to {value}, but the kernel kept {kept.get(name)}"
            raise NetlinkError(errno.EINVAL, message)
        node.note(f"route {to} {name}", value, DEFAULT_METRICS[name])


def numbers(routing: str, options: dict[str, Any], known: dict[str, tuple[int, int, int]]) -> dict[str, int]:
    """Return a routing's options, which are whole numbers; `known` has the default, least and most of each. Raises
    ValueError if an option is unknown or out of range."""
    chosen = {name: default for name, (default, _, _) in known.items()}
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"{routing}: there is no option {name!r}; there are: {', '.join(known)}")
        _, least, most = known[name]
        if not str(value).isdecimal() or not least <= int(value) <= most:
            raise ValueError(f"{routing}: {name} must be a whole number from {least} to {most}, not {value!r}")
        chosen[name] = int(value)
    return chosen


def find(kind: str) -> ModuleType:
    """Return the module of a routing. Raises ValueError, naming those that exist, if there is none."""
    return plugins.find(__name__, kind)
