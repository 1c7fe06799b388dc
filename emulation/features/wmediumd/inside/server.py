# SPDX-License-Identifier: BSD-3-Clause
"""The control socket and the API socket: AF_UNIX streams with any number of clients."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket

from emulation.features.wmediumd.inside.arguments import WARNING
from emulation.features.wmediumd.inside.control import UnknownError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulation.features.wmediumd.inside.arguments import Say
    from traffic.loop import Loop

    Feed = Callable[[bytes], Iterator[bytes]]  # a client's bytes; the answers' bytes

PATH = "/var/run/wmediumd.sock"
READ_SIZE = 1 << 16  # bytes at once
SEND_TIMEOUT_S = 1.0  # for a client that does not read its answers


class Server:
    """Listens until the end of the block. `on_client` returns what reads a new client's bytes and yields answers.
    Raises OSError, with EADDRINUSE if another medium listens there."""

    def __init__(self, loop: Loop, on_client: Callable[[socket.socket], Feed], say: Say, path: str = PATH) -> None:
        self.loop, self.on_client, self.say, self.path = loop, on_client, say, path
        self.clients: dict[int, tuple[socket.socket, Feed]] = {}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self._bind()
            self.socket.listen()
        except BaseException:
            self.socket.close()
            raise
        self.inode = os.stat(path).st_ino
        loop.watch(self.socket.fileno(), select.EPOLLIN, self._accept)

    def _bind(self) -> None:
        """Bind; replace a socket without a listener, which a killed program left."""
        try:
            self.socket.bind(self.path)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                if probe.connect_ex(self.path) == 0:
                    raise OSError(
                        errno.EADDRINUSE, f"{self.path}: another medium listens there; end it, or give another path"
                    ) from None
            os.unlink(self.path)
            self.socket.bind(self.path)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in list(self.clients):
            self._drop(descriptor)
        self.loop.forget(self.socket.fileno())
        self.socket.close()
        with contextlib.suppress(OSError):
            if os.stat(self.path).st_ino == self.inode:
                os.unlink(self.path)

    def _accept(self) -> None:
        client, _ = self.socket.accept()
        client.settimeout(SEND_TIMEOUT_S)
        self.clients[client.fileno()] = client, self.on_client(client)
        self.loop.watch(client.fileno(), select.EPOLLIN, lambda: self._serve(client.fileno()))

    def _serve(self, descriptor: int) -> None:
        connection, feed = self.clients[descriptor]
        try:
            data = self._receive(connection)
            if not data:
                return self._drop(descriptor)
            for answer in feed(data):
                connection.sendall(answer)
        except (UnknownError, OSError) as error:
            self._fail(descriptor, error)

    def _receive(self, connection: socket.socket) -> bytes:
        return connection.recv(READ_SIZE)

    def _fail(self, descriptor: int, error: Exception) -> None:
        why = getattr(error, "strerror", None) or error
        self.say(WARNING, f"{self.path}: {why}; the client is disconnected")
        self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        connection, _ = self.clients.pop(descriptor)
        self.loop.forget(descriptor)
        connection.close()
