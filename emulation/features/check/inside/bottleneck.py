# SPDX-License-Identifier: BSD-3-Clause
"""Test a qdisc below a token bucket at a router, with two long flows of different round-trip times, and a sparse flow
whose packets carry their sending time. It runs in the lane without an air, so no other queue interferes. It prints the
measurements as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import time
from random import Random

from emulation.features.check.inside.crowd import Stream, datagrams
from emulation.features.check.inside.playground import change_route
from emulation.features.check.inside.queues import CHILD, put, put_behind_bucket, statistics
from emulation.features.check.inside.setups import find
from emulation.features.check.inside.shorter import Long
from emulation.features.check.inside.tested_module import Module
from emulation.lane import netem
from emulation.lane.net import Net
from emulation.lane.netlink import NetlinkError
from traffic import tcp_info
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RATE_KBPS, SECONDS, WARM_UP_S = 1000, 60.0, 5.0
DELAYS_MS = (10, 40)  # of the long flows' packets on their way to the router
START_WITHIN_NS = 1_000_000_000
SAMPLE_INTERVAL_S, SPARSE_INTERVAL_S, SPARSE_BYTES, SPARSE_PORT = 0.02, 0.05, 100, 6000
STAMP = struct.Struct("!Q")
NETEM_LIMIT = 10_000


class Bottleneck:
    """Two senders, a third with a sparse flow, a router with the qdisc under test, and the receiver of all."""

    def __init__(self, net: Net, kind: str, congestion: str, given: bytes = b"") -> None:
        *self.senders, self.router, self.sink = net.nodes.values()
        self.loop, self.random = Loop(), Random()  # seeded by the lane
        for sender in self.senders:
            change_route(sender, self.sink.IP(), self.router.IP(), 0)
        for sender, delay_ms in zip(self.senders, DELAYS_MS, strict=False):
            put(sender, "netem", netem.pack({"latency_ns": delay_ms * 1_000_000}, NETEM_LIMIT))
        with contextlib.suppress(NetlinkError):  # there is none
            put(self.router, "pfifo")
        find(self.router, kind, given)
        put_behind_bucket(self.router, kind, RATE_KBPS * 125)
        self.flows = [
            Long(number, congestion, sender, self.sink, self.loop, Random(number))
            for number, sender in enumerate(self.senders[: len(DELAYS_MS)])
        ]
        self.delays_ms: list[float] = []
        self.lengths: list[int] = []
        self.backlogs: list[int] = []
        self.sending, self.sent = True, 0

    def every(self, seconds: float, action: Any) -> None:
        """Do something now, and then at this interval."""
        action()
        if self.sending:
            self.loop.at(time.monotonic_ns() + int(seconds * 1e9), lambda: self.every(seconds, action))

    def queue(self) -> tuple[int, ...]:
        """Return the statistics of the qdisc."""
        return statistics(self.router, CHILD)

    def sample_queue(self) -> None:
        length, backlog, *_ = self.queue()
        self.lengths.append(length)
        self.backlogs.append(backlog)

    def run(self) -> dict[str, Any]:
        """Start all flows, and measure once they share the bottleneck."""
        for flow in self.flows:
            flow.prepare()
            self.loop.at(time.monotonic_ns() + self.random.randrange(START_WITHIN_NS), flow.start)
        with datagrams(self.sink) as received, datagrams(self.senders[-1]) as sparse:
            received.bind(("", SPARSE_PORT))
            self.loop.watch(received.fileno(), 1, lambda: self.receive(received))
            to = self.sink.IP(), SPARSE_PORT
            self.pass_time(WARM_UP_S)
            before, dropped = [self.delivered(flow) for flow in self.flows], self.queue()[2]
            self.every(SPARSE_INTERVAL_S, lambda: self.send(sparse, to))
            self.every(SAMPLE_INTERVAL_S, self.sample_queue)
            self.pass_time(SECONDS)
            self.sending = False
            delivered = [self.delivered(flow) - first for flow, first in zip(self.flows, before, strict=True)]
            drops = self.queue()[2] - dropped
            infos = [tcp_info.of_socket(flow.sender) for flow in self.flows if flow.sender]
            self.pass_time(WARM_UP_S)
            self.loop.forget(received.fileno())
        for flow in self.flows:
            flow.reset()
        rates = [8 * bytes_ / SECONDS / 1000 for bytes_ in delivered]
        backlog = sum(self.backlogs) / len(self.backlogs)
        delays = sorted(self.delays_ms)
        return {
            "goodput_kbps": sum(rates),
            "fairness": sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)) if any(rates) else 0.0,
            "backlog_packets": sum(self.lengths) / len(self.lengths),
            "backlog_kb": backlog / 1000,
            "sojourn_ms": 8 * backlog / RATE_KBPS,  # Little's law: backlog over rate
            "sparse_ms": sum(delays) / len(delays) if delays else None,
            "sparse_p95_ms": delays[int(0.95 * len(delays))] if delays else None,
            "sparse_lost": self.sent - len(delays),
            "drops": drops,
            "retransmits": sum(info["total_retrans"] for info in infos),
        }

    @staticmethod
    def delivered(flow: Stream) -> int:
        return int(flow.finish()["delivered_bytes"])

    def send(self, sparse: socket.socket, to: tuple[str, int]) -> None:
        sparse.sendto(STAMP.pack(time.monotonic_ns()) + bytes(SPARSE_BYTES - STAMP.size), to)
        self.sent += 1

    def receive(self, received: socket.socket) -> None:
        now = time.monotonic_ns()
        with contextlib.suppress(BlockingIOError):
            while data := received.recv(SPARSE_BYTES):
                self.delays_ms.append((now - STAMP.unpack_from(data)[0]) / 1e6)

    def pass_time(self, seconds: float) -> None:
        self.loop.run(time.monotonic_ns() + int(seconds * 1e9))


def main(kind: str, congestion: str, name: str = "", path: str = "", given: str = "") -> None:
    if name:
        Module(name, path).load()
    with open(os.environ["DCFLAB_RUN"] + "/plan.json") as file:
        net = Net.from_plan(json.load(file))
    with net:
        net.start()
        print(json.dumps(Bottleneck(net, kind, congestion, bytes.fromhex(given)).run()))


if __name__ == "__main__":
    main(*sys.argv[1:])
