# SPDX-License-Identifier: BSD-3-Clause
"""Routing: how packets find their way over several hops.

Each kind is a file here with both halves of one routing. Its function `plan` works out on the host, when the plan is
made, what can be known before a run; its class `Routing` carries that out in the lane, or starts a protocol there.
docs/plugins/routing.md shows how to write one.

    def plan(reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options) -> list[Planned]

A kind that rests on kernel modules names them, `MODULES`, and recorders that write down what it does, `RECORDERS`.
`PUNCTUAL`: it learns from the link layer what is given up, and must at its time. `OVERHEARS`: it listens to frames for
others, too. `LINK` is the kind of link that it needs; `ANY_LINK`: it is also for wires and access points, not only for
stations that find each other. `SNAP` is how many bytes of a frame the trace is to keep at least, for what the routing
puts before TCP.

Where packets go over no more hops than so many, `farthest` says so of a node's part of the plan, and why. Where a hop
of the routing is none to IP, `TTL_FALLS` is False.

`plan` is pure, says for each node what it plans, and raises Unreachable where a demand has no path, unless it may be
`unreachable`. Nodes are known by their indices; `ips` are their addresses, and `options` those of the user.
"""

from __future__ import annotations

import errno

from emulation.lane.netlink import NetlinkError
from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

Reach = list[list[int]]  # whom each node can exchange frames with, sorted; symmetric
Metrics = dict[str, int]  # of a route: what it tells TCP
USUAL = {"quickack": 0, "initcwnd": 10, "rto_min": 200}  # what TCP does where no route tells it


class Demand:
    """A flow from a node to another, and what the routes between its ends tell TCP: `there` from the source, `back` to
    it. These are metrics of `emulation.lane.rtnetlink`: quickack, initcwnd, rto_min."""

    def __init__(self, source: int, destination: int, there: Metrics, back: Metrics) -> None:
        self.source, self.destination, self.there, self.back = source, destination, there, back


class Planned:
    """For one node: its `routing` in the plan, and the nodes that it must know before the network has started."""

    def __init__(self, node: dict[str, Any], neighbours: list[int]) -> None:
        self.node, self.neighbours = node, neighbours


class Unreachable(ValueError):
    """No path leads from node `at` to node `to`."""

    def __init__(self, at: int, to: int) -> None:
        super().__init__(f"no path leads from node {at} to node {to}")
        self.at, self.to = at, to


class Routing:
    """One routing in a lane; `plan` is the plan's `routing`, and each node has a part of its own: `node.plan`."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan

    def start(self, net: Network) -> None:
        """All links are there: let packets find their way; when this returns they do. Raises OSError."""

    def restore(self, node: Node) -> None:
        """An interface of this node was off, so that the kernel has forgotten its routes: enter them again."""

    def via(self, node: Node, to: Node) -> Node | None:
        """To whom a node hands what is for another, as its kernel has it now; None: it knows no way. For recorder
        `flow_routes`. Raises OSError."""
        raise NotImplementedError

    def counters(self) -> dict[str, Any]:
        """What each node has counted, by its name; empty where nobody does."""
        return {}

    def stop(self) -> None:
        """Leave nothing behind that does not go with the nodes, however far it came."""


def metrics(demands: list[Demand]) -> dict[tuple[int, int], Metrics]:
    """(at, to) -> what the route tells TCP, where it tells anything."""
    found: dict[tuple[int, int], Metrics] = {}
    for one in demands:
        for ends, told in (((one.source, one.destination), one.there), ((one.destination, one.source), one.back)):
            if told:
                found[ends] = found.get(ends, {}) | told
    return found


def metrics_of_nodes(ips: list[str], demands: list[Demand]) -> list[dict[str, Metrics]]:
    """The same for each node, by the address of the other."""
    found: list[dict[str, Metrics]] = [{} for _ in ips]
    for (at, to), told in metrics(demands).items():
        found[at][ips[to]] = told
    return found


def ends(reach: Reach, demands: list[Demand], unreachable: bool) -> list[list[int]]:
    """For each node, whom it must have found a way to before a run: the other ends of its flows, as far as a path leads
    there. Raises Unreachable where none does."""
    wanted: list[list[int]] = [[] for _ in reach]
    for one in demands:
        if one.destination in within(reach, one.source):
            wanted[one.source].append(one.destination)
            wanted[one.destination].append(one.source)
        elif not unreachable:
            raise Unreachable(one.source, one.destination)
    return [sorted(set(each)) for each in wanted]


def within(reach: Reach, at: int) -> set[int]:
    """Whom a node reaches, over however many hops; itself too."""
    found, front = {at}, [at]
    while front:
        front = list({near for node in front for near in reach[node]} - found)
        found.update(front)
    return found


def replace_radio(node: Node, index: int, mtu: int) -> None:
    """Another interface of a node stands for its radio from now on: it has its address and its qdisc. `mtu` is what the
    radio needs for that."""
    radio = node.radio
    node.route.set_link(radio.index, mtu=mtu)
    node.route.delete_address(radio.index, radio.plan["ip"])
    if radio.plan["qdisc"]:
        node.route.delete_qdisc(radio.index)
        radio.set_qdisc(radio.plan["qdisc"], index)


def add_metrics(node: Node, index: int, routes: dict[str, Metrics]) -> None:
    """Give a node routes that tell TCP this, where all are to be reached on this interface, as far as the kernel's
    routes know. Raises NetlinkError."""
    for to, told in routes.items():
        node.route.add_route(index, to, None, told)
        check_metrics(node, to, told)


def check_metrics(node: Node, to: str, told: Metrics) -> None:
    """Note what a route tells TCP. Raises NetlinkError if the kernel did not keep it."""
    kept = node.route.route_metrics(to) if told else {}
    for name, value in told.items():
        if kept.get(name) != value:
            said = f"{node.name}: route to {to}: {name} was set to {value}, but the kernel kept {kept.get(name)}"
            raise NetlinkError(errno.EINVAL, said)
        node.note(f"route {to} {name}", value, USUAL[name])


def numbers(routing: str, options: dict[str, Any], known: dict[str, tuple[int, int, int]]) -> dict[str, int]:
    """A routing's options, which are whole numbers: `known` has of each its default, least and most. Raises ValueError
    for another, or one that is none of these."""
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
    """The file of a routing, with both its halves. Raises ValueError, with those there are, if there is none."""
    return plugins.find(__name__, kind)
