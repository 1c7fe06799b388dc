# SPDX-License-Identifier: BSD-3-Clause
"""What ends a program from outside is never lost, in whichever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from emulation.lanes import CHECKOUT

DURING_A_FORK = """
import os, signal, subprocess, sys
from emulation.cli import interrupts
number = int(sys.argv[1])
os.register_at_fork(**{sys.argv[2]: lambda: os.kill(os.getpid(), number)})  # and its handler runs in this hook
interrupts.catch()
try:
    subprocess.run(["true"], preexec_fn=lambda: None)  # which is a fork
    signal.sigtimedwait([], 5)
except BaseException as error:
    print(type(error).__name__, *sorted(signal.getsignal(number) is each for each in (signal.SIG_IGN,)))
"""


@pytest.mark.parametrize("hook", ["before", "after_in_parent"])
@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "KeyboardInterrupt False"), (signal.SIGTERM, "Ended True")]
)
def test_a_signal_during_a_fork_is_taken_up(hook: str, number: int, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", DURING_A_FORK, str(int(number)), hook], cwd=CHECKOUT,
                          capture_output=True, text=True)  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{said}\n", "")
