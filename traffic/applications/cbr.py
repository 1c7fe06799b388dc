# SPDX-License-Identifier: BSD-3-Clause
"""Constant bit rate: a UDP datagram every `interval_s`, whatever becomes of those before.

With its defaults it offers 1.9 Mb/s, more than a string at 2 Mb/s carries: a saturated source without TCP's reactions.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import Any, ClassVar

from traffic import applications
from traffic.host import Host


class Application(applications.Application):
    """One stream of datagrams."""

    settings: ClassVar = {"datagram_bytes": 1448, "interval_s": 0.006}

    def prepare(self) -> None:
        self.sent = self.arrived = 0
        self.datagram = bytes(self.plan["datagram_bytes"])
        self.sender, self.receiver = self.udp(self.source), self.udp(self.destination)
        self.receiver.bind(("", self.plan["port"]))
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
            self.sender.sendto(self.datagram, (self.destination.IP(), self.plan["port"]))
        self.sent += 1
        self.loop.at(self.begun + round(self.sent * self.plan["interval_s"] * 1e9), self.send)

    def receive(self) -> None:
        self.receiver.recv(len(self.datagram))
        self.arrived += 1

    def finish(self) -> dict[str, Any]:
        return {
            "sent": self.sent,
            "arrived": self.arrived,
            "delivered_bytes": self.arrived * len(self.datagram),
        }

    def close(self) -> None:
        self.loop.forget(self.receiver.fileno())
        self.sender.close()
        self.receiver.close()
