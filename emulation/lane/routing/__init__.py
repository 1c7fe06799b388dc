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

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

Reach = list[list[int]]  # whom each node can exchange frames with, sorted; symmetric


class Demand:
    """A flow from a node to another. `prompt`: its receiver acknowledges each segment at once (quickack)."""

    def __init__(self, source: int, destination: int, prompt: bool) -> None:
        self.source, self.destination, self.prompt = source, destination, prompt


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


def prompted(ips: list[str], demands: list[Demand]) -> list[list[str]]:
    """For each node, the addresses of those whose segments it acknowledges at once, each once."""
    found = [(one.destination, ips[one.source]) for one in demands if one.prompt]
    return [list(dict.fromkeys(source for at, source in found if at == node)) for node in range(len(ips))]


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


def acknowledge_at_once(node: Node, index: int, sources: list[str]) -> None:
    """Let a node do so, where all are to be reached on this interface, as far as the kernel's routes know."""
    for source in sources:
        node.route.add_route(index, source, None, {"quickack": 1})
        node.note(f"route {source} quickack", node.route.route_metrics(source)["quickack"], 0)


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
