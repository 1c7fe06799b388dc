# SPDX-License-Identifier: BSD-3-Clause
"""Turn Ctrl-C, SIGTERM and SIGHUP into exceptions.

Python drops exceptions in destructors, callbacks of weak references, and the hooks of a fork. While modules are loaded,
libraries turn them into other errors. So a signal at such a time is handled a moment later.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from emulation.lanes import Terminated

PROGRAM = os.getpid()
LATER_S = 0.001
LOADER = "<frozen importlib._bootstrap>"
_late: list[type[KeyboardInterrupt]] = []


def catch() -> None:
    """Install the handlers."""
    sys.unraisablehook = _dropped
    signal.signal(signal.SIGALRM, _take_up)
    signal.signal(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None = None) -> None:
    """Raises KeyboardInterrupt at each Ctrl-C, and Terminated once, so that nothing disturbs the cleanup."""
    if os.getpid() != PROGRAM:  # a child that has just been forked
        os._exit(128 + number)
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)
    error = KeyboardInterrupt if number == signal.SIGINT else Terminated
    if _loads(frame) and not _late:  # the second signal is not delayed, as the import may hang
        _later(error)
    else:
        _late.clear()  # one exception for both signals
        raise error


def _loads(frame: FrameType | None) -> bool:
    """Return whether the frame is within an import."""
    while frame and frame.f_code.co_filename != LOADER:
        frame = frame.f_back
    return frame is not None


def _later(error: type[KeyboardInterrupt]) -> None:
    _late.append(error)
    signal.setitimer(signal.ITIMER_REAL, LATER_S)


def _dropped(what: sys.UnraisableHookArgs) -> None:
    if isinstance(what.exc_value, KeyboardInterrupt):
        _later(type(what.exc_value))
    else:
        sys.__unraisablehook__(what)


def _take_up(_: int, frame: FrameType | None) -> None:
    if _late:
        error = _late.pop()
        if _loads(frame):
            _later(error)
        else:
            raise error
