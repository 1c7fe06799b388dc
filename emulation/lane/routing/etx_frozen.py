# SPDX-License-Identifier: BSD-3-Clause
"""Static routes along the paths of least ETX (De Couto et al. 2003), measured before the run.

Each node sends `probes` broadcasts, one in `interval_ms` with a jitter of a tenth; `size` is the whole frame's. The
receivers count them. The ETX of a link is the expected number of transmissions until a frame and its acknowledgement
arrive, 1/(df dr). Routes of the least sum, then of the fewest hops, are computed once and stay fixed. A link without a
returned probe does not exist; a flow without a path is an error, unless `--unreachable`. The lane sees all nodes, so
they do not exchange counts. The results are in `etx.json` of the run folder.

Paper 001 ran OLSR with ETX until it had converged, and then stopped its control traffic. As there, probes have a basic
rate and no retries, so they arrive more often than DATA.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import json
import socket
import struct
import time

from emulation.lane import routing
from emulation.lane.netlink import NetlinkError
from emulation.lane.routing import Demand, Planned, Reach, static
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from emulation.lane.network import Network
    from emulation.lane.node import Node

OPTIONS = {"probes": (100, 1, 10_000), "interval_ms": (100, 1, 60_000), "size": (134, 72, 1500)}
HEADERS = 24 + 8 + 20 + 8 + 4  # bytes of a probe: MAC, LLC/SNAP, IP, UDP, FCS; the rest of its `size` is payload
PORT, RECEIVE_BUFFER = 5999, 1 << 24  # buffer in bytes
PROBE = struct.Struct("=HH")  # the sender's index, and the probe's number
JITTER = 0.1  # fraction of the interval, in both directions, as De Couto's
REPORT = "etx.json"


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """Return each node's options and flows; routes follow later. Raises ValueError or Unreachable."""
    chosen = routing.numbers("etx-frozen", options, OPTIONS)
    routing.ends(reach, demands, unreachable)
    flows = [
        [[one.destination, one.there, one.back] for one in demands if one.source == at] for at in range(len(reach))
    ]
    return [Planned({**chosen, "flows": each, "unreachable": unreachable, "routes": []}, []) for each in flows]


class Routing(static.Routing):
    """Measures ETX, and then is `static` with the resulting routes."""

    def start(self, net: Network) -> None:
        nodes = list(net.nodes.values())
        chosen = nodes[0].plan["routing"]
        for name, (default, _, _) in OPTIONS.items():
            nodes[0].note(f"etx-frozen {name}", chosen[name], default)
        received = probe(nodes, net.plan["seed"], chosen["probes"], chosen["interval_ms"] * 1_000_000, chosen["size"])
        demands = [Demand(at, *flow) for at, node in enumerate(nodes) for flow in node.plan["routing"]["flows"]]
        routes = least_etx_routes(etx(received, chosen["probes"]), demands)
        self.report(net.folder, nodes, chosen["probes"], received, routes)
        for one in demands:
            if (one.source, one.destination) not in routes and not chosen["unreachable"]:
                ends = f"{nodes[one.source].name} to {nodes[one.destination].name}"
                message = f"no path from {ends} on which probes went both ways"
                raise NetlinkError(errno.ENETUNREACH, message)
        ips = [node.IP() for node in nodes]
        neighbours: list[list[int]] = [[] for _ in nodes]
        for at, planned in enumerate(static.planned_routes(routes, ips, demands)):
            nodes[at].plan["routing"]["routes"] = planned.node["routes"]
            neighbours[at] = planned.neighbours
        for node, near in zip(nodes, neighbours, strict=True):
            node.radio.plan["neighbours"] = {ips[each]: nodes[each].MAC() for each in near}
        super().start(net)

    def report(
        self, folder: str, nodes: list[Node], probes: int, received: list[list[int]], routes: static.Routes
    ) -> None:
        names = [node.name for node in nodes]
        entries = [
            {"from": names[at], "to": names[to], "via": names[via], "hops": hops}
            for (at, to), (via, hops) in sorted(routes.items())
        ]
        with open(f"{folder}/{REPORT}", "w") as file:
            json.dump({"nodes": names, "probes": probes, "received": received, "routes": entries}, file)


def probe(nodes: list[Node], seed: int, probes: int, interval_ns: int, size: int) -> list[list[int]]:
    """Broadcast probes from all nodes, and return how many each received, as [sender][receiver]. Each node sends at its
    own pace. Linux drops the first frame from an unknown station, so there is one more probe, which does not count."""
    import random

    draw = random.Random(seed)
    with contextlib.ExitStack() as stack, Loop() as loop:
        sockets = [stack.enter_context(probe_socket(node)) for node in nodes]
        begins = time.monotonic_ns()
        for number, each in enumerate(sockets):
            phase = draw.random()
            for n in range(probes + 1):
                payload = PROBE.pack(number, n).ljust(size - HEADERS, b"\0")
                when = (n + phase + draw.uniform(-JITTER, JITTER) + JITTER) * interval_ns
                loop.at(begins + round(when), lambda each=each, payload=payload: send(each, payload))  # type: ignore[misc]
        loop.run(begins + (probes + 3) * interval_ns)
        received = [[0] * len(nodes) for _ in nodes]
        for number, each in enumerate(sockets):
            for sender, n in received_probes(each):
                received[sender][number] += n > 0 and sender != number  # a node also receives its own probes
    return received


def probe_socket(node: Node) -> socket.socket:
    """Open a node's socket for sending and receiving probes."""
    with node:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, node.radio.name.encode())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    made.setsockopt(socket.SOL_SOCKET, 33, RECEIVE_BUFFER)  # SO_RCVBUFFORCE
    made.bind(("", PORT))
    return made


def send(socket_: socket.socket, payload: bytes) -> None:
    with contextlib.suppress(BlockingIOError):  # the queue is full: the probe is lost
        socket_.sendto(payload, ("255.255.255.255", PORT))


def received_probes(socket_: socket.socket) -> Iterator[tuple[int, int]]:
    """Yield the probes that a socket holds: the sender's index, and the probe's number."""
    with contextlib.suppress(BlockingIOError):
        while True:
            yield PROBE.unpack_from(socket_.recv(PROBE.size))


def etx(received: list[list[int]], probes: int) -> list[dict[int, float]]:
    """Return for each node the ETX to every node with which it exchanged probes in both directions."""
    count = range(len(received))
    return [
        {b: probes * probes / (received[a][b] * received[b][a]) for b in count if received[a][b] and received[b][a]}
        for a in count
    ]


def least_etx_routes(links: list[dict[int, float]], demands: list[Demand]) -> static.Routes:
    """Return (at, to) -> (next hop, hops to go) along the paths of least ETX, for all pairs that `static` routes. Of
    paths with equal ETX it takes one with the fewest hops, then that of the lowest index."""
    needed = {(demand.source, demand.destination) for demand in demands}
    routes: static.Routes = {}
    for to, sources in sorted(static.destinations(len(links), needed).items()):
        routes_to = next_hops(links, to)
        for at in sorted(sources):
            while at in routes_to and at != to and (at, to) not in routes:
                via, hops = routes_to[at]
                routes[at, to] = via, hops
                at = via
    return routes


def next_hops(links: list[dict[int, float]], to: int) -> dict[int, tuple[int, int]]:
    """Return (next hop, hops to go) towards a node, for all nodes with a path to it."""
    found: dict[int, tuple[int, int]] = {}
    front = [(0.0, 0, to, to)]
    while front:
        cost, hops, via, at = heapq.heappop(front)
        if at in found:
            continue
        found[at] = via, hops
        for near, more in links[at].items():
            if near not in found:
                heapq.heappush(front, (cost + more, hops + 1, at, near))
    return found
