# SPDX-License-Identifier: BSD-3-Clause
"""Which of a module's own lines ran in a workout, from the debug kernel's counters (`*.gcda`). gcov reads them with
what the compiler left beside the module (`*.gcno`). A line that never ran was not checked."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

Lines = Mapping[str, Mapping[str, int]]  # by file and line: number of executions

MOST_RANGES = 12


def counted(built: Path) -> list[str]:
    """Return the names of the files with counters, without their endings, in the folder where a module was built."""
    return sorted(str(notes.relative_to(built).with_suffix("")) for notes in built.rglob("*.gcno"))


def read(kept: Path, built: Path) -> dict[str, Counter[str]]:
    """Return the counts in `kept` for the sources in `built`, where the module was built; empty without counters."""
    found: dict[str, Counter[str]] = {}
    for counters in sorted(kept.rglob("*.gcda")):
        notes = built / counters.relative_to(kept).with_suffix(".gcno")
        if not notes.is_file():
            continue
        shutil.copyfile(notes, counters.with_suffix(".gcno"))
        command = ["gcov", "--json-format", "--stdout", counters.name]
        listed = subprocess.run(command, cwd=counters.parent, capture_output=True, text=True)
        for line in listed.stdout.splitlines() if not listed.returncode else ():
            for file in json.loads(line)["files"]:
                path = (built / file["file"]).resolve()
                if path.is_relative_to(built.resolve()) and path.is_file():  # not one of the kernel's headers
                    lines = found.setdefault(str(path.relative_to(built.resolve())), Counter())
                    for one in file["lines"]:
                        lines[str(one["line_number"])] += one["count"]
    return found


def total(found: Iterable[Lines]) -> dict[str, Counter[str]]:
    """Add up the counts of several workouts."""
    whole: dict[str, Counter[str]] = {}
    for one in found:
        for file, lines in one.items():
            whole.setdefault(file, Counter()).update(lines)
    return whole


def summary(found: Lines) -> str:
    """Return a sentence on how many lines ran, and which did not; empty if nothing is known."""
    all_ = sum(map(len, found.values()))
    if not all_:
        return ""
    ran = sum(count > 0 for lines in found.values() for count in lines.values())
    missed = [f"{file}:{part}" for file, lines in sorted(found.items()) for part in ranges(lines)]
    rest = f" and {len(missed) - MOST_RANGES} more places" if len(missed) > MOST_RANGES else ""
    which = f"; these did not: {', '.join(missed[:MOST_RANGES])}{rest}" if missed else ""
    return f"{ran} of its {all_} lines ran{which}"


def ranges(lines: Mapping[str, int]) -> list[str]:
    """Return the lines that never ran, as `33-35`; a range ignores lines without code."""
    numbers = sorted(map(int, lines))
    parts = []
    for ran, group in groupby(numbers, lambda number: lines[str(number)] > 0):
        row = list(group)
        if not ran:
            parts.append(str(row[0]) if len(row) == 1 else f"{row[0]}-{row[-1]}")
    return parts
