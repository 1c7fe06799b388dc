# SPDX-License-Identifier: BSD-3-Clause
"""The bulk flow: a TCP connection that carries as many bytes as it can, or a given number of them.

The sender writes 64 kB at a time whenever the socket has room. The receiver wakes at a low-water mark of bytes and
discards them inside the kernel (MSG_TRUNC). So a 120 s run at 2 Mb/s costs some hundred system calls, and TCP never
waits for either end. Unread data narrows the window; where that could matter, each segment is read when it arrives.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import time

from traffic import applications, samples, sockets, tcp_info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.host import Host
    from traffic.loop import Loop

CHUNK = memoryview(bytes(1 << 16))
LOW_WATER = 1 << 17  # bytes
NOWHERE = bytearray(1 << 20)  # never written to, so it takes no memory


class Application(applications.Application):
    """One flow."""

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str = "") -> None:
        super().__init__(plan, source, destination, loop, folder)
        self.bytes: int | None = plan["bytes"]
        self.unsent = self.bytes
        self.window_limit = sockets.window_limit(plan)
        self.delivered = 0
        self.error: str | None = None
        self.finished_ns: int | None = None
        self.sender: socket.socket | None = None
        self.receiver: socket.socket | None = None
        self.listener: socket.socket | None = None

    def prepare(self) -> None:
        """Listen. Raises OSError if the kernel lacks the congestion control, or the port is taken."""
        self.listener = sockets.tcp(self.destination, self.plan)
        self.listener.bind(("", self.plan["port"]))
        self.listener.listen(1)
        self.loop.watch(self.listener.fileno(), select.EPOLLIN, self.accept)

    def start(self) -> None:
        self.sender = sockets.tcp(self.source, self.plan)
        refused = self.sender.connect_ex((self.destination.IP(), self.plan["port"]))
        if refused not in (0, errno.EINPROGRESS):
            self.error = os.strerror(refused)
            return
        self.loop.watch(self.sender.fileno(), select.EPOLLOUT, self.send)

    def accept(self) -> None:
        assert self.listener
        self.receiver, _ = self.listener.accept()
        sockets.accepted(self.receiver, self.plan)
        self.set_low_water()
        self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)

    def set_low_water(self) -> None:
        assert self.receiver
        wanted = LOW_WATER if (self.plan["receive_buffer"] or 0) >= 8 * LOW_WATER else 1
        if self.bytes is not None:
            wanted = min(wanted, max(self.bytes - self.delivered, 1))
        if self.window_limit:  # the first byte wakes the receiver, so that it keeps the limit
            wanted = min(wanted, self.window_limit) if self.delivered else 1
        self.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)

    def send(self) -> None:
        """Write until there is no room, or nothing left. The result says why a connection fails."""
        assert self.sender
        sent = 0
        try:
            while self.unsent is None or self.unsent > 0:
                sent = self.sender.send(CHUNK[: self.unsent])
                if self.unsent is not None:
                    self.unsent -= sent
        except BlockingIOError:
            if not sent:  # though there is room
                sockets.wait_for_memory(self.loop, self.sender, self.send)
            return
        except OSError as error:  # reset, timed out, no route
            self.error = error.strerror
        self.loop.forget(self.sender.fileno())

    def receive(self) -> None:
        """Read and discard what is there."""
        assert self.receiver
        try:
            taken = self.receiver.recv_into(NOWHERE, 0, socket.MSG_TRUNC)
        except BlockingIOError:
            return
        except OSError:
            taken = 0  # reset
        self.delivered += taken
        sockets.keep_limit(self.receiver, self.plan)
        if self.bytes is not None and self.delivered >= self.bytes and self.finished_ns is None:
            self.finished_ns = time.monotonic_ns()
        if self.bytes is not None or self.window_limit:
            self.set_low_water()
        if not taken:
            self.loop.forget(self.receiver.fileno())

    def sample(self) -> dict[str, Any]:
        sender = tcp_info.of_socket(self.sender) if self.sender else {}
        return samples.of_tcp(sender, tcp_info.of_socket(self.receiver)["bytes_received"] if self.receiver else 0)

    def finish(self) -> dict[str, Any]:
        """Return the result so far: `delivered_bytes` to the application, `acked_bytes` to the sender's TCP."""
        if self.receiver and self.finished_ns is None:
            self.receive()  # what is below the low-water mark
        sender = tcp_info.of_socket(self.sender) if self.sender else {}
        receiver = tcp_info.of_socket(self.receiver) if self.receiver else {}
        acked = max(sender.get("bytes_acked", 0) - 1, 0)  # Linux counts the SYN
        return {
            "congestion": sockets.congestion(self.sender) if self.sender else "",
            "delivered_bytes": self.delivered,
            "acked_bytes": acked if self.bytes is None else min(acked, self.bytes),
            "retransmits": sender.get("total_retrans", 0),
            "tcp_info": {"sender": sender, "receiver": receiver},
            "finished_s": None if self.finished_ns is None else (self.finished_ns - self.started_ns) / 1e9,
            "error": self.error,
            **tcp_info.silence(receiver, self.since_start_s(time.monotonic_ns())),
        }

    def close(self) -> None:
        """Abort: unsent data is dropped, and the port is free at once."""
        for each in (self.sender, self.receiver, self.listener):
            if each:
                self.loop.forget(each.fileno())
                sockets.abort(each)
