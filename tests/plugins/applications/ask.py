# SPDX-License-Identifier: BSD-3-Clause
"""Requests over one TCP connection: each gets `answer_bytes`, and the next follows `think_s` after that."""

from __future__ import annotations

import select
import socket
import time
from typing import Any, ClassVar

from traffic import applications, sockets

QUESTION = b"?"


class Application(applications.Application):
    """The source sends requests, the destination answers."""

    settings: ClassVar = {"answer_bytes": 10_000, "think_s": 0.2}

    def prepare(self) -> None:
        self.took_s: list[float] = []
        self.sockets: list[socket.socket] = []
        self.listener = sockets.tcp(self.destination, self.plan)
        self.listener.bind(("", self.plan["port"]))
        self.listener.listen(1)
        self.sockets.append(self.listener)
        self.loop.watch(self.listener.fileno(), select.EPOLLIN, self.accept)

    # The destination waits for a request, and then for room to write.

    def accept(self) -> None:
        self.server, _ = self.listener.accept()
        self.server.setblocking(False)
        self.sockets.append(self.server)
        self.loop.watch(self.server.fileno(), select.EPOLLIN, self.asked)

    def asked(self) -> None:
        if self.server.recv(len(QUESTION)):
            self.unsent = self.plan["answer_bytes"]
            self.loop.watch(self.server.fileno(), select.EPOLLOUT, self.answer)

    def answer(self) -> None:
        self.unsent -= self.server.send(bytes(self.unsent))
        if not self.unsent:
            self.loop.watch(self.server.fileno(), select.EPOLLIN, self.asked)

    # The source waits for the connection, for the answer, and for the time of the next request.

    def start(self) -> None:
        self.client = sockets.tcp(self.source, self.plan)
        self.sockets.append(self.client)
        self.client.connect_ex((self.destination.IP(), self.plan["port"]))
        self.loop.watch(self.client.fileno(), select.EPOLLOUT, self.ask)

    def ask(self) -> None:
        self.loop.forget(self.client.fileno())
        if self.client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return  # the destination cannot be reached
        self.client.send(QUESTION)
        self.asked_ns, self.missing = time.monotonic_ns(), self.plan["answer_bytes"]
        self.loop.watch(self.client.fileno(), select.EPOLLIN, self.hear)

    def hear(self) -> None:
        self.missing -= len(self.client.recv(self.missing))
        if not self.missing:
            now = time.monotonic_ns()
            self.took_s.append((now - self.asked_ns) / 1e9)
            self.loop.forget(self.client.fileno())
            self.loop.at(now + int(self.plan["think_s"] * 1e9), self.ask)

    # The result.

    def finish(self) -> dict[str, Any]:
        answers = len(self.took_s)
        return {
            "congestion": self.plan["congestion"],
            "delivered_bytes": answers * self.plan["answer_bytes"],
            "answers": answers,
            "answer_s": sum(self.took_s) / answers if answers else None,
        }

    def close(self) -> None:
        for each in self.sockets:
            self.loop.forget(each.fileno())
            sockets.abort(each)  # so that the port is free at once
