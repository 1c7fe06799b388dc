# SPDX-License-Identifier: BSD-3-Clause
"""Parse KCSAN's reports in a kernel's log: each is a data race with its two accesses.

KCSAN lets some accesses to memory wait, and watches the bytes meanwhile. It reports another access to them with both
stacks. If only the value has changed, the other access is in code that is not watched: all but the module's. If it has
changed to what slub_debug writes to freed memory, the module uses what it, or another, has freed meanwhile.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from emulation.features.check import Finding, Name, Stage, splats
from emulation.features.check.lines import FRAME, Lines

TITLE = re.compile(r"^BUG: KCSAN: (data-race|assert: race) in ")
ACCESS = re.compile(
    r"^(?P<alone>race at unknown origin, with )?(?P<what>[a-z][a-z -]*)(?: \([a-z, ]+\))? to 0x[0-9a-f]+"
    r" of (?P<size>\d+) bytes by (?:task \d+|interrupt) on cpu \d+:$"
)
WRITES = ("write", "read-write", "assert no accesses")
UNKNOWN = "code that is not the module's"
FREED = re.compile(r"^value changed: 0x[0-9a-f]+ -> 0x(6b|a5)?(6b){3,}$")  # POISON_FREE, POISON_END
FREE_PATH = " Free path:"


@dataclass(frozen=True)
class Access:
    """One of two accesses: what it does (`write`), and the stack entry of the function that does it."""

    what: str
    frame: str

    @property
    def writes(self) -> bool:
        return self.what in WRITES

    def named(self, lines: Lines) -> str:
        """Return the place, the function and what it does."""
        frame = FRAME.search(self.frame)
        function = frame["function"].partition(".")[0] if frame else self.frame.partition("+")[0]
        place = lines.of(self.frame)
        return f"{place} in {function} ({self.what})" if place else f"{function} ({self.what})"


@dataclass(frozen=True)
class Race:
    """A report: one access or both, its lines, and what the load was doing."""

    accesses: tuple[Access, ...]
    report: tuple[str, ...]
    during: str = ""
    time_s: float | None = None

    def lost(self, lines: Lines) -> bool:
        """Return whether a write may be lost: both write, or both are of one line, which updates (`count++`). Many
        modules read statistics while they change."""
        places = {lines.of(access.frame) for access in self.accesses}
        both = all(access.writes for access in self.accesses) or (len(places) == 1 and places != {""})
        return (len(self.accesses) == 2 and both) or self.freed

    @property
    def freed(self) -> bool:
        """Return whether the memory was freed meanwhile."""
        return any(map(FREED.match, self.report))

    def said(self, lines: Lines) -> str:
        """Return both accesses, the same for either order."""
        if self.freed:
            return f"{self.accesses[0].named(lines)}{freed(self.report, lines)}"
        named = sorted((access.named(lines) for access in self.accesses), key=lambda text: ("(read" in text, text))
        return " against ".join([*named, UNKNOWN][:2])

    def finding(self, lines: Lines) -> Finding:
        where = next((splats.culprit([access.frame]) for access in self.accesses), "")
        text, name = f"{self.said(lines)}{self.during}", Name.USE_AFTER_FREE if self.freed else Name.DATA_RACE
        return Finding(Stage.SMP, name, text, None, self.report, where, time_s=self.time_s)


def freed(report: Sequence[str], lines: Lines) -> str:
    """Return that the memory is freed meanwhile, and by which function of the module, and where, if
    `mem_dump_obj()` printed it."""
    after = itertools.dropwhile(lambda line: FREE_PATH not in line, report)
    frames = (frame for line in after if (frame := FRAME.search(line)))
    by = next((f" by {frame['function']} ({lines.of(frame[0]) or frame['module']})" for frame in frames), "")
    return f", and they are freed meanwhile{by}"


def take(console: Sequence[str], module: str) -> tuple[list[Race], list[str]]:
    """Take the reports out of a log: return those about a module, and the other lines."""
    rest: list[str] = []
    races: list[Race] = []
    lines = [splats.split(line) for line in console]
    at = 0
    while at < len(lines):
        end = at + 1
        if TITLE.match(lines[at].text):
            while end < len(lines) and not splats.BAR.match(lines[end].text):
                end += 1
            report = tuple(line.text for line in lines[at:end])
            found = tuple(accesses(report))
            if any(f" [{module}]" in access.frame for access in found):
                races.append(Race(found, report, splats.last_lines(rest), lines[at].time_s))
        else:
            rest.append(console[at])
        at = end
    return races, rest


def accesses(report: Sequence[str]) -> Iterator[Access]:
    """Yield the accesses of a report: each is a line that says what it does, and a stack."""
    for line, stack in itertools.pairwise(report):
        if match := ACCESS.match(line):
            yield Access(match["what"], stack.strip())
