# SPDX-License-Identifier: BSD-3-Clause
"""Many datagrams by one system call: sendmmsg(2) and recvmmsg(2), which `socket` does not have.

In User-Mode Linux a system call costs more than all other work for a datagram. After that, Python's work counts: so
each datagram begins with its number, and no loop of Python goes through them.

Two things save more. A `LateReader` reads after about READ_MOST datagrams, not at each arrival; the kernel notes when
each of them arrives. And the kernel takes many datagrams as one and cuts them apart below IP (UDP_SEGMENT); those that
arrive together, it may pass as one (UDP_GRO).
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import select
import socket
import struct
import time
from array import array
from math import gcd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from traffic.loop import Loop

    Arrivals = tuple[list[int], list[int], list[int]]

MOST = 64
NUMBER, NO_NUMBER = 8, -1  # bytes of a number
# struct mmsghdr, iovec, sockaddr_in and cmsghdr of x86-64
HEAD = struct.Struct("=QI4xQQQQi4xI4x")  # name and its length, iovecs and their number, control and its length, flags
LENGTH_AT = 56  # the length of the datagram, in a HEAD
PART = struct.Struct("=QQ")
BYTES = struct.Struct("=Q")  # the second half of a PART
UNITS: dict[int, Literal["B", "H", "I", "Q"]] = {1: "B", 2: "H", 4: "I", 8: "Q"}
ADDRESS = struct.Struct("=H2s4s8x")
STAMP, STAMP_AT = 32, 16  # bytes of one message with a struct timespec, which comes first, and where that is
CONTROL, CONTROL_AT = 24, 16  # the same of an int
# After it comes the length of each of many datagrams, if there are many, and then the int.
CONTROLS, LEVEL_AT, INT_AT = STAMP + 2 * CONTROL, STAMP + 8, STAMP + CONTROL_AT
SO_TIMESTAMPNS, SO_RCVBUFFORCE, SO_ATTACH_FILTER = 35, 33, 26  # <asm-generic/socket.h>
INSTRUCTION = struct.Struct("=HBBI")  # struct sock_filter
PROGRAM = struct.Struct("=H6xQ")  # struct sock_fprog: how many instructions, and where
TAKE_ALL = bytearray(INSTRUCTION.pack(6, 0, 0, 0xFFFF_FFFF))  # BPF_RET | BPF_K
SECOND = 1_000_000_000  # ns

SOL_UDP, UDP_SEGMENT, UDP_GRO = 17, 103, 104  # <linux/udp.h>
FITS_NO_FRAME = errno.EINVAL, errno.EMSGSIZE  # the kernel combines no datagrams that it has to fragment; 6.1, 6.12
TOGETHER_MOST, TOGETHER_BYTES = 64, 65_507  # UDP_MAX_SEGMENTS of Linux 6.1; the largest datagram

READ_MOST = 1024
MESSAGES = 128  # by one call, each with one datagram or many
READ_BUFFER = 1 << 25  # bytes; only a flow that grows 28-fold between two reads fills it
SOONEST_NS, LATEST_NS = SECOND // 1000, SECOND // 2  # between two reads

libc = ctypes.CDLL(None, use_errno=True)


class _Calls:
    """The arguments of calls for `count` datagrams, in memory that stays where it is. Each datagram has a place for its
    number; all share the `rest`."""

    def __init__(self, count: int, rest: int, name: bytes) -> None:
        self.numbers, self.rest, self.name = bytearray(count * NUMBER), bytearray(rest), bytearray(name)
        numbers, shared, to = map(_at, (self.numbers, self.rest, self.name))
        self.parts = bytearray(
            b"".join(PART.pack(numbers + i * NUMBER, NUMBER) + PART.pack(shared, rest) for i in range(count))
        )
        parts, each = _at(self.parts), 2 if rest else 1
        self.heads = bytearray(
            b"".join(HEAD.pack(to, len(name), parts + i * 2 * PART.size, each, 0, 0, 0, 0) for i in range(count))
        )
        self.at = ctypes.c_void_p(_at(self.heads))

    def number(self, first: int, count: int) -> int:
        """Number `count` datagrams from `first`; return how many messages they are."""
        self.numbers[: count * NUMBER] = array("Q", range(first, first + count)).tobytes()
        return count


class _Batches:
    """The same for `count` datagrams of `size` bytes that lie one after another. The kernel gets `together` as one: it
    copies them page by page."""

    def __init__(self, count: int, size: int, name: bytes, together: int) -> None:
        self.size, self.together, self.name = size, together, bytearray(name)
        self.data, unit = bytearray(count * size), gcd(size, NUMBER)
        self.units, self.unit = memoryview(self.data).cast(UNITS[unit]), UNITS[unit]
        self.each, self.stride = NUMBER // unit, size // unit
        at, first = _at(self.data), range(0, count, together)
        self.parts = bytearray(b"".join(PART.pack(at + i * size, together * size) for i in first))
        to, parts = _at(self.name), _at(self.parts)
        self.heads = bytearray(
            b"".join(HEAD.pack(to, len(name), parts + i * PART.size, 1, 0, 0, 0, 0) for i in range(len(first)))
        )
        self.at, self.last = ctypes.c_void_p(_at(self.heads)), 0

    def number(self, first: int, count: int) -> int:
        numbers = memoryview(array("Q", range(first, first + count))).cast("B").cast(self.unit)
        for unit in range(self.each):
            self.units[unit : count * self.stride : self.stride] = numbers[unit :: self.each]
        self._resize(self.together)
        self.last = (count - 1) // self.together
        self._resize(count - self.last * self.together)
        return self.last + 1

    def _resize(self, datagrams: int) -> None:
        """Set how many datagrams the last message has."""
        BYTES.pack_into(self.parts, self.last * PART.size + BYTES.size, datagrams * self.size)


def _at(of: bytearray) -> int:
    """Return where these bytes are, as long as nothing resizes them."""
    return ctypes.addressof((ctypes.c_char * len(of)).from_buffer(of)) if of else 0


def together(size: int) -> int:
    """Return how many datagrams of `size` bytes the kernel takes as one."""
    return min(TOGETHER_MOST, TOGETHER_BYTES // size)


class Sender:
    """Sends up to `count` datagrams of `size` bytes to an address; `in_one`: the kernel gets many of them as one."""

    def __init__(self, to: tuple[str, int], count: int, size: int, in_one: bool = False) -> None:
        ip, port = to
        self.name = ADDRESS.pack(socket.AF_INET, port.to_bytes(2, "big"), socket.inet_aton(ip))
        self.count, self.size = count, size
        self._combine(min(together(size), count) if in_one else 1)

    def _combine(self, number: int) -> None:
        self.number, self.combined = number, number == 1
        self.calls: _Calls | _Batches = (
            _Calls(self.count, self.size - NUMBER, self.name)
            if number == 1
            else _Batches(self.count, self.size, self.name, number)
        )

    def send(self, of: socket.socket, first: int, count: int) -> int:
        """Send `count` of them, numbered from `first`; return how many the socket took. Raises OSError if it took
        none."""
        if not self.combined:
            of.setsockopt(SOL_UDP, UDP_SEGMENT, self.size)
            self.combined = True
        messages = self.calls.number(first, count)
        try:
            return min(_checked(libc.sendmmsg(of.fileno(), self.calls.at, messages, 0)) * self.number, count)
        except OSError as error:
            if error.errno not in FITS_NO_FRAME or self.number == 1:
                raise
        of.setsockopt(SOL_UDP, UDP_SEGMENT, 0)
        self._combine(1)
        return self.send(of, first, count)


class _Messages:
    """The arguments of a call for MESSAGES messages, each with one datagram of any size, or many of `size` bytes."""

    def __init__(self, size: int) -> None:
        each = together(size)
        room = -(-each * size // NUMBER) * NUMBER
        self.size, self.data, self.control = size, bytearray(MESSAGES * room), bytearray(MESSAGES * CONTROLS)
        data, control = _at(self.data), _at(self.control)
        self.parts = bytearray(b"".join(PART.pack(data + i * room, room) for i in range(MESSAGES)))
        parts = _at(self.parts)
        self.fresh = b"".join(
            HEAD.pack(0, 0, parts + i * PART.size, 1, control + i * CONTROLS, CONTROLS, 0, 0) for i in range(MESSAGES)
        )
        self.heads = bytearray(self.fresh)
        self.at = ctypes.c_void_p(_at(self.heads))
        unit = gcd(size, NUMBER)
        self.units, self.stride, self.room = memoryview(self.data).cast(UNITS[unit]), size // unit, room // unit
        self.found, self.each = memoryview(bytearray(max(each, MESSAGES) * NUMBER)).cast(UNITS[unit]), NUMBER // unit
        self.numbers = self.found.cast("B").cast("Q")
        self.lengths = memoryview(self.heads).cast("I")[LENGTH_AT // 4 :: HEAD.size // 4]
        words, longs = memoryview(self.control).cast("i"), memoryview(self.control).cast("q")
        self.ints = [words[at // 4 :: CONTROLS // 4] for at in (LEVEL_AT, INT_AT, INT_AT + CONTROL)]
        self.stamps = [longs[(STAMP_AT + 8 * n) // 8 :: CONTROLS // 8] for n in range(2)]

    def receive(self, of: socket.socket) -> tuple[Arrivals, bool]:
        """Return the numbers of those that are there, NO_NUMBER of one without, the ints, and the times in ns of
        CLOCK_MONOTONIC at which they arrived; also return whether there may be more. Raises OSError."""
        self.heads[:] = self.fresh
        count = _received(of, self.at, MESSAGES)
        levels, first, second = (each[:count].tolist() for each in self.ints)
        lengths, times_ns = self.lengths[:count].tolist(), self._times(count)
        if lengths.count(self.size) == count:
            return (self._numbers(0, count, self.room), first, times_ns), count == MESSAGES
        found: Arrivals = [], [], []
        for place, length in enumerate(lengths):
            datagrams, data = 1, first[place]
            if levels[place] == SOL_UDP:
                datagrams, data = -(-length // first[place]), second[place]
            has_numbers = length == datagrams * self.size or (datagrams == 1 and length >= NUMBER)
            start = place * self.room
            found[0].extend(self._numbers(start, datagrams, self.stride) if has_numbers else [NO_NUMBER] * datagrams)
            found[1].extend([data] * datagrams)
            found[2].extend([times_ns[place]] * datagrams)
        return found, count == MESSAGES

    def _numbers(self, start: int, count: int, stride: int) -> list[int]:
        """Return the numbers at `count` places of the data. A stride is in units, as `start` is."""
        for unit in range(self.each):
            at = start + unit
            self.found[unit : count * self.each : self.each] = self.units[at : at + count * stride : stride][:count]
        return self.numbers[:count].tolist()

    def _times(self, count: int) -> list[int]:
        """Return the times of arrival in ns of CLOCK_MONOTONIC."""
        ahead_ns = time.time_ns() - time.monotonic_ns()
        seconds, ns = (each[:count].tolist() for each in self.stamps)
        return [second * SECOND + part - ahead_ns for second, part in zip(seconds, ns, strict=True)]


@functools.cache
def _messages(size: int) -> _Messages:
    """Return those of all that read late: what is returned is not in their memory."""
    return _Messages(size)


class LateReader:
    """Reads a socket's datagrams late, most of them of `size` bytes, and passes them to `arrive`. They have an int of
    control data each."""

    def __init__(self, loop: Loop, of: socket.socket, size: int, arrive: Callable[[Arrivals], None]) -> None:
        self.loop, self.of, self.arrive = loop, of, arrive
        self.messages, self.interval_ns, self.ready = _messages(size), SOONEST_NS, select.poll()
        self.ready.register(of, select.POLLIN)
        of.setsockopt(SOL_UDP, UDP_GRO, 1)
        of.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        of.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, READ_BUFFER)
        # With a filter, the kernel verifies checksums at arrival, not at the read, when the cache has lost the data.
        of.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, PROGRAM.pack(1, _at(TAKE_ALL)))
        self.wait()

    def wait(self) -> None:
        """Read when something has arrived."""
        self.interval_ns = SOONEST_NS
        self.loop.watch(self.of.fileno(), select.EPOLLIN, self.begin)

    def begin(self) -> None:
        self.loop.forget(self.of.fileno())
        self.again()

    def again(self) -> None:
        """Read, and then at the time at which about READ_MOST will have arrived."""
        if self.of.fileno() < 0:
            return
        count = self.read()
        if not count and self.interval_ns == LATEST_NS:
            self.wait()
            return
        soon_ns = self.interval_ns * min(2.0, READ_MOST / max(count, 1))
        self.interval_ns = max(SOONEST_NS, min(int(soon_ns), LATEST_NS))
        self.loop.at(time.monotonic_ns() + self.interval_ns, self.again)

    def read(self) -> int:
        """Read all that is there now; return how many datagrams that were. A system call that fails takes 1 us of
        virtual time, so none reads where nothing is."""
        count, more = 0, bool(self.ready.poll(0))
        while more:
            found, more = self.messages.receive(self.of)
            count += len(found[0])
            self.arrive(found)
        return count


def _received(of: socket.socket, at: ctypes.c_void_p, most: int) -> int:
    """Receive up to `most` messages that are there; return how many. Raises OSError."""
    try:
        return _checked(libc.recvmmsg(of.fileno(), at, most, socket.MSG_DONTWAIT, None))
    except BlockingIOError:
        return 0


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
