# SPDX-License-Identifier: BSD-3-Clause
"""Turn Ctrl-C, SIGTERM and SIGHUP into exceptions.

Python drops exceptions in destructors, callbacks of weak references, and the hooks of a fork. While modules are loaded,
libraries turn them into other errors; so does pydantic while it writes a model. So a signal at such a time is handled a
moment later.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from emulation.lanes import Terminated

PROGRAM = os.getpid()
DELAY_S = 0.001
TRANSLATORS = ("importlib", "pydantic")  # packages that may turn an exception into another error
_delayed: list[type[KeyboardInterrupt]] = []


def catch() -> None:
    sys.unraisablehook = _on_unraisable
    signal.signal(signal.SIGALRM, _raise_delayed)
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
    if _is_inconvenient(frame) and not _delayed:  # the second signal is not delayed, as an import may hang
        _delay(error)
    else:
        _delayed.clear()  # one exception for both signals
        raise error


def _is_inconvenient(frame: FrameType | None) -> bool:
    while frame and str(frame.f_globals.get("__name__")).partition(".")[0] not in TRANSLATORS:
        frame = frame.f_back
    return frame is not None


def _delay(error: type[KeyboardInterrupt]) -> None:
    _delayed.append(error)
    signal.setitimer(signal.ITIMER_REAL, DELAY_S)


def _on_unraisable(what: sys.UnraisableHookArgs) -> None:
    if isinstance(what.exc_value, KeyboardInterrupt):
        _delay(type(what.exc_value))
    else:
        sys.__unraisablehook__(what)


def _raise_delayed(_: int, frame: FrameType | None) -> None:
    if _delayed:
        error = _delayed.pop()
        if _is_inconvenient(frame):
            _delay(error)
        else:
            raise error
