# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's API socket: programs that are radios themselves, beside those of the kernel.

A message is a type and a length, 32 bits each in the machine's order, and then its bytes. Each request is answered by
ACK or INVALID, without bytes. A client answers what comes from the medium by ACK; in a scheduler's time, the medium
waits for it.

| message | bytes |
|---|---|
| 0 INVALID, 1 ACK | none |
| 2 REGISTER, 3 UNREGISTER | none; from then on the client gets frames, or none |
| 4 NETLINK | a message of hwsim's netlink family: FRAME from the client; FRAME and TX_INFO_FRAME to it |
| 5 SET_CONTROL | u32 of flags: 1 for a notice of each start, 2 for the frames to all stations |
| 6 TX_START | from the medium: a frame begins; u64 of its cookie, or 0 if another sends it, u32 of MHz, 12 bytes |

A station belongs to the client that last sent a frame of it.
"""

from __future__ import annotations

import errno
import struct

from emulation.features.wmediumd.inside.control import UnknownError
from emulation.lane import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from emulation.features.wmediumd.inside.hwsim import Edge


HEADER = struct.Struct("=II")
INVALID, ACK, REGISTER, UNREGISTER, NETLINK, SET_CONTROL, TX_START = range(7)
STARTS, ALL_FRAMES = 1, 2  # flags
START = struct.Struct("=8sI12x")
LONGEST = 1 << 20  # bytes of a message


class Client:
    """One connection."""

    both_names = False

    def __init__(self, medium: Edge, connection: socket.socket, exact: bool = False) -> None:
        """`exact`: time is that of a scheduler, so the client takes each message before time goes on."""
        self.medium, self.connection, self.exact = medium, connection, exact
        self.received, self.acknowledged = b"", 0
        self.registered = self.all_frames = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Carry out requests, and yield their answers. Raises UnknownError for what cannot be a message."""
        self.received += data
        while len(self.received) >= HEADER.size:
            kind, length = HEADER.unpack_from(self.received)
            if length > LONGEST:
                raise UnknownError(f"a message of {length} bytes")
            if len(self.received) < HEADER.size + length:
                return
            body = self.received[HEADER.size : HEADER.size + length]
            self.received = self.received[HEADER.size + length :]
            if kind == ACK:
                self.acknowledged += 1
            else:
                yield HEADER.pack(ACK if self._do(kind, body) else INVALID, 0)

    def _do(self, kind: int, body: bytes) -> bool:
        if kind in (REGISTER, UNREGISTER) and self.registered != (kind == REGISTER):
            self.registered = kind == REGISTER
            (self.medium.register if self.registered else self.medium.unregister)(self)
            return True
        if kind == NETLINK:
            try:
                ((_, _, _, message),) = netlink.messages(body)
                self.medium.take(message, self)
            except (OSError, ValueError, IndexError, struct.error):
                return False
            return True
        if kind == SET_CONTROL and len(body) >= 4 and not (flags := netlink.number(body[:4])) & ~(STARTS | ALL_FRAMES):
            self.all_frames = bool(flags & ALL_FRAMES)
            self.medium.watch_starts(self, self.start if flags & STARTS else None)
            return True
        return False

    def send(self, message: bytes) -> None:
        """Send a netlink message; a client that does not read loses its connection."""
        self._send(NETLINK, message)

    def start(self, cookie: bytes, freq: int) -> None:
        """Tell that a frame begins: with its cookie, if it is the client's own."""
        self._send(TX_START, START.pack(cookie, freq))

    def _send(self, kind: int, body: bytes) -> None:
        try:
            self.connection.sendall(HEADER.pack(kind, len(body)) + body)
            wanted = self.acknowledged + self.exact
            while self.acknowledged < wanted:
                if not (data := self.connection.recv(LONGEST)):
                    raise OSError(errno.ECONNRESET, "it closed the connection")
                for answer in self.feed(data):
                    self.connection.sendall(answer)
        except OSError:
            self.medium.unregister(self)
