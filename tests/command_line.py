# SPDX-License-Identifier: BSD-3-Clause
"""Run the program as a separate process, and find what it leaves behind."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = [sys.executable, "-P", "-m", "emulation"]
HANGS_UP = ["env", "--default-signal=HUP"]  # before a program that gets SIGHUP, which nohup lets it ignore


def environment(here: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(here.parent / "tmp")}


def dcflab(
    here: Path, *arguments: str, wrapper: list[str] | None = None, limit_s: float = 60
) -> subprocess.CompletedProcess[str]:
    command = [*(wrapper or []), *PROGRAM, *arguments]
    return subprocess.run(command, cwd=here, env=environment(here), capture_output=True, text=True, timeout=limit_s)


def ran(here: Path, *arguments: object, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end, with more variables of the environment, and check its exit status."""
    command, env = [*PROGRAM, *map(str, arguments)], {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, cwd=here, env=env, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def obeyed(here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it within this process, which takes a hundredth of the time."""
    from emulation.cli.main import run_commands

    status: object = 0
    with contextlib.ExitStack() as stack:
        out, err = (stack.enter_context(to(io.StringIO())) for to in (redirect_stdout, redirect_stderr))
        stack.enter_context(contextlib.chdir(here))
        stack.enter_context(mock.patch("sys.argv", ["dcflab", *arguments]))
        try:
            run_commands()
        except SystemExit as end:
            status = end.code
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())  # type: ignore[arg-type]


@contextlib.contextmanager
def started(here: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start a run in `here`/run, and yield while it runs; end it afterwards."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [*HANGS_UP, *PROGRAM, *arguments, "--out", "run"]
    with subprocess.Popen(command, cwd=here, env=environment(here), **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def wait_for(what: Callable[[], object], limit_s: float = 30) -> None:
    deadline = time.monotonic() + limit_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def processes(here: Path, folder: Path | None = None) -> list[int]:
    """Return the kernels that have files of the run folder open, or the processes whose command line names another
    folder."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            said = command.read_bytes()
            kernel = b"time-travel=inf-cpu" in said and not folder
            opened = [os.readlink(each) for each in (command.parent / "fd").iterdir()] if kernel else []
            if any(each.startswith(f"{here / 'run'}/") for each in opened) or (
                folder and f"{folder}/".encode() in said
            ):
                found.append(int(command.parent.name))
    return sorted(found)


def assert_nothing_left(here: Path) -> None:
    wait_for(lambda: not processes(here))  # killed processes take a moment to go
    assert list((here.parent / "tmp").iterdir()) == []


def assert_interrupted(status: int | None, out: str, err: str, more: str = "") -> None:
    """Check that a program was interrupted. If SIGINT arrives during an `exec`, such as a dataclass's, Python itself
    ends by the signal, which a shell shows as 130."""
    assert status in (130, -signal.SIGINT)
    said = [line for line in err.splitlines() if line]
    assert (out, said) == ("", [*more.splitlines(), "dcflab: interrupted"])


def assert_refused(done: subprocess.CompletedProcess[str], culprit: str) -> None:
    """Check for one line that names the error, perhaps followed by suggestions; with --json, for one line of JSON."""
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert lines[0].startswith('{"error": ' if "--json" in done.args else "dcflab: ")
    assert culprit in lines[0]
    assert all(line.startswith(("        try: ./dcflab", "        did you mean: ")) for line in lines[1:])


def assert_answered_with_help(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: ./dcflab")
    assert "dcflab: " not in done.stderr
