# SPDX-License-Identifier: BSD-3-Clause
"""A datagram every `interval_s`, and how many of them arrive."""

from __future__ import annotations

import select
import socket
import time
from typing import Any, ClassVar

from traffic import applications
from traffic.host import Host

SIZE = 100  # bytes


class Application(applications.Application):
    """One stream of datagrams."""

    settings: ClassVar = {"interval_s": 0.1}

    def prepare(self) -> None:
        self.sent = self.arrived = 0
        self.sender, self.receiver = self.udp(self.source), self.udp(self.destination)
        self.receiver.bind(("", self.plan["port"]))
        self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)

    def udp(self, host: Host) -> socket.socket:
        with host:
            return socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)

    def start(self) -> None:
        """Send one, and start again after the interval."""
        self.sender.sendto(bytes(SIZE), (self.destination.IP(), self.plan["port"]))
        self.sent += 1
        self.loop.at(time.monotonic_ns() + int(self.plan["interval_s"] * 1e9), self.start)

    def receive(self) -> None:
        self.receiver.recv(SIZE)
        self.arrived += 1

    def finish(self) -> dict[str, Any]:
        return {"sent": self.sent, "arrived": self.arrived, "delivered_bytes": self.arrived * SIZE}

    def close(self) -> None:
        self.loop.forget(self.receiver.fileno())
        self.sender.close()
        self.receiver.close()
