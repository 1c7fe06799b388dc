# SPDX-License-Identifier: BSD-3-Clause
"""The workout's job, and its output: to the kernel's log, to the host, and in workout.json.

The kernel's checks report on its console. The workout writes there what it does, so one log has both.
"""

from __future__ import annotations

import json
import os

from emulation.features.check.inside import Name, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


MOST_LOGGED = 1000  # bytes of a record that the kernel takes
COUNTERS, SAVED_COUNTERS = "/sys/kernel/debug/gcov", "coverage"


class Job:
    """`settings` is job.json in the run folder; `results`, with findings and notes, becomes workout.json there."""

    def __init__(self, folder: str) -> None:
        with open(f"{folder}/job.json") as file:
            self.settings: dict[str, Any] = json.load(file)
        self.folder, self.stage = folder, Stage.LOAD
        self.log = os.open("/dev/kmsg", os.O_WRONLY)
        self.findings: list[dict[str, str]] = []
        self.notes: list[str] = []
        self.results: dict[str, Any] = {"leaks": {}}

    def say(self, what: str) -> None:
        """Write to the kernel's log what is being done. Without the newline it would wait for more of the line."""
        os.write(self.log, f"<5>dcflab: {what}".encode()[:MOST_LOGGED] + b"\n")

    def announce(self, what: str) -> None:
        """Write it to the log, and tell the host."""
        self.say(what)
        print(what, flush=True)

    def enter(self, stage: Stage) -> None:
        self.stage = stage
        self.announce(f"stage {stage}")

    def do(self, phase: Callable[[], None]) -> None:
        """Run a phase of the stage, named after its function."""
        self.announce("phase " + phase.__name__.replace("_", " "))
        phase()
        self.write()

    def attempt(self, what: str, action: Callable[[], None]) -> bool:
        """Do what may be refused; return whether it was done. Log it first, as it may be the last thing that
        happens."""
        self.say(what)
        try:
            action()
        except OSError as error:
            self.say(f"{what}: {reason(error)}")
            return False
        return True

    def find(self, name: Name, text: str) -> None:
        self.say(f"finding: {name}: {text}")
        self.findings.append({"stage": self.stage, "name": name, "text": text})
        self.write()

    def note(self, text: str) -> None:
        self.say(f"note: {text}")
        self.notes.append(text)

    def counters(self) -> Iterator[tuple[str, bytes]]:
        """Yield how often each line of the module ran, as gcov has it, by file; nothing if this kernel does not
        count. The kernel has them by where the module was built, which need not be where it is."""
        for path, _, names in os.walk(COUNTERS):
            for name in sorted(names):
                found = [of for of in self.settings["counted"] if f"{path}/{name}".endswith(f"/{of}.gcda")]
                if found:
                    with open(f"{path}/{name}", "rb") as counters:
                        yield f"{max(found, key=len)}.gcda", counters.read()

    def save_counters(self) -> None:
        for name, counters in self.counters():
            saved = f"{self.folder}/{SAVED_COUNTERS}/{name}"
            os.makedirs(os.path.dirname(saved), exist_ok=True)
            with open(saved, "wb") as file:
                file.write(counters)

    def write(self) -> None:
        """Save the results so far."""
        results = {"version": 1, "findings": self.findings, "notes": self.notes, **self.results}
        with open(f"{self.folder}/workout.json", "w") as file:
            json.dump(results, file, indent=1)


def reason(error: OSError) -> str:
    """Return an error's meaning without the attempted action."""
    return os.strerror(error.errno or 0)
