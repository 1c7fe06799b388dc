# SPDX-License-Identifier: BSD-3-Clause
"""How packets find their way: the routing that was chosen plans its part, from who can exchange frames with whom."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulation.lane import routing
from emulation.lane.routing import Demand, Unreachable
from emulation.plan.air import stronger_db
from emulation.plan.errors import PlanError, known
from emulation.plan.nodes import address, ip
from emulation.specification import Specification, propagation
from topologies import Network


def plan_routing(
    specification: Specification,
    network: Network,
    links: list[dict[str, Any]],
    nodes: list[dict[str, Any]],
    reached: NDArray[np.bool_],
) -> tuple[ModuleType, dict[str, Any]]:
    """Give each node its part, and its interface the neighbours that it must know; returns the routing's file and the
    plan's `routing`.

    `reached` says who is strong enough for whom; only those on one link are each other's neighbours. Raises PlanError:
    no such routing, or no path for a flow.
    """
    chosen, names = specification.network, list(network.nodes)
    index = {name: i for i, name in enumerate(names)}
    prompt = specification.transport.ack == "plain"
    demands = [Demand(index[one.source], index[one.destination], prompt) for one in network.applications]
    kinds = {link["name"]: link["kind"] for link in links}
    link = np.array([node["interfaces"][0]["link"] for node in nodes])
    reached = reached & (link[:, None] == link[None, :])
    reach = [np.flatnonzero(row).tolist() for row in reached]
    ips = [ip(i) for i in range(len(names))]
    options = dict(chosen.routing)
    kind = options.pop("kind")
    found = known(routing.find, kind)
    if (needed := getattr(found, "LINK", None)) and (other := set(kinds.values()) - {needed}):
        raise PlanError(
            f"routing {kind} is for links of kind {needed}, not {', '.join(sorted(other))}: --link {needed}"
        )
    try:
        planned = found.plan(reach, ips, demands, chosen.unreachable, **options)
    except Unreachable as lost:
        raise PlanError(_no_path(specification, network, lost.at, reached, link, names[lost.to])) from None
    except ValueError as error:  # an option that it has not
        raise PlanError(f"routing: {error}") from None
    for node, part in zip(nodes, planned, strict=True):
        node["routing"] = part.node
        node["interfaces"][0]["neighbours"] = {ip(i): address(i) for i in part.neighbours}
    return found, {"kind": kind}


def _no_path(
    specification: Specification, network: Network, at: int, reached: NDArray[np.bool_], link: NDArray[Any], to: str
) -> str:
    """Where the way breaks off: between those whom `at` reaches and the others, where most arrives."""
    names, model = list(network.nodes), specification.medium.propagation
    distance = propagation.distances([node.position for node in network.nodes.values()])
    power = model.received_dbm(distance) + stronger_db(specification, network)[:, None]
    power = np.minimum(power, power.T)
    within = _within(at, reached)
    a, b = max(np.argwhere(within[:, None] & ~within[None, :]), key=lambda pair: (power[*pair], -distance[*pair]))
    needed = specification.medium.effective_thresholds().receive_dbm
    if power[a, b] >= needed and link[a] != link[b]:
        return (
            f"no path from {names[at]} to {to}: {names[a]} and {names[b]} hear each other, but are on different links"
        )
    reach = model.reach_m(needed)
    arrives = f"{power[a, b]:.1f} dBm arrive" if np.isfinite(power[a, b]) else "nothing arrives"
    return (
        f"no path from {names[at]} to {to}: between {names[a]} and {names[b]}, {distance[a, b]:g} m apart, "
        f"{arrives}; {needed:.1f} dBm are needed"
        + (f", the power at {reach} m" if reach else "")
        + ". Bring them closer, or set unreachable to run all the same"
    )


def _within(at: int, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whom one reaches, over however many hops; itself too."""
    within = np.zeros(len(reached), dtype=bool)
    front = within.copy()
    front[at] = True
    while front.any():
        within |= front
        front = reached[front].any(axis=0) & ~within
    return within
