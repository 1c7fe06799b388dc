# SPDX-License-Identifier: BSD-3-Clause
"""The routing of a plan: the chosen routing plans its part from which nodes can exchange frames."""

import itertools
import reprlib
from collections.abc import Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from emulation.lane import routing
from emulation.lane.errors import Misuse
from emulation.lane.routing import Demand, Planned, Unreachable
from emulation.plan.air import mean_dbm
from emulation.plan.checks import find_kind
from emulation.plan.lifetime import check_hops, hop_bound, plan_lifetime
from emulation.plan.nodes import ip, link_class
from emulation.specification import Specification, propagation
from topologies import Network
from topologies.files import ask, is_a
from topologies.network import WITH_RADIO

ROUTE_METRICS = {"initial_window": "initcwnd", "rto_min_ms": "rto_min"}  # for TCP, by option


class Hop(NamedTuple):
    """How a node reaches a neighbour: the numbers of its own interface and of the neighbour's."""

    at: int
    to: int


def plan_routing(
    specification: Specification, network: Network, links: list[dict[str, Any]], nodes: list[dict[str, Any]],
    reached: NDArray[np.bool_],
) -> tuple[ModuleType, dict[str, Any]]:  # fmt: skip
    """Plan each node's routing and its interfaces' neighbours. Return the routing's module and the plan's `routing`.

    `reached` has which radios receive each other. Neighbours are those of them on one link, the ends of a wire, and
    nodes with only bridges between them. Nodes also get the TTL that they need. Raises Misuse if there is no such
    routing, or if a flow has no path, or one with too many hops.
    """
    chosen, names = specification.network, list(network.nodes)
    index = {name: i for i, name in enumerate(names)}
    transport = specification.transport
    metrics = {name: value for option, name in ROUTE_METRICS.items() if (value := getattr(transport, option))}
    back = metrics | {"quickack": 1} if transport.ack == "plain" else metrics
    demands = [Demand(index[one.source], index[one.destination], metrics, back) for one in network.applications]
    kinds = {link["name"]: link["kind"] for link in links}
    options = dict(chosen.routing)
    kind = options.pop("kind")
    found = find_kind(routing, kind)
    if "path" in options and getattr(found, "TAKES_PATHS", False):
        options["path"] = _paths(str(options["path"]), index)
    if (needed := getattr(found, "LINK", None)) and (other := set(kinds.values()) - {needed}):
        raise Misuse(f"routing {kind} is for links of kind {needed}, not {', '.join(sorted(other))}: --link {needed}")
    bridged = sorted({other for other in kinds.values() if not _of_peers(other)})
    alone = bool(bridged) and not getattr(found, "ANY_LINK", False)  # it routes among peers only, beside other links
    if alone and len(bridged) == len(set(kinds.values())):
        raise Misuse(f"routing {kind} is for stations that find each other, not for links of kind {bridged[0]}")
    for one in network.applications:
        for end in (one.source, one.destination):
            if nodes[index[end]]["bridge"]:
                raise Misuse(f"flow {one.source} -> {one.destination}: {end} is a bridge, and has no address")
    direct = everywhere = on_one_link(nodes, kinds, reached)
    if alone:
        direct = [
            {to: hop for to, hop in near.items() if kinds[node["interfaces"][hop.at]["link"]] not in bridged}
            for node, near in zip(nodes, direct, strict=True)
        ]
        for each in nodes:
            for interface in each["interfaces"]:
                if interface["kind"] == "radio" and (each["bridge"] or kinds[interface["link"]] in bridged):
                    interface["beside"] = True
    hops = [{} if node["bridge"] else _neighbours(i, nodes, direct) for i, node in enumerate(nodes)]
    reach = [sorted(near) for near in hops]
    for i, node in enumerate(nodes):
        for interface in node["interfaces"]:
            if "aps" in interface:
                interface["aps"] = [names[near] for near in sorted(everywhere[i]) if nodes[near]["kind"] == "ap"]
    ips = [ip(i) for i in range(len(names))]
    try:
        planned = ask(found.plan, partial(_not_planned, hops), reach, ips, demands, chosen.unreachable, **options)
    except Unreachable as lost:
        raise Misuse(_no_path(specification, network, nodes, lost.at, direct, names[lost.to])) from None
    except ValueError as error:  # an unknown option
        raise Misuse(f"routing: {error}") from None
    for i, (node, part) in enumerate(zip(nodes, planned, strict=True)):
        node["routing"] = part.node
        for near in part.neighbours:
            hop = hops[i][near]
            node["interfaces"][hop.at]["neighbours"][ip(near)] = nodes[near]["interfaces"][hop.to]["address"]
    far = hop_bound(nodes, reach)
    if not chosen.unreachable:
        check_hops(nodes, reach, far, demands, found)
    plan_lifetime(nodes, far, found)
    return found, {"kind": kind}


def _not_planned(hops: list[dict[int, Hop]], planned: Any) -> str:
    """Say what is wrong with a routing's plan of nodes with these neighbours; empty if nothing is."""
    if not isinstance(planned, list) or len(planned) != len(hops):
        return f"is not a list with a Planned for each of {len(hops)} nodes, but {reprlib.repr(planned)}"
    for near, each in zip(hops, planned, strict=True):
        if said := is_a(Planned)(each) or is_a(dict)(each.node) or is_a(list)(each.neighbours):
            return f"has an element that {said}"
        if far := set(each.neighbours) - near.keys():
            return f"has neighbours that cannot be reached: {', '.join(map(str, far))}"
    return ""


def _paths(text: str, index: Mapping[str, int]) -> list[list[int]]:
    """Parse paths, `sta1:sta2:sta3;sta4:sta2`, as node indices. Raises Misuse."""
    paths = [path.strip().split(":") for path in text.split(";")]
    for path in paths:
        if strange := next((name for name in path if name not in index), None):
            raise Misuse(f"routing: path {':'.join(path)}: there is no node {strange}")
        if len(path) < 2 or len(set(path)) < len(path):
            raise Misuse(f"routing: path {':'.join(path)}: give two nodes or more, each of them once")
    return [[index[name] for name in path] for path in paths]


def _of_peers(kind: str) -> bool:
    found = link_class(kind)
    return found.interface == "radio" and not found.over_ap


def on_one_link(nodes: list[dict[str, Any]], kinds: dict[str, str], reached: NDArray[np.bool_]) -> list[dict[int, Hop]]:
    """Return for each node the nodes that its frames reach over one link, and how."""
    found = [dict[int, Hop]() for _ in nodes]
    with_radio = [i for i, node in enumerate(nodes) if node["kind"] in WITH_RADIO]
    station = {i: number for number, i in enumerate(with_radio)}
    on = dict[str, list[tuple[int, int]]]()
    for i, node in enumerate(nodes):
        for number, interface in enumerate(node["interfaces"]):
            on.setdefault(interface["link"], []).append((i, number))
    for link, members in on.items():
        kind = link_class(kinds[link])
        pairs: Iterable[tuple[tuple[int, int], tuple[int, int]]] = itertools.permutations(members, 2)
        if kind.interface == "radio":
            own = [station[node] for node, _ in members]
            both = np.argwhere(reached[np.ix_(own, own)]).tolist()
            pairs = ((members[one], members[other]) for one, other in both)
        for (a, at), (b, to) in pairs:
            if not kind.over_ap or {nodes[a]["kind"], nodes[b]["kind"]} == {"ap", "station"}:
                found[a].setdefault(b, Hop(at, to))
    return found


def _neighbours(at: int, nodes: list[dict[str, Any]], direct: list[dict[int, Hop]]) -> dict[int, Hop]:
    """Return the nodes that a node reaches over bridges only, and how: the two ends of the shortest path."""
    found: dict[int, Hop] = {}
    seen, front = {at}, [(to, hop) for to, hop in direct[at].items()]
    while front:
        ahead = []
        for to, hop in front:
            if to in seen:
                continue
            seen.add(to)
            if nodes[to]["bridge"]:
                ahead += [(beyond, Hop(hop.at, last.to)) for beyond, last in direct[to].items()]
            else:
                found[to] = hop
        front = ahead
    return found


def _no_path(
    specification: Specification, network: Network, nodes: list[dict[str, Any]], at: int,
    direct: list[dict[int, Hop]], to: str,
) -> str:  # fmt: skip
    """Describe where the path breaks: at the strongest link between nodes that `at` reaches, and others."""
    names, model = list(network.nodes), specification.medium.propagation
    aired = network.on_air()
    on_air = [names.index(name) for name in aired.nodes]
    positions = [node.position for node in aired.nodes.values()]
    distance, power = propagation.distances(positions), mean_dbm(specification, aired, positions)
    power = np.minimum(power, power.T)
    reached = routing.reachable([list(near) for near in direct], at)
    within = np.array([i in reached for i in on_air])
    pairs = np.argwhere(within[:, None] & ~within[None, :])
    begin = f"no path from {names[at]} to {to}"
    if not len(pairs):
        return f"{begin}: no link joins them"
    a, b = max(pairs, key=lambda pair: (power[*pair], -distance[*pair]))
    first, second = names[on_air[a]], names[on_air[b]]
    needed = specification.medium.effective_thresholds().receive_dbm
    link_a, link_b = (
        next(each["link"] for each in nodes[on_air[i]]["interfaces"] if each["kind"] == "radio") for i in (a, b)
    )
    if power[a, b] >= needed and link_a != link_b:
        return f"{begin}: {first} and {second} hear each other, but are on different links"
    reach_m = model.reach_m(needed)
    arrives = f"{power[a, b]:.1f} dBm arrive" if np.isfinite(power[a, b]) else "nothing arrives"
    return (
        f"{begin}: between {first} and {second}, {distance[a, b]:g} m apart, "
        f"{arrives}; {needed:.1f} dBm are needed"
        + (f", the power at {reach_m} m" if reach_m else "")
        + ". Bring them closer, or set unreachable to run all the same"
    )
