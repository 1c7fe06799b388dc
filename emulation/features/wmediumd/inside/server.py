# SPDX-License-Identifier: BSD-3-Clause
"""The control socket: an AF_UNIX stream on which any number of clients change the medium while it runs."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket

from emulation.features.wmediumd.inside.arguments import WARNING
from emulation.features.wmediumd.inside.control import Client, UnknownError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.control import Reply
    from emulation.features.wmediumd.inside.stations import Stations
    from traffic.loop import Loop

PATH = "/var/run/wmediumd.sock"
READ_SIZE = 1 << 16  # bytes at once
SEND_TIMEOUT_S = 1.0  # for a client that does not read its answers


class Server:
    """Listens until the end of the block. `on_change` is called before an answer is sent, so the change is in force
    when the client has the answer. Raises OSError, with EADDRINUSE if another medium listens there."""

    def __init__(
        self, loop: Loop, stations: Stations, on_change: Callable[[Reply], None], say: Say, path: str = PATH
    ) -> None:
        self.loop, self.stations, self.on_change, self.say, self.path = loop, stations, on_change, say, path
        self.clients: dict[int, tuple[socket.socket, Client]] = {}
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
        self.clients[client.fileno()] = client, Client(self.stations)
        self.loop.watch(client.fileno(), select.EPOLLIN, lambda: self._serve(client.fileno()))

    def _serve(self, descriptor: int) -> None:
        connection, client = self.clients[descriptor]
        try:
            data = connection.recv(READ_SIZE)
            if not data:
                return self._drop(descriptor)
            for done in client.feed(data):
                self.on_change(done)
                connection.sendall(done.answer)
        except (UnknownError, OSError) as error:
            why = getattr(error, "strerror", None) or error
            self.say(WARNING, f"control socket: {why}; the client is disconnected")
            self._drop(descriptor)

    def _drop(self, descriptor: int) -> None:
        connection, _ = self.clients.pop(descriptor)
        self.loop.forget(descriptor)
        connection.close()
