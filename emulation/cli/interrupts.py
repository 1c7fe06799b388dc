# SPDX-License-Identifier: BSD-3-Clause
"""What ends a program from outside: Ctrl-C, SIGTERM and SIGHUP become exceptions.

Not while it forks: Python ignores what is raised in the hooks that it calls then (`os.register_at_fork`), so that a
signal which came during a fork, the likelier the busier the machine, would be lost. It is taken up a moment later.
"""

from __future__ import annotations

import logging  # whose hooks must be within ours: so it comes first
import os
import signal
from types import FrameType

from emulation.lanes import Ended

assert logging  # registered
PROGRAM = os.getpid()
LATER_S = 0.001
_forking = False
_late: list[int] = []


def catch() -> None:
    """From now on."""
    os.register_at_fork(before=_begin, after_in_parent=_over, after_in_child=_over)
    signal.signal(signal.SIGALRM, _take_up)
    signal.signal(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None = None) -> None:
    """Raises KeyboardInterrupt at Ctrl-C, each time; and Ended once, so that nothing disturbs the cleaning up."""
    if os.getpid() != PROGRAM:  # a child that has just been forked
        os._exit(128 + number)
    if _forking:
        _late.append(number)
        signal.setitimer(signal.ITIMER_REAL, LATER_S)
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(number, signal.SIG_IGN)
    raise Ended


def _take_up(*_: object) -> None:
    if _late:
        interrupt(_late.pop())


def _begin() -> None:
    global _forking
    _forking = True


def _over() -> None:
    global _forking
    _forking = False
