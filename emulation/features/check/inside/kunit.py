# SPDX-License-Identifier: BSD-3-Clause
"""KUnit's suites in a module. The kernel runs them as it loads the module, and shows their results in debugfs, in KTAP
(Documentation/dev-tools/ktap.rst)."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "/sys/kernel/debug/kunit"  # a folder a suite
# A test of a suite. Its own parts are indented further, the suite itself is not.
RESULT = re.compile(r" {4}(?P<failed>not )?ok \d+ (?P<name>\S+)(?P<skipped> # SKIP)?")
FAILURE = re.compile(r" +# \S+: (?P<text>(EXPECTATION|ASSERTION) FAILED .+)")
MOST = 400  # characters that are kept of a failure: macros are shown expanded
MORE = re.compile(r" ++(?!ok |not ok |#|KTAP|\d+\.\.\d+$)")  # of a failure


def suites() -> set[str]:
    """Return the names of the suites that the kernel has; none without KUnit."""
    return set(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else set()


def results(suite: str) -> str:
    """Return what a suite has printed."""
    with open(f"{FOLDER}/{suite}/results", encoding="ascii", errors="replace") as file:
        return file.read()


def read(ktap: str) -> Iterator[tuple[str, str | None]]:
    """Yield the tests of a suite, and of each that fails what it says: "" if nothing. Skipped ones are left out."""
    said: list[str] = []
    for line in ktap.splitlines():
        if found := RESULT.match(line):
            if not found["skipped"]:
                yield found["name"], shortened(" ".join(said)) if found["failed"] else None
            said = []
        elif message := FAILURE.match(line):
            said = [message["text"]]
        elif MORE.match(line):
            said.append(line.strip())


def shortened(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]} ..."
