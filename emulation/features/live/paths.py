# SPDX-License-Identifier: BSD-3-Clause
"""Which way flows go: by the plan's routes where these are static; else over which stations frames with their segments
went of late.

A station sends a packet to whom it believes to be the next hop; so its latest frame with a packet from one node to
another says its route, whether or not it was received, and from hop to hop that is the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.routes.paths import addresses
from analysis.traces.dissect import Frames, classify
from analysis.traces.trace import NOBODY, TX, Array, Kind, Records
from emulation.lane.routing import static

HOLD_NS = 2_000_000_000  # for how long a frame says the way
Routes = dict[str, dict[str, str]]  # by node and destination, the next hop
Hops = dict[str, tuple[str, int]]  # next hops, and when that was said (ns of the trace)


class CurrentPaths:
    """To be fed with the trace as it grows; `names` are the air's stations'."""

    def __init__(self, plan: Mapping[str, Any], names: Sequence[str]) -> None:
        self.names, self.addresses = names, addresses(plan)
        self.routes = static_routes(plan)
        self.hops: dict[tuple[int, int], Hops] = {}  # by the addresses of packets
        self.latest_ns = 0

    def feed(self, data: Array, found: Records) -> None:
        """Records, and the bytes in which they are."""
        tx = found.tx
        if self.routes or not tx.size:
            return
        self.latest_ns = int(tx["start_ns"][-1])
        late = tx["start_ns"] > self.latest_ns - HOLD_NS
        row = np.flatnonzero(late & (tx["kind"] == Kind.TCP_DATA) & (tx["receiver"] != NOBODY))
        frames = Frames(data, found.tx_at[row] + TX.itemsize, tx["caplen"][row].astype(np.int64))
        tcp = classify(frames)[1]
        tcp_row, network = tcp.row[tcp.version == 4], tcp.network[tcp.version == 4]
        frames, row = frames.pick(tcp_row), row[tcp_row]
        ends = zip(frames.field(network + 12, 4).tolist(), frames.field(network + 16, 4).tolist(), strict=True)
        told = (tx[name][row].tolist() for name in ("station", "receiver", "start_ns"))
        for pair, station, receiver, start_ns in zip(ends, *told, strict=True):
            self.hops.setdefault(pair, {})[self.names[station]] = self.names[receiver], start_ns

    def path(self, source: str, destination: str) -> list[str]:
        """Over which nodes; empty if that is not known, or there is no way."""
        hops = self.hops.get((self.addresses.get(source, 0), self.addresses.get(destination, 0)), {})
        way = [source]
        while way[-1] != destination:
            if self.routes:
                to, said_ns = self.routes.get(way[-1], {}).get(destination, ""), self.latest_ns
            else:
                to, said_ns = hops.get(way[-1], ("", 0))
            if to in ("", *way) or said_ns < self.latest_ns - HOLD_NS:
                return []
            way.append(to)
        return way


def static_routes(plan: Mapping[str, Any]) -> Routes:
    """Who is the next hop of whom to whom, where routes are static; else nothing."""
    if plan["routing"]["kind"] != "static":
        return {}
    return by_names(plan, {node["name"]: static.next_hops(node) for node in plan["nodes"]})


def by_names(plan: Mapping[str, Any], hops: Mapping[str, Mapping[str, str]]) -> Routes:
    """The same of next hops by addresses."""
    addresses = ((one["ip"], node["name"]) for node in plan["nodes"] for one in node["interfaces"] if one["ip"])
    whose = {ip.partition("/")[0]: name for ip, name in addresses}
    return {
        node: {whose[to.partition("/")[0]]: whose[via] for to, via in mine.items() if to.partition("/")[0] in whose}
        for node, mine in hops.items()
    }
