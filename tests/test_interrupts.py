# SPDX-License-Identifier: BSD-3-Clause
"""Signals that end a program are never lost, at any moment."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from emulation.lanes import CHECKOUT

TAKEN_UP = """
import os, signal, subprocess, sys
from emulation.cli import interrupts
number = int(sys.argv[1])
{begin}
interrupts.catch()
try:
    {act}
    signal.sigtimedwait([], 5)
except BaseException as error:
    print(type(error).__name__, *sorted(signal.getsignal(number) is each for each in (signal.SIG_IGN,)))
"""
FORK = 'subprocess.run(["true"], preexec_fn=lambda: None)'  # and the handler runs in its hook
DESTRUCTOR = "class Last:\n    def __del__(self):\n        os.kill(os.getpid(), number)"  # and its handler runs here
MODELS = """
from typing import Annotated
from pydantic import AfterValidator, BaseModel, PlainSerializer
def hit(value):
    os.kill(os.getpid(), number)
    return value
class Read(BaseModel):
    value: Annotated[int, AfterValidator(hit)]
class Written(BaseModel):
    value: Annotated[int, PlainSerializer(hit)] = 1
"""
MOMENTS = {
    "before a fork": ("os.register_at_fork(before=lambda: os.kill(os.getpid(), number))", FORK),
    "after a fork": ("os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), number))", FORK),
    "in a destructor": (DESTRUCTOR, "Last()"),
    "while a model is read": (MODELS, "Read(value=1)"),
    "while a model is written": (MODELS, "Written().model_dump()"),
}


WHILE_IT_LOADS = """
import os, signal, sys
from emulation.cli import interrupts
sys.path.insert(0, sys.argv[3])
open(sys.argv[3] + "/loaded.py", "w").write(f'''
import os, signal
try:
    for _ in range({sys.argv[2]}):
        os.kill(os.getpid(), {sys.argv[1]})
    end = signal.sigtimedwait([], 0.01)
except BaseException as error:
    raise ValueError("a library makes this of it") from error
''')
interrupts.catch()
try:
    import loaded
    signal.sigtimedwait([], 5)
except BaseException as error:
    print(type(error).__name__, "loaded" in sys.modules)
"""


WHILE_A_MISTAKE_IS_SAID = """
import os, sys
from emulation.cli import main
number = int(sys.argv.pop())
main.refusal = lambda error: os.kill(os.getpid(), number)
sys.argv.append("--no-such-option")
main.main()
"""


DROPPED = """
from emulation.cli import interrupts
class Last:
    def __del__(self):
        1 / 0
interrupts.catch()
Last()
"""


def ended(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("number", "said"), [(signal.SIGINT, "KeyboardInterrupt False"), (signal.SIGTERM, "Terminated True")]
)
def test_a_signal_in_what_python_calls_on_its_way_is_taken_up(moment: str, number: int, said: str) -> None:
    """Such as a hook of a fork; a destructor, also of a lock of a module that is being loaded; or what pydantic calls,
    which turns all errors into its own."""
    begin, act = MOMENTS[moment]
    done = ended(TAKEN_UP.format(begin=begin, act=act), int(number))
    assert (done.stdout, done.stderr) == (f"{said}\n", "")


@pytest.mark.parametrize(
    ("number", "times", "said"),
    [
        (signal.SIGINT, 1, "KeyboardInterrupt True"),
        (signal.SIGTERM, 1, "Terminated True"),
        (signal.SIGINT, 2, "ValueError False"),
    ],
)
def test_a_signal_while_modules_are_loaded_waits_until_they_are(
    tmp_path: Path, number: int, times: int, said: str
) -> None:
    """But not a second one, as the import may hang."""
    done = ended(WHILE_IT_LOADS, int(number), times, tmp_path)
    assert (done.stdout, done.stderr) == (f"{said}\n", "")


def test_what_else_is_dropped_there_is_told() -> None:
    assert "ZeroDivisionError" in ended(DROPPED).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_mistake_is_reported_is_reported_too(number: int) -> None:
    done = ended(WHILE_A_MISTAKE_IS_SAID, int(number))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "dcflab: interrupted\n")
