# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams at a rate, whether earlier ones arrive or not: at constant intervals, as a Poisson process, or in bursts.

By default it offers 1.9 Mb/s, more than a string at 2 Mb/s carries: a saturated source without TCP's reactions. Each
datagram begins with its number, so its delay is known exactly (`traffic.datagrams`). Its TTL tells the receiver the
number of hops, if the routing decrements it.

Datagrams with constant intervals of 0.25 ms or less are sent in bursts, each of those of 1 ms, as by iperf3: one system
call sends them.

With `arrivals=saturated` it sends whenever half of its socket's buffer is free, until it is full, as a program does
whose sends block. So a radio with a mode (`docs/ht.md`) always has something to send. The queue of a legacy radio drops
what it has no room for. Nothing holds the datagrams of a wire back: there it sends 1024 every 50 ms.

With `batches=on` the sender gives the kernel up to 64 kB of datagrams as one (UDP_SEGMENT), as servers of HTTP/3 do:
they are one packet in queueing disciplines, and a radio gets them one by one. By default saturated sources have
batches, and those that send in bursts each millisecond.

The receiver reads after about 1024 datagrams, or 0.5 s, and may get many as one (UDP_GRO). The kernel notes when each
of them arrives. The socket's buffer is large: it loses nothing of a long aggregate.

If all flows of a run have them, a radio with a mode passes on as one what it receives of a flow at one time
(`rx-udp-gro-forwarding` of ethtool). Wires without a queueing discipline carry it so.
"""

from __future__ import annotations

import select
import socket
import struct
import time

from traffic import applications, arrivals, many, sockets
from traffic.datagrams import Datagrams
from traffic.settings import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, ClassVar

IP_RECVTTL = 12  # <linux/in.h>; socket has no name for it
NUMBER = struct.Struct("=Q")
SATURATED = "saturated"
CALL_MOST = 4  # batches that a saturated source sends by one call; a socket of the default size takes two
LONGEST_S = 3600.0
AT_ONCE_MOST = 1024  # of a saturated source at one time; a socket of the default size holds 92 of full size
AT_ONCE_S, FAST_S = 0.001, 0.00025  # legacy rates do not carry a datagram of full size in FAST_S


class Application(applications.Application):
    """One stream of datagrams."""

    heeds = ("bytes", "tos", "start_s", "stop_s", "port")
    settings: ClassVar = {
        "datagram_bytes": Setting(1448, NUMBER.size, 65_507),
        "interval_s": Setting(0.006, 1e-5, LONGEST_S),  # the mean, for a Poisson process
        "rate_kbps": Setting(None, 0.001, 1e6, of=float),  # instead of interval_s; while it is on
        "arrivals": Setting("constant", words=(*arrivals.ARRIVALS, SATURATED)),
        "burst": Setting(None, 1, AT_ONCE_MOST, of=int),  # datagrams sent at one time
        "batches": Setting(None, words=("on", "off"), of=str),
        "send_buffer": "auto",  # a common setting
        "on_s": Setting(1.0, 1e-3, LONGEST_S),  # means, for onoff
        "off_s": Setting(1.0, 0, LONGEST_S),
    }
    sender: socket.socket | None = None
    receiver: socket.socket | None = None
    late: many.LateReader | None = None
    error: str | None = None
    filled_ns, filled = -1, 0  # how many a saturated source sent at this time

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        if settings["arrivals"] == SATURATED and settings["rate_kbps"] is not None:
            raise ValueError("rate_kbps: a saturated source has no rate")

    def prepare(self) -> None:
        rate, size = self.plan["rate_kbps"], self.plan["datagram_bytes"]
        self.interval_s = self.plan["interval_s"] if rate is None else size * 8 / (rate * 1000)
        usual = self.plan["arrivals"] == SATURATED or self.is_fast()
        self.batches = usual if self.plan["batches"] is None else self.plan["batches"] == "on"
        self.datagrams = Datagrams()
        self.rest = bytes(self.plan["datagram_bytes"] - NUMBER.size)
        self.sender, self.receiver = (sockets.udp(host, self.plan) for host in (self.source, self.destination))
        self.receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        self.ttl = self.sender.getsockopt(socket.IPPROTO_IP, socket.IP_TTL)
        self.receiver.bind(("", self.plan["port"]))
        if self.plan["send_buffer"]:
            self.sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.plan["send_buffer"])
        self.late = many.LateReader(self.loop, self.receiver, self.plan["datagram_bytes"], self.arrive)

    def start(self) -> None:
        plan = self.plan
        if plan["arrivals"] == SATURATED:
            assert self.sender
            usual = CALL_MOST * many.together(plan["datagram_bytes"]) if self.batches else many.MOST
            self.burst = plan["burst"] or usual
            self.all = self.batch()
            self.loop.watch(self.sender.fileno(), select.EPOLLOUT, self.fill)
            return
        self.burst = min(int(AT_ONCE_S / self.interval_s), many.MOST) if self.is_fast() else plan["burst"] or 1
        if self.burst > 1:
            self.all = self.batch()
        random = arrivals.stream(plan["seed"], plan["name"])
        self.due = arrivals.due(plan["arrivals"], self.burst * self.interval_s, plan["on_s"], plan["off_s"], random)
        self.next(self.due)

    def is_fast(self) -> bool:
        """Return whether it sends in bursts without being told to."""
        return self.plan["burst"] is None and self.plan["arrivals"] == "constant" and self.interval_s <= FAST_S

    def next(self, due: Iterator[int]) -> None:
        if not self.over():
            self.loop.at(self.started_ns + next(due), self.send)

    def batch(self) -> many.Sender:
        to, size = (self.destination.IP(), self.plan["port"]), self.plan["datagram_bytes"]
        return many.Sender(to, self.burst, size, self.batches)

    def left(self) -> int:
        """Return how many datagrams of a burst there are left to send."""
        amount, size = self.plan["bytes"], self.plan["datagram_bytes"]
        return self.burst if amount is None else min(self.burst, -(-amount // size) - len(self.datagrams.sent_ns))

    def over(self) -> bool:
        """Return whether everything has been sent."""
        amount, sent = self.plan["bytes"], len(self.datagrams.sent_ns) * self.plan["datagram_bytes"]
        return amount is not None and sent >= amount

    def send(self) -> None:
        """Send a datagram, or a burst of them, and schedule the next."""
        assert self.sender
        try:
            if self.burst > 1:
                self.send_burst()
            else:
                number = self.datagrams.send(time.monotonic_ns())
                self.sender.sendto(NUMBER.pack(number) + self.rest, (self.destination.IP(), self.plan["port"]))
        except BlockingIOError:
            pass  # the socket's buffer is full: it is lost before it is sent
        except OSError as error:  # there is no route
            self.error = self.error or error.strerror
        self.next(self.due)

    def send_burst(self) -> None:
        """Send a burst, the last one as far as there is something left to send. Raises OSError."""
        assert self.sender
        count, first = self.left(), len(self.datagrams.sent_ns)
        self.datagrams.send_many(count, time.monotonic_ns())
        self.all.send(self.sender, first, count)

    def fill(self) -> None:
        """Send until the socket is full."""
        assert self.sender
        now_ns = time.monotonic_ns()
        if self.filled_ns != now_ns:
            self.filled_ns, self.filled = now_ns, 0
        try:
            while count := min(self.left(), AT_ONCE_MOST - self.filled):
                taken = self.all.send(self.sender, len(self.datagrams.sent_ns), count)
                self.datagrams.send_many(taken, now_ns)
                self.filled += taken
                if taken < count:
                    return
        except BlockingIOError:
            return
        except OSError as error:  # there is no route
            self.error = self.error or error.strerror
        if self.over():
            self.loop.forget(self.sender.fileno())
        else:
            sockets.wait_for_memory(self.loop, self.sender, self.fill)

    def arrive(self, found: many.Arrivals) -> None:
        numbers, ttls, times_ns = found
        if ttls and ttls.count(ttls[0]) == len(ttls):
            hops = [self.ttl - ttls[0] + 1] * len(ttls)
        else:
            hops = [self.ttl - ttl + 1 for ttl in ttls]
        self.datagrams.arrive_many(numbers, hops, times_ns)

    def sample(self) -> dict[str, Any]:
        assert self.late
        self.late.read()
        found = self.datagrams.sample()
        return {"delivered_bytes": found["arrived"] * self.plan["datagram_bytes"], **found}

    def finish(self) -> dict[str, Any]:
        assert self.late
        self.late.read()
        found, now_ns = self.datagrams.report(), time.monotonic_ns()
        last_s = self.since_start_s(self.datagrams.last_ns) if found["arrived"] else None
        complete = self.over() and found["arrived"] == found["sent"]
        return {
            "delivered_bytes": found["arrived"] * self.plan["datagram_bytes"],
            "finished_s": last_s if complete else None,
            "error": None if found["arrived"] else self.error,
            "last_s": last_s,
            "waiting_s": None if self.over() else self.datagrams.waiting_s(now_ns),
            "datagrams": found,
        }

    def close(self) -> None:
        for each in (self.sender, self.receiver):
            if each:
                self.loop.forget(each.fileno())
                each.close()
