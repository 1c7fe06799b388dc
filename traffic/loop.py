# SPDX-License-Identifier: BSD-3-Clause
"""Event loop of one thread: ready file descriptors, and times that have come.

A timerfd keeps times to the nanosecond; select and epoll round to milliseconds and add slack.
"""

from __future__ import annotations

import ctypes
import heapq
import os
import select
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

CLOCK_MONOTONIC, TFD_NONBLOCK, TFD_CLOEXEC, TFD_TIMER_ABSTIME = 1, 0o4000, 0o2000000, 1  # timerfd_create(2)
ITIMERSPEC = struct.Struct("=qqqq")  # interval; time: seconds, nanoseconds

libc = ctypes.CDLL(None, use_errno=True)


def timer() -> int:
    """Return a new timer, as a file descriptor that becomes readable; see `set_timer`. Raises OSError if that fails."""
    return _checked(libc.timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC))


def set_timer(descriptor: int, at_ns: int) -> None:
    """Set a timer to fire once, at this time of CLOCK_MONOTONIC, replacing an earlier time; at once if it is past."""
    at = ITIMERSPEC.pack(0, 0, *divmod(max(at_ns, 1), 1_000_000_000))
    _checked(libc.timerfd_settime(descriptor, TFD_TIMER_ABSTIME, at, None))


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"timerfd: {os.strerror(error)}")
    return result


class Loop:
    """Calls back when something is ready or its time has come; for equal times, in the order of the requests."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.callbacks: dict[int, Callable[[], None]] = {}
        self.times: list[tuple[int, int, Callable[[], None]]] = []
        self.count = 0
        self.timer = timer()
        self.epoll.register(self.timer, select.EPOLLIN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.timer)
        self.epoll.close()

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call back whenever one of these epoll events holds; replaces an earlier watch."""
        if descriptor in self.callbacks:
            self.epoll.modify(descriptor, events)
        else:
            self.epoll.register(descriptor, events)
        self.callbacks[descriptor] = callback

    def forget(self, descriptor: int) -> None:
        if self.callbacks.pop(descriptor, None):
            self.epoll.unregister(descriptor)

    def at(self, when_ns: int, callback: Callable[[], None]) -> None:
        """Call back once, at this time of CLOCK_MONOTONIC."""
        self.count += 1
        heapq.heappush(self.times, (when_ns, self.count, callback))

    def run(self, until_ns: int) -> None:
        """Serve events until this time of CLOCK_MONOTONIC."""
        ended: list[bool] = []
        self.at(until_ns, lambda: ended.append(True))
        armed_ns = None
        while not ended:
            if armed_ns != self.times[0][0]:
                armed_ns = self.times[0][0]
                set_timer(self.timer, armed_ns)
            for descriptor, _ in self.epoll.poll():
                if descriptor in self.callbacks:
                    self.callbacks[descriptor]()
            now = time.monotonic_ns()
            while not ended and self.times[0][0] <= now:
                heapq.heappop(self.times)[2]()


class Part(Loop):
    """One user's part of a shared loop: once it is `over`, its timed callbacks are no longer called."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.over = loop, False

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        self.loop.watch(descriptor, events, callback)

    def forget(self, descriptor: int) -> None:
        self.loop.forget(descriptor)

    def at(self, when_ns: int, callback: Callable[[], None]) -> None:
        self.loop.at(when_ns, lambda: None if self.over else callback())
