# SPDX-License-Identifier: BSD-3-Clause
"""The current paths of flows: by the plan's routes if these are static, else by the latest frames with their segments.

A station sends a packet to the next hop of its route. So its latest frame between two nodes shows its route, whether or
not it was received, and the next hops together are the path.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.routes.paths import addresses
from analysis.traces.dissect import Frames, classify
from analysis.traces.trace import NOBODY, Array, Kind, Records
from emulation.lane.routing import static

HOLD_NS = 2_000_000_000  # for how long a frame counts
Routes = dict[str, dict[str, str]]  # the next hop, by node and destination
Hops = dict[str, tuple[str, int]]  # by node: its next hop, and the time of that frame (ns of the trace)


class CurrentPaths:
    """Takes the growing trace by `feed`; `names` are those of the air's stations."""

    def __init__(self, plan: Mapping[str, Any], names: Sequence[str]) -> None:
        self.names, self.addresses = names, addresses(plan)
        is_static = plan["routing"]["kind"] == "static"  # or else nothing
        self.routes = by_names(plan, {node["name"]: static.next_hops(node) for node in plan["nodes"] if is_static})
        self.hops: dict[tuple[int, int], Hops] = {}  # by the addresses of packets
        self.latest_ns = 0

    def feed(self, data: Array, found: Records) -> None:
        """Take records, and the bytes that they were read from."""
        tx = found.tx
        if self.routes or not tx.size:
            return
        self.latest_ns = int(tx["start_ns"][-1])
        late = tx["start_ns"] > self.latest_ns - HOLD_NS
        row = np.flatnonzero(late & (tx["kind"] == Kind.TCP_DATA) & (tx["receiver"] != NOBODY))
        frames = Frames(data, found.frame[row], tx["caplen"][row].astype(np.int64))
        tcp = classify(frames)[1]
        tcp_row, network = tcp.row[tcp.version == 4], tcp.network[tcp.version == 4]
        frames, row = frames.pick(tcp_row), row[tcp_row]
        ends = zip(frames.field(network + 12, 4).tolist(), frames.field(network + 16, 4).tolist(), strict=True)
        columns = (tx[name][row].tolist() for name in ("station", "receiver", "start_ns"))
        for pair, station, receiver, start_ns in zip(ends, *columns, strict=True):
            self.hops.setdefault(pair, {})[self.names[station]] = self.names[receiver], start_ns

    def path(self, source: str, destination: str) -> list[str]:
        """Return the nodes on the path of packets; empty if it is unknown, or there is none."""
        hops = self.hops.get((self.addresses.get(source, 0), self.addresses.get(destination, 0)), {})
        path = [source]
        while path[-1] != destination:
            if self.routes:
                to, said_ns = self.routes.get(path[-1], {}).get(destination, ""), self.latest_ns
            else:
                to, said_ns = hops.get(path[-1], ("", 0))
            if to in ("", *path) or said_ns < self.latest_ns - HOLD_NS:
                return []
            path.append(to)
        return path


def by_names(plan: Mapping[str, Any], hops: Mapping[str, Mapping[str, str]]) -> Routes:
    """Convert next hops by addresses to next hops by names."""
    addresses = ((one["ip"], node["name"]) for node in plan["nodes"] for one in node["interfaces"] if one["ip"])
    whose = {ip.partition("/")[0]: name for ip, name in addresses}
    return {
        node: {whose[to.partition("/")[0]]: whose[via] for to, via in mine.items() if to.partition("/")[0] in whose}
        for node, mine in hops.items()
    }
