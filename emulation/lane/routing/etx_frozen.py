# SPDX-License-Identifier: BSD-3-Clause
"""Static routes along the paths of least ETX (De Couto et al. 2003), as the links were before the run: each node sends
probes to everybody, and what arrives is counted. Then the routes are frozen.

ETX of a link is how often a frame is sent until it and its acknowledgement have arrived, 1/(df dr), of a path the sum
of its links'. The lane sees all nodes, so that nobody has to tell the others what it received. What was found is in
`etx.json` of the run folder; docs/routing.md has the options, and how seed 001 did it.
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
HEADERS = 24 + 8 + 20 + 8 + 4  # of a probe: MAC, LLC/SNAP, IP, UDP, FCS; the rest of its `size` is payload
PORT, ROOM = 5999, 1 << 24  # bytes of a socket for what has come
PROBE = struct.Struct("=HH")  # which node's, the how-manieth
JITTER = 0.1  # of the interval, either way, as De Couto's
REPORT = "etx.json"


def plan(
    reach: Reach, ips: list[str], demands: list[Demand], unreachable: bool = False, **options: Any
) -> list[Planned]:
    """For each node the options, and its flows; routes come later. Raises ValueError, Unreachable."""
    chosen = routing.numbers("etx-frozen", options, OPTIONS)
    routing.ends(reach, demands, unreachable)
    flows = [
        [[one.destination, one.there, one.back] for one in demands if one.source == at] for at in range(len(reach))
    ]
    return [Planned({**chosen, "flows": each, "unreachable": unreachable, "routes": []}, []) for each in flows]


class Routing(static.Routing):
    """Probes, and then `static` with the routes that they gave."""

    def start(self, net: Network) -> None:
        nodes = list(net.nodes.values())
        chosen = nodes[0].plan["routing"]
        for name, (default, _, _) in OPTIONS.items():
            nodes[0].note(f"etx-frozen {name}", chosen[name], default)
        received = probe(nodes, net.plan["seed"], chosen["probes"], chosen["interval_ms"] * 1_000_000, chosen["size"])
        demands = [Demand(at, *flow) for at, node in enumerate(nodes) for flow in node.plan["routing"]["flows"]]
        routes = frozen(etx(received, chosen["probes"]), demands)
        self.report(net.folder, nodes, chosen["probes"], received, routes)
        for one in demands:
            if (one.source, one.destination) not in routes and not chosen["unreachable"]:
                ends = f"{nodes[one.source].name} to {nodes[one.destination].name}"
                said = f"no path from {ends} on which probes went both ways"
                raise NetlinkError(errno.ENETUNREACH, said)
        ips = [node.IP() for node in nodes]
        neighbours: list[list[int]] = [[] for _ in nodes]
        for at, planned in enumerate(static.entered(routes, ips, demands)):
            nodes[at].plan["routing"]["routes"] = planned.node["routes"]
            neighbours[at] = planned.neighbours
        for node, near in zip(nodes, neighbours, strict=True):
            node.radio.plan["neighbours"] = {ips[each]: nodes[each].MAC() for each in near}
        super().start(net)

    def report(
        self, folder: str, nodes: list[Node], probes: int, received: list[list[int]], routes: static.Routes
    ) -> None:
        names = [node.name for node in nodes]
        ways = [
            {"from": names[at], "to": names[to], "via": names[via], "hops": hops}
            for (at, to), (via, hops) in sorted(routes.items())
        ]
        with open(f"{folder}/{REPORT}", "w") as file:
            json.dump({"nodes": names, "probes": probes, "received": received, "routes": ways}, file)


def probe(nodes: list[Node], seed: int, probes: int, interval_ns: int, size: int) -> list[list[int]]:
    """Let all send at their own pace, and count: how many probes of each, [sender], each other, [receiver], has got.
    What Linux first hears of a station makes it known, and is lost: so there is one more, which does not count."""
    import random

    draw = random.Random(seed)
    with contextlib.ExitStack() as stack, Loop() as loop:
        sockets = [stack.enter_context(opened(node)) for node in nodes]
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
            for sender, n in arrived(each):
                received[sender][number] += n > 0 and sender != number  # its own come back to it, too
    return received


def opened(node: Node) -> socket.socket:
    """What a node sends its probes by, and receives the others'."""
    with node:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, node.radio.name.encode())
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    made.setsockopt(socket.SOL_SOCKET, 33, ROOM)  # SO_RCVBUFFORCE
    made.bind(("", PORT))
    return made


def send(by: socket.socket, payload: bytes) -> None:
    with contextlib.suppress(BlockingIOError):  # a queue that is full of probes: this one is lost
        by.sendto(payload, ("255.255.255.255", PORT))


def arrived(at: socket.socket) -> Iterator[tuple[int, int]]:
    """The probes that a socket holds: who sent each, and which it is."""
    with contextlib.suppress(BlockingIOError):
        while True:
            yield PROBE.unpack_from(at.recv(PROBE.size))


def etx(received: list[list[int]], probes: int) -> list[dict[int, float]]:
    """For each node, ETX to each other to and from which probes arrived."""
    count = range(len(received))
    return [
        {b: probes * probes / (received[a][b] * received[b][a]) for b in count if received[a][b] and received[b][a]}
        for a in count
    ]


def frozen(links: list[dict[int, float]], demands: list[Demand]) -> static.Routes:
    """(at, to) -> (next hop, hops to go) along the paths of least ETX, of those of one ETX of the fewest hops, and then
    by the node of lowest index: for all that `static` has routes for."""
    needed = {(demand.source, demand.destination) for demand in demands}
    routes: static.Routes = {}
    for to, sources in sorted(static.destinations(len(links), needed).items()):
        ways = towards(links, to)
        for at in sorted(sources):
            while at in ways and at != to and (at, to) not in routes:
                via, hops = ways[at]
                routes[at, to] = via, hops
                at = via
    return routes


def towards(links: list[dict[int, float]], to: int) -> dict[int, tuple[int, int]]:
    """Of all that have a path to a node: the next hop, and how many there are."""
    ways: dict[int, tuple[int, int]] = {}
    front = [(0.0, 0, to, to)]
    while front:
        cost, hops, via, at = heapq.heappop(front)
        if at in ways:
            continue
        ways[at] = via, hops
        for near, more in links[at].items():
            if near not in ways:
                heapq.heappush(front, (cost + more, hops + 1, at, near))
    return ways
