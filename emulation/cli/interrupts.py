# SPDX-License-Identifier: BSD-3-Clause
"""What ends a program from outside: Ctrl-C, SIGTERM and SIGHUP become exceptions.

Python drops what is raised in what it calls on its way: destructors, callbacks of weak references, the hooks of a fork.
A signal that came then, the likelier the busier the machine, would be lost: it is taken up a moment later.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from emulation.lanes import Ended

PROGRAM = os.getpid()
LATER_S = 0.001
_late: list[KeyboardInterrupt] = []


def catch() -> None:
    """From now on."""
    sys.unraisablehook = _dropped
    signal.signal(signal.SIGALRM, _take_up)
    signal.signal(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None = None) -> None:
    """Raises KeyboardInterrupt at Ctrl-C, each time; and Ended once, so that nothing disturbs the cleaning up."""
    if os.getpid() != PROGRAM:  # a child that has just been forked
        os._exit(128 + number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(number, signal.SIG_IGN)
    raise Ended


def _dropped(what: sys.UnraisableHookArgs) -> None:
    if isinstance(what.exc_value, KeyboardInterrupt):
        _late.append(what.exc_value)
        signal.setitimer(signal.ITIMER_REAL, LATER_S)
    else:
        sys.__unraisablehook__(what)


def _take_up(*_: object) -> None:
    if _late:
        raise type(_late.pop())
