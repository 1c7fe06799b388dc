# SPDX-License-Identifier: BSD-3-Clause
"""The tools that build: their identity, running make with progress, and waiting for another process's build."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from emulation.lane import syscalls
from emulation.setup.errors import SetupError, say

# Builds are equal bit by bit: they do not depend on machine, user and time.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "dcflab",
    "KBUILD_BUILD_HOST": "dcflab",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}
MISLEADING = ("ARCH", "CROSS_COMPILE", "KBUILD_OUTPUT", "MAKEFLAGS")
LOG_LINES = 20  # lines of a log
ERROR_LINE = re.compile(r"(?!  [A-Z]).*(\berror\b|undefined reference)", re.IGNORECASE)  # not a file of such a name
COMPILED = "  CC"  # the start of make's line when it compiles a file
TELL_EVERY_S, SHOW_EVERY_S = 20.0, 1.0  # without a terminal, and at one


def fingerprint(file: Path) -> str:
    """Return what distinguishes a package's file from that of another version, without reading it: path, size and time;
    for a folder, those of all its files."""
    real = file.resolve()
    if real.is_dir():
        files = (Path(path, name) for path, _, names in os.walk(real) if ".git" not in path for name in names)
        return "\n".join(sorted(f"{file.parent} {fingerprint(file)}" for file in files if file.is_file()))
    stat = real.stat()
    return f"{real.name} {stat.st_size} {stat.st_mtime_ns}"


def compiler() -> str | None:
    """Return the fingerprint of the compiler that make uses, or None if there is none."""
    found = shutil.which("gcc")
    return fingerprint(Path(found)) if found else None


def make(arguments: list[str], folder: Path, log: Path, what: str) -> None:
    """Run make in a folder on all CPUs and show its progress; append its output to the log. Raises SetupError with its
    errors and its last lines if it fails. make ends if this process does."""
    variables = {name: value for name, value in os.environ.items() if name not in MISLEADING}
    command = ["make", f"-j{len(os.sched_getaffinity(0)) + 1}", *arguments]
    begin = reported = time.monotonic()
    objects, lines = 0, list[str]()
    with (
        log.open("a", buffering=1) as output,
        subprocess.Popen(
            command,
            cwd=folder,
            env=variables | REPRODUCIBLE,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=end_with_us,
        ) as running,
    ):
        assert running.stdout is not None
        for line in running.stdout:
            output.write(line)
            lines.append(line.rstrip("\n"))
            if line.startswith(COMPILED):
                objects += 1
                now = time.monotonic()
                so_far = f"{what}: {objects} files compiled, {now - begin:.0f} s"
                if sys.stderr.isatty():
                    progress(so_far)
                elif now - reported >= TELL_EVERY_S:
                    say(so_far)
                    reported = now
    progress("")
    if running.returncode:
        raise SetupError(f"building the {what} failed", errors_of(lines))
    if objects:
        say(f"{what}: {objects} files compiled in {time.monotonic() - begin:.0f} s")


@contextlib.contextmanager
def report_while_waiting(what: str, logs: Callable[[], Iterable[Path]]) -> Iterator[None]:
    """Print now and then how long this has waited, and others' progress, from the logs that they write."""
    over, begin = threading.Event(), time.monotonic()

    def report() -> None:
        terminal = sys.stderr.isatty()
        while not over.wait(SHOW_EVERY_S if terminal else TELL_EVERY_S):
            objects = sum(compiled(log) for log in logs())
            files = f"{objects} files compiled, " if objects else ""
            (progress if terminal else say)(f"{what}: {files}waited for {time.monotonic() - begin:.0f} s")

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()
        progress("")


def compiled(log: Path) -> int:
    """Return how many files have been compiled so far, from make's output; 0 if that is gone."""
    with contextlib.suppress(OSError), log.open(errors="replace") as lines:
        return sum(line.startswith(COMPILED) for line in lines)
    return 0


def end_with_us() -> None:
    """For `preexec_fn`: the child ends if this process ends, for whatever reason."""
    syscalls.die_with_parent(signal.SIGTERM)


def errors_of(lines: list[str]) -> list[str]:
    """Return the lines of make's output that name errors, which many others may follow; then its last ones."""
    wrong = [line for line in lines if ERROR_LINE.match(line)][:LOG_LINES]
    rest = [line for line in lines[-LOG_LINES:] if line not in wrong]
    return wrong + rest[max(0, len(wrong) + len(rest) - LOG_LINES) :]


def progress(text: str) -> None:
    """Show a temporary line at a terminal; elsewhere it would only fill a log."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
