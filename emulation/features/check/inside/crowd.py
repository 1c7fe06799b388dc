# SPDX-License-Identifier: BSD-3-Clause
"""TCP connections that exercise a module: long flows of different behaviour, and a crowd of short connections.

Most of a module's code runs when a connection begins, idles, loses packets, changes its congestion control or ends. So
the long flows pause, write little or read slowly, and short connections end in different ways.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
from functools import partial

from traffic import tcp_info
from traffic.applications import bulk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from emulation.lane.node import Node
    from traffic.loop import Loop

CROWD_PORT, CLOSED_PORT, FIRST_PORT = 4000, 4001, 5001
REQUEST = struct.Struct("!I")  # number of bytes that the server should answer with
LARGEST = 15 << 10  # one write of the server
ESTABLISHED, CLOSED = 1, 7  # states in TCP_INFO
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: do not wait, send RST


@contextlib.contextmanager
def datagrams(node: Node) -> Iterator[socket.socket]:
    """Yield a socket of a node for datagrams."""
    with node:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    with udp:
        yield udp


class Stream(bulk.Application):
    """A long flow: as many bytes as TCP takes. Its window is small enough to keep pauses short."""

    buffers = (32768, 262_144)  # bytes: to send, to receive

    def __init__(
        self, number: int, congestion: str, source: Node, destination: Node, loop: Loop, random: Random
    ) -> None:
        self.random, self.name = random, f"flow {number} ({congestion}, {source.name} to {destination.name})"
        plan = {"name": self.name, "port": FIRST_PORT + number, "congestion": congestion, "mss": None, "tos": None}
        plan["send_buffer"], plan["receive_buffer"] = self.buffers
        super().__init__({**plan, "bytes": None}, source, destination, loop)

    def after_random_time(self, least_s: float, most_s: float, action: Callable[[], None]) -> None:
        """Do something after a random time, unless the flow is closed by then."""
        after_ns = int(self.random.uniform(least_s, most_s) * 1e9)
        self.loop.at(time.monotonic_ns() + after_ns, lambda: action() if self.is_open() else None)

    def is_open(self) -> bool:
        return self.sender is not None and self.sender.fileno() >= 0

    def switch(self, congestion: str) -> None:
        """Change the congestion control of the open connection. Raises OSError if the kernel refuses."""
        assert self.sender
        self.sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())

    def stop(self) -> None:
        """Stop writing."""
        self.unsent = 0
        if self.sender:
            self.loop.forget(self.sender.fileno())

    def acknowledged(self) -> int:
        """Return the acknowledged bytes."""
        return tcp_info.of_socket(self.sender)["bytes_acked"] if self.sender else 0

    def reset(self) -> None:
        """Close both ends at once with RST."""
        for end in (self.sender, self.receiver):
            if end:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.close()

    def has_zero_window(self) -> bool:
        """Return whether the congestion window is 0, after which nothing could ever be sent."""
        info = tcp_info.of_socket(self.sender) if self.sender and self.is_open() else {}
        return info.get("state") == ESTABLISHED and info["snd_cwnd"] == 0

    def window(self) -> int:
        """Return the congestion window, segments."""
        return int(tcp_info.of_socket(self.sender)["snd_cwnd"]) if self.sender and self.is_open() else 0

    def pending(self) -> bool:
        """Return whether written data is unacknowledged and may still arrive. A connection that the other end gave up
        before it was established is reset."""
        info = tcp_info.of_socket(self.sender) if self.sender else {}
        return info.get("state") != CLOSED and bool(info.get("notsent_bytes") or info.get("unacked"))


class IntermittentFlow(Stream):
    """A flow of small writes with pauses: TCP restarts after idle, and the application limits it."""

    def send(self) -> None:
        assert self.sender
        self.loop.forget(self.sender.fileno())
        if self.unsent is None:
            try:
                self.sender.send(bytes(self.random.randrange(1, 6000)))
            except BlockingIOError:
                pass
            except OSError:
                return
            self.after_random_time(0.02, 2.0, self.send)


class SlowReader(Stream):
    """A flow with a slow reader: the window closes, and TCP probes it."""

    buffers = (32768, 8192)

    def set_low_water(self) -> None:
        """Do nothing: the window is smaller than any low-water mark."""

    def receive(self) -> None:
        assert self.receiver
        super().receive()
        self.loop.forget(self.receiver.fileno())
        self.after_random_time(0.1, 3.0, self.resume_reading)

    def resume_reading(self) -> None:
        if self.receiver and self.receiver.fileno() >= 0:
            self.loop.watch(self.receiver.fileno(), select.EPOLLIN, self.receive)


class Connections:
    """Short connections in a loop; those that are `open`, by file descriptor."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.open: dict[int, socket.socket] = {}

    def new(self, node: Node) -> socket.socket:
        with node:
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.open[made.fileno()] = made
        return made

    def accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # it was reset in the queue
        connection.setblocking(False)
        self.open[connection.fileno()] = connection
        self.loop.watch(connection.fileno(), select.EPOLLIN, lambda: serve(connection))

    def drain(self, connection: socket.socket) -> None:
        """Read what has come; close at the end."""
        try:
            count = connection.recv_into(bulk.NOWHERE, 0, socket.MSG_TRUNC)
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if count:
            self.came(connection, count)
        else:
            self.drop(connection)

    def came(self, connection: socket.socket, count: int) -> None:
        """Called for bytes that have come."""

    def drop(self, connection: socket.socket, reset: bool = False) -> None:
        """Close: with FIN if all was read, else with RST."""
        if self.open.pop(connection.fileno(), None):
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.loop.forget(connection.fileno())
            connection.close()


class Crowd(Connections):
    """Connections between nodes. `begun` counts them by the way they end; none is left after `close`."""

    def __init__(self, nodes: list[Node], loop: Loop, random: Random) -> None:
        super().__init__(loop)
        self.nodes, self.random = nodes, random
        self.controls = ["reno"]
        self.begun: dict[str, int] = {}
        self.ends = (self.ending, self.resetting, self.half_closing, self.not_reading, self.abandoning, self.refused)

    def listen(self, controls: list[str]) -> None:
        """Let all nodes accept connections; each end uses one of these congestion controls."""
        self.controls = controls
        for node in self.nodes:
            listener = self.new(node)
            listener.bind(("", CROWD_PORT))
            listener.listen(64)
            self.loop.watch(listener.fileno(), select.EPOLLIN, partial(self.accept, listener, self.serve))

    def new(self, node: Node) -> socket.socket:
        made = super().new(node)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.random.choice(self.controls).encode())
        return made

    def close(self) -> None:
        for connection in list(self.open.values()):
            self.drop(connection, self.random.random() < 0.5)

    # The server: read all, and answer with as many bytes as the first word says.

    def serve(self, connection: socket.socket) -> None:
        try:
            request = connection.recv(REQUEST.size)
            if len(request) == REQUEST.size and (size := REQUEST.unpack(request)[0]):
                connection.send(bytes(min(size, LARGEST)))
        except OSError:
            self.drop(connection)
        else:
            self.loop.watch(connection.fileno(), select.EPOLLIN, lambda: self.drain(connection))

    # The client: one of `ends`.

    def begin(self) -> None:
        source, destination = self.random.sample(self.nodes, 2)
        end = self.random.choice(self.ends)
        self.begun[end.__name__] = self.begun.get(end.__name__, 0) + 1
        client = self.new(source)
        port = CLOSED_PORT if end == self.refused else CROWD_PORT
        client.connect_ex((destination.IP(), port))
        if end == self.abandoning:
            self.drop(client)
        else:
            self.loop.watch(client.fileno(), select.EPOLLOUT, lambda: self.connected(client, end))

    def connected(self, client: socket.socket, end: Callable[[socket.socket], None]) -> None:
        try:
            if client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.drop(client)
            else:
                end(client)
        except OSError:
            self.drop(client)

    def send_request(self, client: socket.socket, answer: int) -> None:
        client.send(REQUEST.pack(answer) + bytes(self.random.randrange(1, LARGEST)))

    def ending(self, client: socket.socket) -> None:
        """Send all, then FIN."""
        self.send_request(client, 0)
        self.drop(client)

    def resetting(self, client: socket.socket) -> None:
        """Send RST with data under way."""
        self.send_request(client, 0)
        self.drop(client, reset=True)

    def half_closing(self, client: socket.socket) -> None:
        """Send FIN first, then receive the answer."""
        self.send_request(client, self.random.randrange(1, LARGEST))
        client.shutdown(socket.SHUT_WR)
        self.loop.watch(client.fileno(), select.EPOLLIN, lambda: self.drain(client))

    def not_reading(self, client: socket.socket) -> None:
        """Close with an unread answer, which makes TCP send RST."""
        self.send_request(client, LARGEST)
        self.loop.watch(client.fileno(), select.EPOLLIN, lambda: self.drop(client))

    def abandoning(self, client: socket.socket) -> None:
        """Close before the connection is open; `begin` does that."""

    def refused(self, client: socket.socket) -> None:
        """Nobody listens: RST answers SYN, which is an error of the socket."""
