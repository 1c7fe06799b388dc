# SPDX-License-Identifier: BSD-3-Clause
"""Many datagrams by one system call: sendmmsg(2) and recvmmsg(2), which `socket` does not have.

In User-Mode Linux a system call costs more than all other work for a datagram.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 64
# struct mmsghdr, iovec, sockaddr_in and cmsghdr of x86-64
HEAD = struct.Struct("=QI4xQQQQi4xI4x")  # name and its length, iovecs and their number, control and its length, flags
LENGTH = struct.Struct("=56xI4x")  # of the datagram, in a HEAD
PART = struct.Struct("=QQ")
ADDRESS = struct.Struct("=H2s4s8x")
CONTROL = struct.Struct("=16xi4x")  # of one message with an int

libc = ctypes.CDLL(None, use_errno=True)


class _Calls:
    """The arguments of calls for `count` datagrams of `size` bytes each, in memory that stays where it is."""

    def __init__(self, count: int, size: int, name: bytes = b"", control: int = 0) -> None:
        self.data, self.name, self.control = bytearray(count * size), bytearray(name), bytearray(count * control)
        data, to, told = map(_at, (self.data, self.name, self.control))
        self.parts = bytearray(b"".join(PART.pack(data + i * size, size) for i in range(count)))
        parts = _at(self.parts)
        self.fresh = b"".join(
            HEAD.pack(to, len(name), parts + i * PART.size, 1, told + i * control, control, 0, 0) for i in range(count)
        )
        self.heads = bytearray(self.fresh)
        self.at = ctypes.c_void_p(_at(self.heads))


def _at(of: bytearray) -> int:
    """Return where these bytes are, as long as nothing resizes them."""
    return ctypes.addressof((ctypes.c_char * len(of)).from_buffer(of)) if of else 0


class Sender:
    """Sends up to `count` datagrams of `size` bytes to an address. Each begins with what `begin` is given."""

    def __init__(self, to: tuple[str, int], count: int, size: int) -> None:
        ip, port = to
        self.size = size
        name = ADDRESS.pack(socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(ip))
        self.calls = _Calls(count, size, name)

    def begin(self, place: int, with_bytes: bytes) -> None:
        at = place * self.size
        self.calls.data[at : at + len(with_bytes)] = with_bytes

    def send(self, of: socket.socket, count: int) -> int:
        """Send the first `count` of them; return how many the socket took. Raises OSError if it took none."""
        return _checked(libc.sendmmsg(of.fileno(), self.calls.at, count, 0))


class Receiver:
    """Receives datagrams, up to MOST at a time: the first `size` bytes of each, and an int of control data."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls = _Calls(MOST, size, control=CONTROL.size)

    def receive(self, of: socket.socket) -> Iterator[tuple[bytes, int]]:
        """Return what there is. Raises OSError."""
        calls = self.calls
        calls.heads[:] = calls.fresh
        try:
            count = _checked(libc.recvmmsg(of.fileno(), calls.at, MOST, socket.MSG_DONTWAIT, None))
        except BlockingIOError:
            count = 0
        for place in range(count):
            (length,) = LENGTH.unpack_from(calls.heads, place * HEAD.size)
            (told,) = CONTROL.unpack_from(calls.control, place * CONTROL.size)
            yield bytes(calls.data[place * self.size : place * self.size + length]), told


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
