# SPDX-License-Identifier: BSD-3-Clause
"""The time of a scheduler that several programs share: wmediumd's -t, and User-Mode Linux's `time-travel=ext:SOCKET`.

One of the programs runs at a time. It says when it wants to run next (REQUEST) and waits (WAIT); the scheduler lets the
one with the earliest time run (RUN). So computing takes no time, and one simulation is one sequence of events. The
messages are those of the kernel's include/uapi/linux/um_timetravel.h, in nanoseconds.
"""

from __future__ import annotations

import enum
import errno
import heapq
import os
import select
import socket
import struct

from traffic.loop import Loop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Op(enum.IntEnum):
    """What a message says."""

    ACK, START, REQUEST, WAIT, GET, UPDATE, RUN, FREE_UNTIL, GET_TOD, BROADCAST = range(10)


MESSAGE = struct.Struct("=IIQ")  # op, number, time
NAME = 0x6D65_6469  # ours, for the scheduler


class Calendar(Loop):
    """A loop in the time of the scheduler at this socket. Raises OSError if nobody listens there."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.sequence, self.now_ns, self.running = 0, 0, True
        self.asked_ns: int | None = None
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self.socket.connect(path)
            self._ask(Op.START, NAME)
            self.now_ns = self._ask(Op.GET)
        except (OSError, EOFError) as error:
            self.close()
            number = getattr(error, "errno", errno.ECONNRESET)
            raise OSError(number, f"{path}: {os.strerror(number)}") from None
        self.watch(self.socket.fileno(), select.EPOLLIN, lambda: self._answer(*self._read()))

    def close(self) -> None:
        self.socket.close()
        super().close()

    def now(self) -> int:
        """Return the time in nanoseconds; while another program runs, its time."""
        if not self.running:
            self.now_ns = self._ask(Op.GET)
        return self.now_ns

    def at(self, when_ns: int, callback: Callable[[], None]) -> None:
        super().at(max(when_ns, self.now()), callback)
        if not self.running:
            self._request()

    def run(self, until_ns: int) -> None:
        """Serve events until this time. Raises EOFError if the scheduler ends before."""
        ended: list[bool] = []
        self.at(until_ns, lambda: ended.append(True))
        while True:
            while not ended and self.times[0][0] <= self.now_ns:
                heapq.heappop(self.times)[2]()
            if ended:
                return
            self._request()
            self.running = False
            self._ask(Op.WAIT)
            while not self.running:
                for descriptor, _ in self.epoll.poll():
                    if descriptor in self.callbacks:
                        self.callbacks[descriptor]()

    def _request(self) -> None:
        """Say when we want to run next, unless that is said."""
        if self.asked_ns != self.times[0][0]:
            self.asked_ns = self.times[0][0]
            self._ask(Op.REQUEST, self.asked_ns)

    def _ask(self, op: Op, time_ns: int = 0) -> int:
        """Send a message, and return what its answer says."""
        self.sequence += 1
        self.socket.sendall(MESSAGE.pack(op, self.sequence, time_ns))
        while True:
            answer, number, found_ns = self._read()
            if answer == Op.ACK and number == self.sequence:
                return found_ns
            self._answer(answer, number, found_ns)

    def _read(self) -> tuple[int, int, int]:
        """Read a message. File descriptors beside it, of memory that a program can share, are closed."""
        data = b""
        while len(data) < MESSAGE.size:
            piece, descriptors, _, _ = socket.recv_fds(
                self.socket, MESSAGE.size - len(data), 2, socket.MSG_CMSG_CLOEXEC
            )
            for descriptor in descriptors:
                os.close(descriptor)
            if not piece:
                raise EOFError  # the scheduler is gone
            data += piece
        op, number, time_ns = MESSAGE.unpack(data)
        return op, number, time_ns

    def _answer(self, op: int, number: int, time_ns: int) -> None:
        """Take a message of the scheduler's own."""
        if op == Op.RUN:
            self.running, self.now_ns, self.asked_ns = True, time_ns, None
        if op != Op.ACK:
            self.socket.sendall(MESSAGE.pack(Op.ACK, number, time_ns))
