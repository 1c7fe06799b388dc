# SPDX-License-Identifier: BSD-3-Clause
"""Many datagrams by one system call: sendmmsg(2) and recvmmsg(2), which `socket` does not have.

In User-Mode Linux a system call costs more than all other work for a datagram. After that, Python's work counts: so
each datagram begins with its number, and no loop of Python goes through them.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from array import array

MOST = 64
NUMBER, NO_NUMBER = 8, -1  # bytes of a number
# struct mmsghdr, iovec, sockaddr_in and cmsghdr of x86-64
HEAD = struct.Struct("=QI4xQQQQi4xI4x")  # name and its length, iovecs and their number, control and its length, flags
LENGTH_AT = 56  # of the datagram, in a HEAD
PART = struct.Struct("=QQ")
ADDRESS = struct.Struct("=H2s4s8x")
CONTROL, CONTROL_AT = 24, 16  # bytes of one message with an int, and where that is

libc = ctypes.CDLL(None, use_errno=True)


class _Calls:
    """The arguments of calls for `count` datagrams, in memory that stays where it is. Each datagram has a place for its
    number and one for `control` bytes of control data; all share the `rest`."""

    def __init__(self, count: int, rest: int = 0, name: bytes = b"", control: int = 0) -> None:
        self.numbers, self.rest, self.name = bytearray(count * NUMBER), bytearray(rest), bytearray(name)
        self.control = bytearray(count * control)
        numbers, shared, to, told = map(_at, (self.numbers, self.rest, self.name, self.control))
        self.parts = bytearray(
            b"".join(PART.pack(numbers + i * NUMBER, NUMBER) + PART.pack(shared, rest) for i in range(count))
        )
        parts = _at(self.parts)
        self.fresh = b"".join(
            HEAD.pack(to, len(name), parts + i * 2 * PART.size, 2 if rest else 1, told + i * control, control, 0, 0)
            for i in range(count)
        )
        self.heads = bytearray(self.fresh)
        self.at = ctypes.c_void_p(_at(self.heads))


def _at(of: bytearray) -> int:
    """Return where these bytes are, as long as nothing resizes them."""
    return ctypes.addressof((ctypes.c_char * len(of)).from_buffer(of)) if of else 0


class Sender:
    """Sends up to `count` datagrams of `size` bytes to an address."""

    def __init__(self, to: tuple[str, int], count: int, size: int) -> None:
        ip, port = to
        name = ADDRESS.pack(socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(ip))
        self.calls = _Calls(count, size - NUMBER, name)

    def send(self, of: socket.socket, first: int, count: int) -> int:
        """Send `count` of them, numbered from `first`; return how many the socket took. Raises OSError if it took
        none."""
        self.calls.numbers[: count * NUMBER] = array("Q", range(first, first + count)).tobytes()
        return _checked(libc.sendmmsg(of.fileno(), self.calls.at, count, 0))


class Receiver:
    """Receives datagrams, up to MOST at a time: the number of each, and an int of control data."""

    def __init__(self) -> None:
        self.calls = calls = _Calls(MOST, control=CONTROL)
        self.numbers = memoryview(calls.numbers).cast("Q")
        self.lengths = memoryview(calls.heads).cast("I")[LENGTH_AT // 4 :: HEAD.size // 4]
        self.told = memoryview(calls.control).cast("i")[CONTROL_AT // 4 :: CONTROL // 4]

    def receive(self, of: socket.socket) -> tuple[list[int], list[int]]:
        """Return the numbers of those that are there, NO_NUMBER of one without, and the ints. Raises OSError."""
        self.calls.heads[:] = self.calls.fresh
        try:
            count = _checked(libc.recvmmsg(of.fileno(), self.calls.at, MOST, socket.MSG_DONTWAIT, None))
        except BlockingIOError:
            count = 0
        numbers, lengths = self.numbers[:count].tolist(), self.lengths[:count].tolist()
        if lengths.count(NUMBER) < count:
            numbers = [n if length == NUMBER else NO_NUMBER for n, length in zip(numbers, lengths, strict=True)]
        return numbers, self.told[:count].tolist()


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
