# SPDX-License-Identifier: BSD-3-Clause
"""The socket by which other programs of a lane read and set what nodes have, as Mininet-WiFi's `socketServer`:
`get.sta1.position` and `set.sta1.setPosition("10,20,0")`, each answered by a text."""

from __future__ import annotations

import re
import select
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.refusals import note

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet
    from traffic.loop import Loop

IP, PORT = "127.0.0.1", 12345
LONGEST = 1024  # of a request, in bytes
CALL = re.compile(r"(.+?)\.(\w+)(?:\((.*)\)|\.(.*))")
USAGE = "usage: get.NODE.ATTRIBUTE or set.NODE.METHOD(VALUE)"


class SocketServer:
    """The server of a network, from its start to its stop."""

    def __init__(self, net: Mininet, ip: str = IP, port: int = PORT) -> None:
        self.net, self.address = net, (ip, int(port))
        self.open: list[socket.socket] = []
        note(f"socketServer: only programs that the script starts can reach {ip}:{port}")

    def begin(self, loop: Loop, _: int) -> None:
        server = socket.create_server(self.address)
        self.open.append(server)
        loop.watch(server.fileno(), select.EPOLLIN, partial(self.accept, loop, server))

    def accept(self, loop: Loop, server: socket.socket) -> None:
        client, _ = server.accept()
        self.open.append(client)
        loop.watch(client.fileno(), select.EPOLLIN, partial(self.serve, loop, client))

    def serve(self, loop: Loop, client: socket.socket) -> None:
        """Answer a request; at the end of its input, forget the client."""
        try:
            request = client.recv(LONGEST)
            if request:
                client.sendall(self.answer(request.decode(errors="replace").strip()).encode())
                return
        except ConnectionError:
            pass
        loop.forget(client.fileno())
        self.open.remove(client)
        client.close()

    def answer(self, request: str) -> str:
        """Carry out a request, and return its answer; an error is an answer, too."""
        verb, _, rest = request.partition(".")
        there: dict[str, Any] = {"__builtins__": {}, **self.net.nameToNode}
        try:
            if verb == "get":
                return str(eval(rest, there))
            if verb == "set" and (call := CALL.fullmatch(rest)):
                value = (call[3] if call[3] is not None else call[4]).strip("\"' ")
                getattr(eval(call[1], there), call[2])(*[value] * bool(value))
                return "command accepted!"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return USAGE

    def close(self) -> None:
        while self.open:
            self.open.pop().close()
