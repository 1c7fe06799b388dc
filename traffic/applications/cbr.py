# SPDX-License-Identifier: BSD-3-Clause
"""Constant bit rate: a UDP datagram every `interval_s`, whatever becomes of those before.

With its defaults it offers 1.9 Mb/s, more than a string at 2 Mb/s carries: a saturated source without TCP's reactions.
Each datagram has its number, so one that arrives twice is counted once; by its TTL the receiver knows over how many
hops it came, where the routing counts them so.
"""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import time
from typing import Any, ClassVar

from traffic import applications
from traffic.host import Host

IP_RECVTTL = 12  # <linux/in.h>; socket has no name for it
NUMBER = 4  # bytes, at the begin of each datagram


class Application(applications.Application):
    """One stream of datagrams."""

    settings: ClassVar = {"datagram_bytes": 1448, "interval_s": 0.006}
    sockets: tuple[socket.socket, ...] = ()

    def prepare(self) -> None:
        self.sent = self.hops = 0
        self.arrived = set[bytes]()  # their numbers
        self.size = self.plan["datagram_bytes"]
        self.sender, self.receiver = self.sockets = self.udp(self.source), self.udp(self.destination)
        if self.size < NUMBER:
            raise OSError(f"a datagram has at least the {NUMBER} bytes of its number, not {self.size}")
        self.receiver.bind(("", self.plan["port"]))
        self.receiver.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        self.ttl = self.sender.getsockopt(socket.IPPROTO_IP, socket.IP_TTL)
        self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)

    def udp(self, host: Host) -> socket.socket:
        with host:
            return socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)

    def start(self) -> None:
        self.begun = time.monotonic_ns()
        self.send()

    def send(self) -> None:
        """Send one, and again after the interval; the n-th is due n intervals after the first."""
        with contextlib.suppress(BlockingIOError):  # the socket's buffer is full: it is lost before it has left
            datagram = self.sent.to_bytes(NUMBER).ljust(self.size, b"\0")
            self.sender.sendto(datagram, (self.destination.IP(), self.plan["port"]))
        self.sent += 1
        self.loop.at(self.begun + round(self.sent * self.plan["interval_s"] * 1e9), self.send)

    def receive(self) -> None:
        datagram, ((_, _, ttl),), *_ = self.receiver.recvmsg(self.size, socket.CMSG_SPACE(4))
        if datagram[:NUMBER] not in self.arrived:
            self.arrived.add(datagram[:NUMBER])
            self.hops += self.ttl - int.from_bytes(ttl, sys.byteorder) + 1

    def finish(self) -> dict[str, Any]:
        return {
            "sent": self.sent,
            "arrived": len(self.arrived),
            "hops_mean": self.hops / len(self.arrived) if self.arrived else None,
            "delivered_bytes": len(self.arrived) * self.size,
        }

    def close(self) -> None:
        for end in self.sockets:
            self.loop.forget(end.fileno())
            end.close()
