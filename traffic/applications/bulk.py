# SPDX-License-Identifier: BSD-3-Clause
"""The bulk flow: a TCP connection that carries as many bytes as it takes, or a given number of them.

The sender writes 64 kB at a time whenever the socket has room; the receiver is woken when a low-water mark of bytes is
there and throws them away inside the kernel (MSG_TRUNC). So a 120 s run at 2 Mb/s costs some hundred system calls, and
TCP never waits for either end. What waits to be read narrows the window, so where that could be felt each segment is
read when it comes.
"""

from __future__ import annotations

import select
import socket
import struct
import time

from traffic import applications, tcp_info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from traffic.host import Host
    from traffic.loop import Loop

CHUNK = memoryview(bytes(1 << 16))
LOW_WATER = 1 << 17  # bytes
ABORT = struct.pack("=ii", 1, 0)  # struct linger: closing resets the connection (socket(7), RFC 9293, 3.10.5)
NOWHERE = bytearray(1 << 20)  # never written to, so it takes no memory


class Application(applications.Application):
    """One flow."""

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str = "") -> None:
        super().__init__(plan, source, destination, loop, folder)
        self.bytes: int | None = plan["bytes"]
        self.unsent = self.bytes
        self.window_limit: int = (plan.get("window_limit") or 0) * (plan["mss"] or 0)  # bytes
        self.delivered = 0
        self.started_ns = 0
        self.finished_ns: int | None = None
        self.sender: socket.socket | None = None
        self.receiver: socket.socket | None = None
        self.listener: socket.socket | None = None

    def socket_at(self, host: Host) -> socket.socket:
        """A socket of a host, with what has to be set before it connects or listens."""
        with host:
            new = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            new.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.plan["congestion"].encode())
        except FileNotFoundError as error:
            said = f"{self.plan['name']}: no module registers the congestion control {self.plan['congestion']}"
            raise OSError(error.errno, said) from None
        if self.plan["mss"]:
            new.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.plan["mss"])
        for option, size in ((socket.SO_SNDBUF, "send_buffer"), (socket.SO_RCVBUF, "receive_buffer")):
            if self.plan[size]:
                new.setsockopt(socket.SOL_SOCKET, option, self.plan[size])
        return new

    def prepare(self) -> None:
        """Listen. Raises OSError if the kernel lacks the congestion control, or the port is taken."""
        self.listener = self.socket_at(self.destination)
        self.listener.bind(("", self.plan["port"]))
        self.listener.listen(1)
        self.loop.watch(self.listener.fileno(), select.EPOLLIN, self.accept)

    def start(self) -> None:
        self.started_ns = time.monotonic_ns()
        self.sender = self.socket_at(self.source)
        self.sender.connect_ex((self.destination.IP(), self.plan["port"]))
        self.loop.watch(self.sender.fileno(), select.EPOLLOUT, self.send)

    def accept(self) -> None:
        assert self.listener
        self.receiver, _ = self.listener.accept()
        self.receiver.setblocking(False)
        self.set_low_water()
        self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)

    def set_low_water(self) -> None:
        assert self.receiver
        wanted = LOW_WATER if (self.plan["receive_buffer"] or 0) >= 8 * LOW_WATER else 1
        if self.bytes is not None:
            wanted = min(wanted, max(self.bytes - self.delivered, 1))
        if self.window_limit:  # the first byte wakes the receiver, so that it sets the limit
            wanted = min(wanted, self.window_limit) if self.delivered else 1
        self.receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)

    def send(self) -> None:
        """Write until there is no room, or nothing left. A connection that fails leaves its errno in the result."""
        assert self.sender
        try:
            while self.unsent is None or self.unsent > 0:
                sent = self.sender.send(CHUNK[: self.unsent])
                if self.unsent is not None:
                    self.unsent -= sent
        except BlockingIOError:
            return
        except OSError:
            pass  # reset or timed out: TCP_INFO and the missing bytes tell
        self.loop.forget(self.sender.fileno())

    def receive(self) -> None:
        """Take and drop what is there."""
        assert self.receiver
        try:
            taken = self.receiver.recv_into(NOWHERE, 0, socket.MSG_TRUNC)
        except BlockingIOError:
            return
        except OSError:
            taken = 0  # reset
        self.delivered += taken
        if self.window_limit:  # again and again: the kernel forgets it when segments take less or more memory
            self.receiver.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, self.window_limit)
        if self.bytes is not None and self.delivered >= self.bytes and self.finished_ns is None:
            self.finished_ns = time.monotonic_ns()
        if self.bytes is not None or self.window_limit:
            self.set_low_water()
        if not taken:
            self.loop.forget(self.receiver.fileno())

    def finish(self) -> dict[str, Any]:
        """The result so far: `delivered_bytes` to the application, `acked_bytes` to the sender's TCP."""
        if self.receiver and self.finished_ns is None:
            self.receive()  # what is below the low-water mark
        sender = tcp_info.of_socket(self.sender) if self.sender else {}
        acked = max(sender.get("bytes_acked", 0) - 1, 0)  # Linux counts the SYN
        return {
            "congestion": self.congestion() if self.sender else "",
            "delivered_bytes": self.delivered,
            "acked_bytes": acked if self.bytes is None else min(acked, self.bytes),
            "retransmits": sender.get("total_retrans", 0),
            "tcp_info": {"sender": sender, "receiver": tcp_info.of_socket(self.receiver) if self.receiver else {}},
            "finished_s": None if self.finished_ns is None else (self.finished_ns - self.started_ns) / 1e9,
        }

    def congestion(self) -> str:
        """The congestion control in use, read back."""
        assert self.sender
        return self.sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()

    def close(self) -> None:
        """Abort: what is unsent is dropped, and no end lingers at the port."""
        for each in (self.sender, self.receiver, self.listener):
            if each:
                self.loop.forget(each.fileno())
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
                each.close()
