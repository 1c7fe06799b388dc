# SPDX-License-Identifier: BSD-3-Clause
"""The workout's network: six nodes, a string of five with a detour around its middle, with flows and a crowd.

This file has the events of the network itself: flows begin, routes change, a node leaves and returns.
"""

from __future__ import annotations

import errno
import time
from random import Random

from emulation.features.check.inside import Name
from emulation.features.check.inside.crowd import Crowd, IntermittentFlow, SlowReader, Stream
from emulation.lane.netlink import NetlinkError
from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emulation.features.check.inside.job import Job
    from emulation.lane.net import Net
    from emulation.lane.node import Node

FEW = ((Stream, 1, 5), (Stream, 5, 1), (Stream, 4, 1))
MANY = (
    *((Stream, 1, 5), (Stream, 2, 4), (Stream, 5, 2), (Stream, 1, 3), (Stream, 3, 1)),
    *((IntermittentFlow, 1, 4), (IntermittentFlow, 5, 2), (SlowReader, 3, 5), (SlowReader, 4, 1)),
)
ONE_RENO_IN = 3  # with many flows, one in this many uses Reno, for comparison
FIRST_S, QUIET_S, CONTENTION_S, OUTAGE_S, RECOVERY_S = 2.0, 4.0, 6.0, 5.0, 6.0
FREE_S, WATCHED_S, TIMEOUT_S, REGAIN_S = 0.5, 0.5, 0.6, 2.4  # of a flow over a link without losses
SAMPLE_INTERVAL_S = 0.1
ROUTE_CHANGES, SHORT, CHANGES_S = 12, 300, 6.0  # number within the time
SOME_BYTES = 40_000
CHECK_INTERVAL_NS = 500_000_000
METRICS = (0, 1, 3, 4, 7, 15, 2**31, 2**32 - 1)  # of routes: hop counts, and the limits of the range


class Playground:
    """The network, and everything that happens in it, in one loop. `controls` are the congestion controls in use."""

    def __init__(self, net: Net, job: Job) -> None:
        self.net, self.job = net, job
        self.nodes = list(net.nodes.values())
        self.random = Random(job.settings["seed"])
        self.loop = Loop()
        self.controls = ["reno"]
        self.flows: list[Stream] = []  # that use the module
        self.reno_flows: list[Stream] = []  # that do not, unless all traffic does
        self.crowd = Crowd(self.nodes, self.loop, self.random)
        self.count = 0
        self.zero_window_found = False  # whether some flow's congestion window was 0

    def run(self, seconds: float) -> None:
        """Let time pass, and check that every flow may send."""
        end = time.monotonic_ns() + int(seconds * 1e9)
        while (now := time.monotonic_ns()) < end:
            self.loop.run(min(end, now + CHECK_INTERVAL_NS))
            stuck = () if self.zero_window_found else (flow for flow in self.flows if flow.has_zero_window())
            if flow := next(iter(stuck), None):
                self.zero_window_found = True
                self.job.find(Name.STALLED_TRAFFIC, f"the congestion window of {flow.name} is 0")

    def at_random_times(self, count: int, seconds: float, action: Callable[[], None]) -> None:
        """Do something `count` times at random within the next seconds, and let them pass."""
        now = time.monotonic_ns()
        for after_s in sorted(self.random.uniform(0, seconds) for _ in range(count)):
            self.loop.at(now + int(after_s * 1e9), action)
        self.run(seconds)

    # Flows.

    def flow(self, source: int, destination: int, congestion: str = "", kind: type[Stream] = Stream) -> Stream:
        """Return a new flow that listens. Its port was never used: earlier connections may still be in TIME-WAIT."""
        self.count += 1
        congestion = congestion or self.controls[self.count % len(self.controls)]
        ends = self.nodes[source - 1], self.nodes[destination - 1]
        made = kind(self.count, congestion, *ends, self.loop, self.random)
        made.prepare()
        return made

    def begin(self, flows: Sequence[tuple[type[Stream], int, int]], with_reno: bool = False) -> None:
        """Start more long flows."""
        for number, (kind, source, destination) in enumerate(flows):
            is_reno = with_reno and number % ONE_RENO_IN == 0
            flow = self.flow(source, destination, "reno" if is_reno else "", kind)
            flow.start()
            (self.reno_flows if is_reno else self.flows).append(flow)

    def deliver_alone(self, congestion: str) -> int:
        """Return the bytes that one flow over the whole string delivers alone, after its first window."""
        flow = self.flow(1, 5, congestion)
        flow.start()
        self.run(FIRST_S)
        first = int(flow.finish()["delivered_bytes"])
        self.run(QUIET_S)
        delivered = int(flow.finish()["delivered_bytes"]) - first
        flow.close()
        return delivered

    def after_timeout(self, congestion: str) -> tuple[int, int]:
        """Return a flow's congestion windows over one hop without losses: the mean, and the largest after an outage
        that is long enough for timeouts; in segments."""
        flow = self.flow(1, 2, congestion)
        flow.start()
        self.run(FREE_S)
        before = self.windows(flow, WATCHED_S)
        self.take_down(self.nodes[1], TIMEOUT_S)
        after = self.windows(flow, REGAIN_S)
        flow.close()
        return sum(before) // len(before), max(after)

    def windows(self, flow: Stream, seconds: float) -> list[int]:
        """Let time pass; return a flow's congestion windows."""
        found = []
        for _ in range(round(seconds / SAMPLE_INTERVAL_S)):
            self.run(SAMPLE_INTERVAL_S)
            found.append(flow.window())
        return found

    def loopback(self) -> None:
        """Send to the own node: the round-trip time is 0."""
        for name in self.controls:
            flow = self.flow(1, 1, name)
            flow.unsent = flow.bytes = SOME_BYTES
            flow.start()
            self.run(SAMPLE_INTERVAL_S)
            flow.close()

    def acknowledged(self) -> int:
        """Return the acknowledged bytes of all long flows."""
        return sum(flow.acknowledged() for flow in (*self.flows, *self.reno_flows))

    def contention(self) -> None:
        self.run(CONTENTION_S)

    def short_connections(self) -> None:
        self.at_random_times(SHORT, CHANGES_S, self.crowd.begin)
        self.job.results["short"] = self.crowd.begun

    def finish(self, timeout_s: float) -> list[Stream]:
        """Stop all writing, and wait for written data to arrive. Return the module's flows that are stuck, if the Reno
        flows beside them are not."""
        for flow in (*self.flows, *self.reno_flows):
            flow.stop()
        deadline = time.monotonic() + timeout_s
        while any(flow.pending() for flow in (*self.flows, *self.reno_flows)) and time.monotonic() < deadline:
            self.run(1)
        reno_is_stuck = any(flow.pending() for flow in self.reno_flows)
        return [] if reno_is_stuck else [flow for flow in self.flows if flow.pending()]

    def close(self) -> None:
        """Close all connections."""
        for flow in (*self.flows, *self.reno_flows):
            flow.close()
        self.crowd.close()
        self.run(1)

    # The network.

    def reroutes(self) -> None:
        """Change the paths and metrics of routes that flows use."""
        self.at_random_times(ROUTE_CHANGES, CHANGES_S, self.reroute)

    def reroute(self) -> None:
        at, to = self.random.choice([(1, 5), (5, 1), (2, 5), (2, 4), (4, 1), (4, 2)])
        next_hop = {1: 2, 5: 4}.get(at) or self.random.choice((3, 6))
        target, via = (self.nodes[number - 1].IP() for number in (to, next_hop))
        metric = self.random.choice(METRICS)
        self.job.say(f"route at sta{at} to {target} via {via} metric {metric}")
        change_route(self.nodes[at - 1], target, via, metric)

    def outage(self) -> None:
        """Remove a node in the middle of the string, long enough for timeouts, and bring it back."""
        self.take_down(self.nodes[self.random.choice((1, 2, 3))], OUTAGE_S)
        self.run(RECOVERY_S)

    def take_down(self, node: Node, seconds: float) -> None:
        """Remove a node, and bring it back."""
        interface, link = node.radio, self.net.link_of(node.radio)
        self.job.say(f"{interface.name} down")
        link.leave(interface)
        self.run(seconds)
        self.job.say(f"{interface.name} up")
        link.rejoin(interface)
        assert self.net.routing
        self.net.routing.restore(node)


def change_route(node: Node, to: str, via: str, metric: int) -> None:
    try:
        node.route.delete_route(to)
    except NetlinkError as error:
        if error.errno != errno.ESRCH:
            raise
    node.route.add_route(node.radio.index, f"{to}/32", None if via == to else via, metric=metric)
