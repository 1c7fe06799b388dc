# SPDX-License-Identifier: BSD-3-Clause
"""How all is, as the page is told: what the lane says, with names, ranges and what happened in the last second."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from emulation.lane.air import LOOKS
from emulation.lane.protocol import DOINGS
from emulation.live import show
from emulation.live.ways import Ways
from emulation.specification import Specification

WINDOW_NS = 1_000_000_000  # of what is said a second
APART_NS = 10_000_000  # of what is remembered for that
NO_BACKOFF = 0xFFFF


class States:
    """Of one lane: to be fed with what it says, in the order of time."""

    def __init__(self, asked: Specification, plan: Mapping[str, Any], ways: Ways) -> None:
        self.asked, self.plan, self.radios, self.ranges = asked, plan, show.radios(plan), show.ranges(asked)
        self.settings = {name: node.settings for name, node in asked.network.standing().nodes.items()}
        self.usual_dbm = getattr(asked.medium.propagation, "tx_power_dbm", None)
        self.past: deque[tuple[int, dict[str, float]]] = deque()  # when, and what had been counted
        self.ways = ways

    def of(self, said: Mapping[str, Any], began_ns: int, counters: Mapping[str, int]) -> dict[str, Any]:
        """What of an event is the network's own."""
        now_ns = said["t_ns"]
        bits = {name: flow.get("delivered_bytes", 0) * 8 / 1000 for name, flow in said["flows"].items()}
        per_s = self._per_s(now_ns, {**counters, **bits})
        looks: dict[str, dict[str, int]] = {}
        for name, look in zip(self.radios, said["air"], strict=False):
            looks.setdefault(name, dict(zip(LOOKS, look, strict=True)))
        return {
            "t_ns": now_ns,
            "nodes": {name: self._node(name, node, looks.get(name), began_ns) for name, node in said["nodes"].items()},
            "flows": {name: {**_flow(flow), "kbps": round(per_s[name], 1)} for name, flow in said["flows"].items()},
            "routes": {
                name: self.ways.way(flow["source"], flow["destination"]) for name, flow in said["flows"].items()
            },
            "counters": dict(counters),
            "rates": {name: round(per_s[name], 1) for name in counters},
        }

    def _per_s(self, now_ns: int, counted: dict[str, float]) -> dict[str, float]:
        """How much of each there was a second, in the last one."""
        if not self.past or now_ns - self.past[-1][0] >= APART_NS:
            self.past.append((now_ns, counted))
        while len(self.past) > 1 and self.past[1][0] <= now_ns - WINDOW_NS:
            self.past.popleft()
        then_ns, before = self.past[0]
        took_s = max(now_ns - then_ns, 1) / 1e9
        return {name: (value - before.get(name, 0)) / took_s for name, value in counted.items()}

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


def _flow(flow: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: flow[name] for name in ("source", "destination", "kind", "running")}, "tcp": flow["congestion"],
        "cwnd": flow.get("cwnd"), "srtt_ms": flow.get("srtt_ms"), "retransmits": flow.get("retransmits"),
        "bytes": flow.get("delivered_bytes", 0),
    }  # fmt: skip
