# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's API socket: programs that are radios themselves, beside those of the kernel.

A message is a type and a length, 32 bits each in the machine's order, and then its bytes. Each request is answered by
ACK or INVALID, without bytes. What comes from the medium is not answered; an ACK of it is read and dropped.

| message | bytes |
|---|---|
| 0 INVALID, 1 ACK | none |
| 2 REGISTER, 3 UNREGISTER | none; from then on the client gets frames, or none |
| 4 NETLINK | a message of hwsim's netlink family: FRAME from the client; FRAME and TX_INFO_FRAME to it |
| 5 SET_CONTROL | u32 of flags: 2 for the frames to all stations; 1, a notice of each start, is INVALID |

A station belongs to the client that last sent a frame of it.
"""

from __future__ import annotations

import struct

from emulation.features.wmediumd.inside.control import UnknownError
from emulation.lane import netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from emulation.features.wmediumd.inside.hwsim import Edge


HEADER = struct.Struct("=II")
INVALID, ACK, REGISTER, UNREGISTER, NETLINK, SET_CONTROL = range(6)
ALL_FRAMES = 2
LONGEST = 1 << 20  # bytes of a message


class Client:
    """One connection."""

    both_names = False

    def __init__(self, medium: Edge, connection: socket.socket) -> None:
        self.medium, self.connection = medium, connection
        self.received = b""
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
            if kind != ACK:
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
        if kind == SET_CONTROL and len(body) >= 4 and not netlink.number(body[:4]) & ~ALL_FRAMES:
            self.all_frames = bool(netlink.number(body[:4]))
            return True
        return False

    def send(self, message: bytes) -> None:
        """Send a netlink message; a client that does not read loses its connection."""
        try:
            self.connection.sendall(HEADER.pack(NETLINK, len(message)) + message)
        except OSError:
            self.medium.unregister(self)
