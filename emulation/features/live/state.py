# SPDX-License-Identifier: BSD-3-Clause
"""The state for the page: the lane's, with names, ranges and the rates of the last second."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from emulation.features.live import show
from emulation.features.live.air import Air
from emulation.features.live.paths import CurrentPaths
from emulation.lane.air import LOOKS, NO_BACKOFF
from emulation.lane.protocol import DOINGS
from emulation.plan.air import TX_POWER, reached, received_powers
from emulation.specification import Specification
from topologies import Network

WINDOW_NS = 1_000_000_000  # for rates
APART_NS = 10_000_000  # between two remembered counts


class States:
    """Makes the states of one lane for the page; takes the lane's own in the order of time."""

    def __init__(self, specification: Specification, plan: Mapping[str, Any], paths: CurrentPaths) -> None:
        self.specification, self.plan, self.paths = specification, plan, paths
        self.radios, self.ranges = show.radios(plan), show.ranges(specification)
        self.settings = {name: node.settings for name, node in specification.network.standing().nodes.items()}
        usual_dbm = getattr(specification.medium.propagation, "tx_power_dbm", None)
        self.usual_dbm = usual_dbm and round(usual_dbm, 2)
        self.on_air = specification.network.standing().on_air()
        self.key: tuple[tuple[Any, ...], ...] = ()  # the positions and powers of `links`
        self.links: list[list[str]] = []
        self.past: deque[tuple[int, dict[Any, float]]] = deque()  # time, and the counts then

    def update(self, state: Mapping[str, Any], air: Air) -> dict[str, Any]:
        """Return the network's part of the event `state`."""
        now_ns, counters, began_ns = state["t_ns"], air.counters, air.began_ns
        bits = {("kbps", name): flow.get("delivered_bytes", 0) * 8e-3 for name, flow in state["flows"].items()}
        sent: dict[Any, float] = {}
        for name, ns in zip(self.radios, air.sent_ns.tolist(), strict=True):
            sent["airtime", name] = sent.get(("airtime", name), 0.0) + ns / 1e9
        per_s = self._per_s(now_ns, {**counters, **bits, **sent})
        looks: dict[str, dict[str, int]] = {}
        for name, look in zip(self.radios, state["air"], strict=False):
            looks.setdefault(name, dict(zip(LOOKS, look, strict=True)))
        return {
            "t_ns": now_ns,
            "nodes": {
                name: self._node(name, node, looks.get(name), began_ns)
                | ({"airtime": round(min(per_s["airtime", name], 1.0), 4)} if name in looks else {})
                for name, node in state["nodes"].items()
            },
            "airtime": round(sum(per_s[name] for name in sent), 4),
            "links": self._links(state["nodes"]),
            "flows": {
                name: {**_flow(flow), "kbps": round(per_s["kbps", name], 1)} for name, flow in state["flows"].items()
            },
            "routes": {
                name: self.paths.path(flow["source"], flow["destination"]) for name, flow in state["flows"].items()
            },
            "counters": dict(counters),
            "rates": {name: round(per_s[name], 1) for name in counters},
        }

    def _per_s(self, now_ns: int, counted: dict[Any, float]) -> dict[Any, float]:
        """Return the rate of each count over the last second."""
        if not self.past or now_ns - self.past[-1][0] >= APART_NS:
            self.past.append((now_ns, counted))
        while len(self.past) > 1 and self.past[1][0] <= now_ns - WINDOW_NS:
            self.past.popleft()
        then_ns, before = self.past[0]
        took_s = max(now_ns - then_ns, 1) / 1e9
        return {name: (value - before.get(name, 0)) / took_s for name, value in counted.items()}

    def _links(self, nodes: Mapping[str, Any]) -> list[list[str]]:
        """Return the pairs of nodes that can exchange frames now, each once."""
        key = tuple((*nodes[name]["position"], nodes[name]["tx_power_dbm"]) for name in self.on_air.nodes)
        if key != self.key:
            self.key, self.links = key, links_of(self.specification, self.on_air, key)
        return self.links

    def _node(
        self, name: str, node: Mapping[str, Any], look: Mapping[str, int] | None, began_ns: int
    ) -> dict[str, Any]:
        if look is None:
            return dict(node)
        own_dbm = node["tx_power_dbm"]
        range_m, sense_m = self.ranges(own_dbm, self.settings[name])
        return {
            **node, "tx_power_dbm": self.usual_dbm if own_dbm is None else own_dbm, "range_m": range_m,
            "sense_m": sense_m, "queue": look["queued"], "cw": look["cw"], "doing": DOINGS[look["doing"]],
            "nav_ns": look["nav_end_ns"] and look["nav_end_ns"] - began_ns,
            "until_ns": look["until_ns"] and look["until_ns"] - began_ns,
            "backoff": None if look["backoff"] == NO_BACKOFF else look["backoff"],
        }  # fmt: skip


def links_of(specification: Specification, on_air: Network, key: tuple[tuple[Any, ...], ...]) -> list[list[str]]:
    """Return the links of these radios, at these positions and with these powers."""
    nodes, names = {}, list(on_air.nodes)
    for (name, node), (*_, dbm) in zip(on_air.nodes.items(), key, strict=True):
        power = {TX_POWER: dbm} if dbm is not None else {}
        nodes[name] = node.model_copy(update={"settings": {**node.settings, **power}})
    network = on_air.model_copy(update={"nodes": nodes})
    powers = received_powers(specification, network, [(x, y, z) for x, y, z, _ in key]).power_mdbm
    pairs = np.argwhere(np.triu(reached(specification, network, powers), 1))
    return [[names[a], names[b]] for a, b in pairs.tolist()]


def _flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: flow[name] for name in ("source", "destination", "kind", "running")}, "tcp": flow["congestion"],
        "cwnd": flow.get("cwnd"), "srtt_ms": flow.get("srtt_ms"), "retransmits": flow.get("retransmits"),
        "bytes": flow.get("delivered_bytes", 0),
    }  # fmt: skip
