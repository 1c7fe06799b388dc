# SPDX-License-Identifier: BSD-3-Clause
"""What a qdisc does with datagrams of known flows: which come out, when, in which order, and with which mark.

All pass the loopback of a node, below a token bucket or at the root, with no other traffic. So a few sentences hold for
each qdisc, whatever its policy: equal flows stay in order and all get something, nothing is left when nothing comes any
more, and a flow is not better off because it has a lower priority, or does not use ECN.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from typing import NamedTuple

from emulation.features.check.inside import Name, queues, setups
from emulation.features.check.inside.children import FIRST, HANDLE
from emulation.features.check.inside.crowd import datagrams
from emulation.features.check.inside.devices import Loopback
from emulation.lane.netlink import NetlinkError
from emulation.lane.node import LOOPBACK
from emulation.lane.rtnetlink import ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.features.check.inside.job import Job
    from emulation.features.check.inside.playground import Playground
    from emulation.features.check.inside.queues import Queues

ADDRESS, TO, FROM, TAG = "127.0.9.9", 7100, 7000, struct.Struct("!HH")  # a datagram's flow and number
MTU, HEADERS = 1500, 42  # bytes: Ethernet, IPv4, UDP
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_MAX_PACING_RATE, IP_RECVTOS = 32, 33, 47, 13
ROOM = 1 << 22  # bytes: more than all datagrams take
ECT, CE = 2, 3
STEP_S, QUIET_S, LONGEST_S = 0.02, 1.0, 8.0
RATE = 100_000  # bytes/s of the bucket
BULK, INTERACTIVE = 2, 6  # TC_PRIO_*
ENOUGH = 40  # departures of which something can be said
LATER, INSTANT_US = 1.1, 50  # how much a time that should not be later may be
SIGNALS = 5  # marks or drops
PACED, CLOSE = 10_000, 0.8  # bytes/s; fraction of the interval
INEXACT = 0.15  # of a rate
LIMITS = (3, 10, 20)  # of a queue that gets more


class Flow(NamedTuple):
    """The datagrams of one port: their number, size, priority, whether they use ECN, the socket's pacing rate, the part
    of the time in which they are sent, and how many go as segments of one packet."""

    packets: int
    size: int = 1000
    priority: int = 0
    ecn: bool = False
    pacing: int = 0
    begins: float = 0.0
    ends: float = 1.0
    together: int = 1

    def sent_at(self, serial: int) -> float:
        return self.begins + (self.ends - self.begins) * serial / self.packets


class Departure(NamedTuple):
    time_us: int
    flow: int
    serial: int
    tos: int


class Seen(NamedTuple):
    """What came out, and the queue's length after the last datagram was sent."""

    departures: list[Departure]
    queued: int

    def of(self, flow: int) -> list[Departure]:
        return [one for one in self.departures if one.flow == flow]


EQUAL = tuple(Flow(40, ecn=number > 1) for number in range(4))
PRIORITIES = Flow(40, priority=BULK), Flow(40, priority=INTERACTIVE)
FEW = tuple(Flow(10, priority=priority) for priority in (0, 1, BULK, INTERACTIVE))
# One flow sends much, before, beside and after three that send little. The first part is more than hhf's 128 kB.
UNEVEN = Flow(400), *(Flow(34, begins=0.375, ends=0.625),) * 3
OVERTAKING = 50  # packets
# One flow sends all at once. Eight take turns, and together send as much as passes.
WAITING, COMING = Flow(60, ends=0.0), tuple(Flow(12, begins=at / 96, ends=1 + at / 96) for at in range(8))
COMING_S, FROM_US, STARVED, LEFT = 1.0, 100_000, 3, 10  # a burst passes before; packets
SEGMENTED = (Flow(24, together=8), Flow(10))
OVERLOAD, OVERLOAD_S = 50, 1.0  # datagrams of four flows of 500 bytes; over this time


class Departures:
    """The qdisc under test at a node's loopback."""

    def __init__(self, of: Queues, playground: Playground, job: Job) -> None:
        self.queues, self.playground, self.job = of, playground, job
        self.kind = of.kind or ""
        self.node: Any = Loopback(playground.nodes[-1])
        self.told: set[Name] = set()

    def departures(self) -> None:
        """Check everything."""
        self.node.route.set_link(LOOPBACK, mtu=MTU)
        checks = (self.equal_flows, self.light_flows, self.waiting_flow, self.segments, self.priorities,
                  self.pacing, self.changes, self.signals)  # fmt: skip
        for check in checks:
            self.job.say(f"departures: {check.__name__.replace('_', ' ')}")
            check()
        with contextlib.suppress(NetlinkError):
            queues.put(self.node, "pfifo")
        self.node.route.set_link(LOOPBACK, mtu=1 << 16)

    def find(self, text: str, name: Name = Name.WRONG_ORDER) -> None:
        """Report the first of each kind."""
        if name not in self.told:
            self.told.add(name)
            self.job.find(name, f"{self.kind} {text}")

    # What holds for each qdisc.

    def equal_flows(self) -> None:
        root, below = self.send(EQUAL, ROOT), self.send(EQUAL)
        sent = sum(flow.packets for flow in EQUAL)
        if root and below and root.departures and not below.departures:
            came = f"lets {len(root.departures)} of {sent} datagrams out at the root of a link, and none below a bucket"
            self.find(f"{came}: a token bucket peeks before it takes a packet", Name.STALLED_TRAFFIC)
        if root:
            self.check_rate(root)
        if not below:
            return
        first = below.departures[2 * len(EQUAL) :][: sent // 4]  # some come at once
        starved = [number for number in range(len(EQUAL)) if number not in {one.flow for one in first}]
        if len(first) >= ENOUGH and starved:
            said = f"lets {len(first)} packets of {len(EQUAL) - len(starved)} flows out"
            self.find(f"{said} before any of {len(starved)} others, which sent as much at the same time")

    def check_rate(self, seen: Seen) -> None:
        if not (rate := setups.of(self.kind).rate) or len(seen.departures) < ENOUGH:
            return
        half = seen.departures[len(seen.departures) // 2 :]  # a burst comes first
        took_s, count = (half[-1].time_us - half[0].time_us) / 1e6, len(half) - 1
        measured = count * (EQUAL[0].size + HEADERS) / max(took_s, 1e-6)
        if not (1 - INEXACT) * rate <= measured <= (1 + INEXACT) * rate:
            self.find(f"sends {measured:.0f} bytes/s, where its options say {rate}")

    def light_flows(self) -> None:
        """Check that what a flow sends that sends much does not overtake what others have sent before."""
        if setups.of(self.kind).classes or not (seen := self.send(UNEVEN)):
            return
        order = [(UNEVEN[one.flow].sent_at(one.serial), one.flow) for one in seen.departures]
        last = max((at for at, (_, flow) in enumerate(order) if flow), default=0)
        overtook = sum(not flow and sent > order[last][0] for sent, flow in order[:last])
        if len(order) - len(seen.of(0)) >= ENOUGH and overtook >= OVERTAKING:
            said = f"lets {overtook} packets of a flow that sends much overtake one of a flow that sends little"
            self.find(f"{said}, which came before them")

    def waiting_flow(self) -> None:
        """Check that a flow that waits gets something beside others that come back again and again."""
        if setups.of(self.kind).classes or not (seen := self.send((WAITING, *COMING), over_s=COMING_S)):
            return
        end_us = COMING_S * 1e6
        passed = [one.flow for one in seen.departures if FROM_US <= one.time_us < end_us]
        left = sum(one.time_us >= end_us for one in seen.of(0))
        if passed.count(0) < STARVED and len(passed) >= ENOUGH and left >= LEFT:
            said = f"lets {passed.count(0)} packets of a flow that waits out, and {len(passed) - passed.count(0)}"
            self.find(f"{said} of {len(COMING)} flows that come back again and again")

    def segments(self) -> None:
        """Send packets that are to be segmented; `check_all` looks at what is left."""
        self.send(SEGMENTED, ROOT)

    def priorities(self) -> None:
        if setups.of(self.kind).classes or not (seen := self.send(PRIORITIES)):  # classes may have weights
            return
        bulk, interactive = (seen.of(number) for number in range(2))
        if min(len(bulk), len(interactive)) * 4 < PRIORITIES[0].packets:
            return
        means = [sum(one.time_us for one in flow) / len(flow) / 1000 for flow in (interactive, bulk)]
        if means[0] > LATER * means[1]:
            said = f"packets of priority {INTERACTIVE} (interactive) {means[0]:.0f} ms on average"
            self.find(f"delays {said}, and those of priority {BULK} (bulk) {means[1]:.0f} ms, sent at the same times")

    def pacing(self) -> None:
        """Check that the pacing rate of a socket is kept or ignored."""
        usual, paced = (self.send((Flow(10, pacing=rate),), ROOT) for rate in (0, PACED))
        if not usual or not paced or min(len(usual.departures), len(paced.departures)) < 2:
            return
        times, unpaced = ([one.time_us for one in seen.departures] for seen in (paced, usual))
        if times[-1] - times[0] <= LATER * (unpaced[-1] - unpaced[0]) + INSTANT_US:
            return
        interval_s = (times[-1] - times[-2]) / 1e6  # a burst may come first
        wanted_s = (1000 + HEADERS) / PACED
        if interval_s < CLOSE * wanted_s:
            said = f"one packet in {1000 * interval_s:.3f} ms of a socket with SO_MAX_PACING_RATE of {PACED}"
            self.find(f"sends {said}, which is one in {1000 * wanted_s:.0f} ms; or else it may ignore that rate")

    def changes(self) -> None:
        """Change each option while packets wait. If it is a limit, the queue then holds as much as it says."""
        for what, options in self.choices():
            held = []
            for limit, after in options:
                if seen := self.send(FEW, change=after):
                    held.append(seen.queued - limit)
            if len(held) == len(LIMITS) and set(held) == {1}:
                said = f"with {', '.join(str(limit + 1) for limit in LIMITS)} packets in the queue"
                self.find(f"is full {said} where {what} says {', '.join(map(str, LIMITS))}", Name.WRONG_COUNT)

    def choices(self) -> list[tuple[str, list[tuple[int, bytes]]]]:
        """Return each option that may be a limit, and options with it."""
        setup, (shown, places) = setups.of(self.kind), queues.words(self.node, self.kind)
        found = []
        for at in places:
            after = [(n, shown[:at] + setups.WORD.pack(n) + shown[at + setups.WORD.size :]) for n in LIMITS]
            found.append((f"byte {at} of the options", after))
            found.append((f"byte {at} of the options", [(2, smaller(shown, at, 2))]))
        for number, values in self.queues.accepted.items():
            width = len(values[0])
            small = [(n, setup.options([(number, n.to_bytes(width, "little"))])) for n in LIMITS]
            found.append((f"option {number}", small))
        return found

    def signals(self) -> None:
        """Check that flows with and without ECN both hear of congestion."""
        setup, accepted = setups.of(self.kind), self.queues.accepted
        options = [None, *(setup.options([(flag, (1).to_bytes(len(accepted[flag][0]), "little"))])
                           for flag in sorted(self.queues.flags))]  # fmt: skip
        for one in options:
            counts = []
            for ecn in (True, False):
                flows = (Flow(OVERLOAD, 500, ecn=ecn),) * 4
                if not (seen := self.send(flows, rate=RATE // 2, options=one, over_s=OVERLOAD_S)):
                    break
                marks = sum(departure.tos & CE == CE for departure in seen.departures)
                counts.append((marks, sum(flow.packets for flow in flows) - len(seen.departures)))
            if len(counts) < 2:
                continue
            (marks, lost), (_, dropped) = counts
            if marks + lost >= SIGNALS and not dropped:
                self.find(f"marks {marks} and drops {lost} packets with ECN, and drops none of as many without it")
            elif dropped >= SIGNALS and not marks + lost:
                self.find(f"drops {dropped} packets without ECN, and neither marks nor drops any of as many with it")

    # Sending.

    def send(
        self, flows: Sequence[Flow], parent: int = queues.CHILD, *, rate: int = RATE, options: bytes | None = None,
        change: bytes | None = None, over_s: float = 0.0,
    ) -> Seen | None:  # fmt: skip
        """Send flows through the qdisc: at once, their datagrams in turn, or over some time. If there is a `change`,
        send all once more after it. Return None if the kernel refuses the options."""
        node, loop, found = self.node, self.playground.loop, []  # type: Any, Any, list[Departure]
        try:
            queues.put(node, "pfifo")
            if parent == ROOT:
                queues.put(node, self.kind, options)
            else:
                queues.put_behind_bucket(node, self.kind, rate, options, handle=HANDLE if change else 0)
        except NetlinkError:
            return None
        with contextlib.ExitStack() as stack:
            receiver, *senders = (stack.enter_context(datagrams(node)) for _ in range(1 + len(flows)))
            receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
            receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTOS, 1)
            receiver.bind((ADDRESS, TO))
            for number, (sender, flow) in enumerate(zip(senders, flows, strict=True)):
                sender.bind((ADDRESS, FROM + number))
                sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, ROOM)
                sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT * flow.ecn)
                # A priority may also name a class.
                of_class = HANDLE + FIRST + number % setups.CLASSES if setups.of(self.kind).classes else 0
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, flow.priority or of_class)
                if flow.together > 1:
                    sender.setsockopt(socket.IPPROTO_UDP, queues.UDP_SEGMENT, flow.size)
                if flow.pacing:
                    sender.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, flow.pacing)
            began = time.monotonic_ns()

            def receive() -> None:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        data, more, _, _ = receiver.recvmsg(MTU, 64)
                        now, (at, serial) = (time.monotonic_ns() - began) // 1000, TAG.unpack_from(data)
                        found.append(Departure(now, at, serial, more[0][2][0] if more else 0))

            loop.watch(receiver.fileno(), select.EPOLLIN, receive)
            self.burst(senders, flows, 0, over_s)
            if change is not None:
                if not self.job.attempt("these options now", lambda: queues.put(node, self.kind, change, parent)):
                    loop.forget(receiver.fileno())
                    return None
                with contextlib.suppress(NetlinkError):  # one without children
                    queues.put(node, "pfifo", setups.WORD.pack(1000), HANDLE + FIRST)
                self.burst(senders, flows, 1, 0.0)
            queued = queues.statistics(node, parent)[0]
            left = self.wait(found, parent)
            if options or change:  # which may let packets wait
                left = 0, 0
            loop.forget(receiver.fileno())
        self.job.say(f"departures {[sum(one.flow == at for one in found) for at in range(len(flows))]}, left {left}")
        self.check_all(flows, found, left, in_order=flows == EQUAL)
        return Seen(found, queued)

    def burst(self, senders: Sequence[socket.socket], flows: Sequence[Flow], turn: int, over_s: float) -> None:
        """Send all datagrams, so that each flow has sent the same part of its own at any time."""
        order = sorted((flow.sent_at(n), at, n) for at, flow in enumerate(flows) for n in range(flow.packets))
        began, steps = time.monotonic_ns(), max(1, round(over_s / STEP_S))
        for step in range(steps):
            for when, at, n in order:
                if int(when * steps) != step or n % flows[at].together:
                    continue
                with contextlib.suppress(OSError):  # it may be dropped at once
                    serials = range(turn * flows[at].packets + n, turn * flows[at].packets + n + flows[at].together)
                    data = (TAG.pack(at, serial) + bytes(flows[at].size - TAG.size) for serial in serials)
                    senders[at].sendto(b"".join(data), (ADDRESS, TO))
            if over_s:
                self.playground.loop.run(began + int((step + 1) * STEP_S * 1e9))

    def wait(self, found: Sequence[Departure], parent: int) -> tuple[int, int]:
        """Wait until nothing comes any more. Return the length of the queue, and its bytes."""
        deadline, came = time.monotonic() + LONGEST_S, -1
        while came < len(found) and time.monotonic() < deadline:
            came = len(found)
            self.playground.run(QUIET_S)
        counts = queues.statistics(self.node, parent) if came == len(found) else (0, 0)
        return counts[0], counts[1]

    def check_all(
        self, flows: Sequence[Flow], found: Sequence[Departure], left: tuple[int, int], in_order: bool
    ) -> None:
        """Check order and marks of each flow, and that nothing is left."""
        last: dict[int, int] = {}
        for one in found:
            if in_order and one.serial <= last.get(one.flow, -1):
                self.find(f"lets packet {one.serial} of a flow out after packet {last[one.flow]}, sent later")
            if one.tos & CE == CE and not flows[one.flow].ecn:
                self.find("marks a packet as CE whose sender does not use ECN (Not-ECT), and must drop it instead")
            last[one.flow] = one.serial
        if any(left) and found:
            said = f"counts {left[0]} packets and {left[1]} bytes {QUIET_S:g} s after the last one came out"
            self.find(f"{said}, on an idle link", Name.WRONG_COUNT)


def smaller(options: bytes, at: int, number: int) -> bytes:
    """Return options with a number at a place, and no byte that is not below it: they may index what it counts."""
    low = bytes(min(byte, number - 1) for byte in options)
    return low[:at] + setups.WORD.pack(number) + low[at + setups.WORD.size :]
