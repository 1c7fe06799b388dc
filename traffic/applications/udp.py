# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams at a rate, whether earlier ones arrive or not: at constant intervals, as a Poisson process, or in bursts.

By default it offers 1.9 Mb/s, more than a string at 2 Mb/s carries: a saturated source without TCP's reactions. Each
datagram begins with its number, so its delay is known exactly (`traffic.datagrams`). Its TTL tells the receiver the
number of hops, if the routing decrements it.

Datagrams with constant intervals below 0.25 ms are sent in bursts, each of those of 0.5 ms: one system call sends
them, as in programs that send so fast.
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
    from collections.abc import Iterator
    from typing import Any, ClassVar

IP_RECVTTL = 12  # <linux/in.h>; socket has no name for it
NUMBER = struct.Struct("=Q")
LONGEST_S = 3600.0
AT_ONCE_S = 0.0005  # legacy rates do not carry two datagrams of full size in this time


class Application(applications.Application):
    """One stream of datagrams."""

    heeds = ("bytes", "tos", "start_s", "stop_s", "port")
    settings: ClassVar = {
        "datagram_bytes": Setting(1448, NUMBER.size, 65_507),
        "interval_s": Setting(0.006, 1e-5, LONGEST_S),  # the mean, for a Poisson process
        "rate_kbps": Setting(None, 0.001, 1e6, of=float),  # instead of interval_s; while it is on
        "arrivals": Setting("constant", words=arrivals.ARRIVALS),
        "burst": Setting(None, 1, many.MOST, of=int),  # datagrams sent at one time
        "on_s": Setting(1.0, 1e-3, LONGEST_S),  # means, for onoff
        "off_s": Setting(1.0, 0, LONGEST_S),
    }
    sender: socket.socket | None = None
    receiver: socket.socket | None = None
    error: str | None = None

    def prepare(self) -> None:
        self.datagrams = Datagrams()
        self.rest = bytes(self.plan["datagram_bytes"] - NUMBER.size)
        self.many = many.Receiver(NUMBER.size)
        self.sender, self.receiver = (sockets.udp(host, self.plan) for host in (self.source, self.destination))
        self.receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        self.ttl = self.sender.getsockopt(socket.IPPROTO_IP, socket.IP_TTL)
        self.receiver.bind(("", self.plan["port"]))
        self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)

    def start(self) -> None:
        plan = self.plan
        rate = plan["rate_kbps"]
        interval_s = plan["interval_s"] if rate is None else plan["datagram_bytes"] * 8 / (rate * 1000)
        self.burst = plan["burst"] or 1
        if plan["burst"] is None and plan["arrivals"] == "constant":
            self.burst = min(max(int(AT_ONCE_S / interval_s), 1), many.MOST)
        if self.burst > 1:
            self.all = many.Sender((self.destination.IP(), plan["port"]), self.burst, plan["datagram_bytes"])
        random = arrivals.stream(plan["seed"], plan["name"])
        self.due = arrivals.due(plan["arrivals"], self.burst * interval_s, plan["on_s"], plan["off_s"], random)
        self.next(self.due)

    def next(self, due: Iterator[int]) -> None:
        if not self.over():
            self.loop.at(self.started_ns + next(due), self.send)

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
        count, amount, now_ns = self.burst, self.plan["bytes"], time.monotonic_ns()
        if amount is not None:
            left = amount - len(self.datagrams.sent_ns) * self.plan["datagram_bytes"]
            count = min(count, -(-left // self.plan["datagram_bytes"]))
        for place in range(count):
            self.all.begin(place, NUMBER.pack(self.datagrams.send(now_ns)))
        self.all.send(self.sender, count)

    def receive(self) -> None:
        assert self.receiver
        for received, ttl in self.many.receive(self.receiver):
            number = NUMBER.unpack(received)[0] if len(received) == NUMBER.size else len(self.datagrams.sent_ns)
            if number < len(self.datagrams.sent_ns):  # else another sender sent it
                self.datagrams.arrive(number, time.monotonic_ns(), self.ttl - ttl + 1)

    def sample(self) -> dict[str, Any]:
        found = self.datagrams.sample()
        return {"delivered_bytes": found["arrived"] * self.plan["datagram_bytes"], **found}

    def finish(self) -> dict[str, Any]:
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
