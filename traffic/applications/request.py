# SPDX-License-Identifier: BSD-3-Clause
"""Requests and answers over TCP: the source asks, the destination answers, and each answer is timed.

A transaction lasts from when it is due to the last byte of its answer; with a connection of its own, that includes the
handshake. The source thinks before asking again (a closed loop: slow answers reduce their number), or asks as a Poisson
process (an open loop). Sizes of answers and think times are drawn from the flow's own stream, in the order of
transactions. A request says how large its answer should be, so the answering end draws nothing.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time
from functools import partial

from traffic import applications, arrivals, samples, sockets, tcp_info
from traffic.applications.bulk import CHUNK, LOW_WATER, NOWHERE
from traffic.settings import Setting
from traffic.spread import spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

SIZE = struct.Struct("=Q")


class Transaction:
    """A request and its answer; times in ns."""

    def __init__(self, begun_ns: int, size: int) -> None:
        self.begun_ns, self.missing, self.size = begun_ns, size, size
        self.ended_ns: int | None = None
        self.failed: str | None = None  # the reason

    @property
    def took_s(self) -> float | None:
        return None if self.ended_ns is None else (self.ended_ns - self.begun_ns) / 1e9


class Application(applications.Application):
    """The source asks, the destination answers."""

    heeds = ("tcp", "mss", "send_buffer", "receive_buffer", "tos", "start_s", "stop_s", "port")
    settings: ClassVar = {
        "connection": Setting("kept", words=("kept", "new")),  # for all transactions, or one for each
        "transactions": Setting(None, 1, of=int),  # maximum number
        "request_bytes": Setting(200, SIZE.size, 4096),
        "sizes": Setting("fixed", words=arrivals.SIZES),
        "mean_bytes": Setting(1000.0, 1, 1e9),
        "shape": Setting(1.5, 0.01, 10),
        "most_bytes": Setting(100_000_000, 1, 2**40),
        "arrivals": Setting("thinking", words=("thinking", "poisson")),
        "thinking": Setting("fixed", words=("fixed", "exponential")),
        "think_s": Setting(0.1, 0, 1e5),  # the mean; for arrivals poisson, from one to the next
    }

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        if settings["sizes"] == "pareto" and settings["shape"] <= 1:
            raise ValueError(f"shape: pareto sizes have a mean only for a shape above 1, not {settings['shape']:g}")
        if settings["arrivals"] == "poisson" and settings["connection"] == "kept":
            raise ValueError("arrivals: transactions that do not wait for each other need connection=new")
        if settings["arrivals"] == "poisson" and not settings["think_s"]:
            raise ValueError("think_s: with arrivals poisson it is the mean time between two, and must be above 0")

    def prepare(self) -> None:
        self.random = arrivals.stream(self.plan["seed"], self.plan["name"])
        self.transactions: list[Transaction] = []
        self.open: dict[socket.socket, Transaction | None] = {}  # the asking ends
        self.answering: list[socket.socket] = []  # the answering ends, the newest last
        self.delivered = self.retransmits = self.last_ns = 0
        self.congestion = ""
        self.listener = sockets.tcp(self.destination, self.plan)
        self.listener.bind(("", self.plan["port"]))
        self.listener.listen(1024)
        self.loop.watch(self.listener.fileno(), select.EPOLLIN, self.accept)

    def watch(self, of: socket.socket, events: int, callback: Callable[..., None], *what: Any) -> None:
        self.loop.watch(of.fileno(), events, lambda: callback(of, *what))

    # The destination waits for a request, and then for room to write the answer.

    def accept(self) -> None:
        made, _ = self.listener.accept()
        made.setblocking(False)
        self.answering.append(made)
        self.watch(made, select.EPOLLIN, self.asked, b"")

    def asked(self, server: socket.socket, before: bytes) -> None:
        try:
            more = server.recv(self.plan["request_bytes"] - len(before))
        except OSError:
            more = b""
        request = before + more
        if not more:
            self.retire(server)
        elif len(request) < self.plan["request_bytes"]:
            self.watch(server, select.EPOLLIN, self.asked, request)
        else:
            self.answer(server, *SIZE.unpack_from(request))

    def answer(self, server: socket.socket, unsent: int, had: int = 0) -> None:
        """Write the rest of an answer; the previous time there was room, `had` bytes of it were unsent."""
        try:
            while unsent:
                unsent -= server.send(CHUNK[:unsent])
        except BlockingIOError:
            if unsent == had:
                again = partial(self.answer, server, unsent, had)
                sockets.wait_for_memory(self.loop, server, again)
            else:
                self.watch(server, select.EPOLLOUT, self.answer, unsent, unsent)
        except OSError:
            self.retire(server)
        else:
            self.watch(server, select.EPOLLIN, self.asked, b"")

    def retire(self, one: socket.socket) -> None:
        """Close one end of a connection."""
        self.loop.forget(one.fileno())
        if one in self.answering:
            self.answering.remove(one)
            self.congestion = sockets.congestion(one)
        else:
            del self.open[one]
        self.retransmits += tcp_info.of_socket(one)["total_retrans"]
        one.close()

    # The source waits for the connection, for the answer, and for the time of the next request.

    def start(self) -> None:
        if self.plan["arrivals"] == "poisson":
            self.after_thinking()
        else:
            self.begin()

    def after_thinking(self) -> None:
        """Schedule the next transaction, unless that was the last."""
        think_s = self.plan["think_s"]
        exponential = "exponential" in self.plan["thinking"] or self.plan["arrivals"] == "poisson"
        think_ns = arrivals.exponential(think_s, self.random) if exponential else round(think_s * arrivals.SECOND)
        if len(self.transactions) != self.plan["transactions"]:
            self.loop.at(time.monotonic_ns() + think_ns, self.begin)

    def begin(self) -> None:
        plan = self.plan
        size = arrivals.size(plan["sizes"], plan["mean_bytes"], plan["shape"], plan["most_bytes"], self.random)
        self.transactions.append(now := Transaction(time.monotonic_ns(), size))
        if plan["arrivals"] == "poisson":
            self.after_thinking()
        if self.open and plan["connection"] == "kept":
            self.ask(next(iter(self.open)), now)
            return
        client = sockets.tcp(self.source, plan)
        self.open[client] = now
        refused = client.connect_ex((self.destination.IP(), plan["port"]))
        if refused in (0, errno.EINPROGRESS):
            self.watch(client, select.EPOLLOUT, self.ask, now)
        else:
            self.end(client, now, os.strerror(refused))

    def ask(self, client: socket.socket, now: Transaction) -> None:
        self.open[client] = now
        if failed := client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            return self.end(client, now, os.strerror(failed))
        try:
            client.send(SIZE.pack(now.size).ljust(self.plan["request_bytes"], b"\0"))
        except OSError as error:
            return self.end(client, now, error.strerror)
        self.wait(client, now)

    def wait(self, client: socket.socket, now: Transaction) -> None:
        """Wait for the answer, in few pieces if the buffer has room for them (`traffic.applications.bulk`)."""
        wanted = LOW_WATER if (self.plan["receive_buffer"] or 0) >= 8 * LOW_WATER else 1
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, min(wanted, now.missing))
        self.watch(client, select.EPOLLIN, self.hear, now)

    def hear(self, client: socket.socket, now: Transaction) -> None:
        try:
            taken = client.recv_into(NOWHERE, min(now.missing, len(NOWHERE)), socket.MSG_TRUNC)
        except BlockingIOError:
            return
        except OSError as error:
            return self.end(client, now, error.strerror)
        if not taken:
            return self.end(client, now, "the connection was closed")
        now.missing -= taken
        self.delivered += taken
        self.last_ns = time.monotonic_ns()
        if now.missing:
            self.wait(client, now)
        else:
            self.end(client, now)

    def end(self, client: socket.socket, now: Transaction, failed: str | None = None) -> None:
        """End a transaction, and its connection, unless that serves the next."""
        now.ended_ns, now.failed = time.monotonic_ns(), failed
        self.open[client] = None
        if failed or self.plan["connection"] == "new":
            self.retire(client)
        else:
            self.loop.forget(client.fileno())
        if self.plan["arrivals"] != "poisson":
            self.after_thinking()

    # The result.

    def sample(self) -> dict[str, Any]:
        server = tcp_info.of_socket(self.answering[-1]) if self.answering else {}
        return {**samples.of_tcp(server, self.delivered), "retransmits": self.sent_again()}

    def sent_again(self) -> int:
        """Return the retransmitted segments in both directions, so far."""
        there = (*self.open, *self.answering)
        return self.retransmits + sum(tcp_info.of_socket(one)["total_retrans"] for one in there)

    def finish(self) -> dict[str, Any]:
        self.write()
        over = [one for one in self.transactions if one.took_s is not None]
        took_s = [one.took_s for one in over if one.took_s is not None and not one.failed]
        waits = [one.begun_ns for one in self.transactions if one.ended_ns is None]
        since_ns = max(self.last_ns, min(waits)) if waits else 0
        last_s = self.since_start_s(self.last_ns) if self.last_ns else None
        kept = self.plan["connection"] == "kept" and self.answering and self.open
        return {
            "congestion": sockets.congestion(self.answering[-1]) if self.answering else self.congestion,
            "delivered_bytes": self.delivered,
            "acked_bytes": self.delivered,
            "retransmits": self.sent_again(),
            "tcp_info": {
                "sender": tcp_info.of_socket(self.answering[-1]) if kept else {},
                "receiver": tcp_info.of_socket(next(iter(self.open))) if kept else {},
            },
            "finished_s": last_s if len(took_s) == self.plan["transactions"] else None,
            "error": next((one.failed for one in reversed(over)), None),
            "last_s": last_s,
            "waiting_s": (time.monotonic_ns() - since_ns) / 1e9 if waits else None,
            "transactions": {
                "begun": len(self.transactions),
                "completed": len(took_s),
                "failed": len(over) - len(took_s),
                "unfinished": len(waits),
                "bytes": sum(one.size for one in over if not one.failed),
                "seconds": spread(took_s),
            },
        }

    def write(self) -> None:
        """Write one row for each transaction, in the order of their start."""
        with open(f"{self.folder}/transactions-{self.plan['name']}.csv", "w") as file:
            file.write("begun_s,bytes,seconds,failed\n")
            for one in self.transactions:
                took = "" if one.took_s is None else f"{one.took_s:.9f}"
                file.write(f"{self.since_start_s(one.begun_ns):.9f},{one.size},{took},{one.failed or ''}\n")

    def close(self) -> None:
        for each in (*self.open, *self.answering, self.listener):
            self.loop.forget(each.fileno())
            sockets.abort(each)
