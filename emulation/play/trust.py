# SPDX-License-Identifier: BSD-3-Clause
"""Find the programs that this machine would run if the runs of a folder are repeated, or its specification is planned.
Others may have written the folder, so the user is asked.

Programs are found in any field, by the form of their names. Security does not depend on a complete list: a
specification is made from what was agreed to, and refuses any other file (`topologies.files.Trust`).
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from analysis.results import result
from analysis.results.result import Result
from emulation.lane.errors import Misuse
from emulation.lanes import Lane
from emulation.setup import packages
from emulation.setup.errors import say
from topologies.files import NOBODY, Trust

FOLDERS = ("modules", "plugins")  # options that name folders of programs
UNCONFINED = "host"  # the lane in which scripts, and all programs that a plan names, are root on this machine
FLAG = "--trust"


def programs_of(before: Result, lane: Lane | None = None) -> list[str]:
    """Return the programs that these runs build or run on this machine outside a lane. `lane`: play them in another."""
    script = before.script
    found = [*programs_of_specification(before), *(f"{folder}/" for folder in (script.modules if script else ()))]
    if lane is None:
        found += programs_in(before.host.lane)
        if "/" in (before.host.kernel or ""):
            found.append(str(before.host.kernel))
        if before.host.lane == UNCONFINED:
            found.append(f"all of it, in the lane {UNCONFINED}")
    return list(dict.fromkeys(found))


def programs_of_specification(before: Result) -> Iterator[str]:
    yield from programs_in(before.specification)
    for run in before.runs:
        yield from programs_in(run.changes)


def programs_in(value: Any, key: str = "") -> Iterator[str]:
    """Yield the programs that an option's value names, at any depth, also in the form of a command line: Python files,
    and folders, which end in a slash."""
    todo = [(key, value)]
    while todo:
        key, value = todo.pop()
        if isinstance(value, dict):
            todo += [(str(name), each) for name, each in reversed(value.items())]
        elif isinstance(value, list | tuple):
            todo += [(key, each) for each in reversed(value)]
        elif isinstance(value, str):
            words = re.split("[,;=]", value)
            yield from (f"{word}/" for word in words if word and key in FOLDERS)
            yield from dict.fromkeys(word for word in (*words, value) if word.endswith(".py") and key not in FOLDERS)


def is_trusted(programs: Collection[str], folder: Path, trusted: bool) -> bool:
    """Return whether the user trusts these programs of a run folder; ask unless `trusted`."""
    shown = ", ".join(programs)
    question = f"dcflab: {folder}/result.json makes this machine run, with your rights: {shown}. Continue? [y/N] "
    return trusted or not programs or packages.confirmed(question)


def trust_to_play(folder: Path, before: Result, trusted: bool, lane: Lane | None = None) -> Trust:
    """Return what may be run to repeat these runs. Raises Misuse if the user does not trust the programs they name."""
    programs = programs_of(before, lane)
    if not is_trusted(programs, folder, trusted):
        raise Misuse(f"{folder}/result.json names programs that run on this machine with your rights: "
                     f"{', '.join(programs)}; if you trust them, add {FLAG}")  # fmt: skip
    return Trust(paths(programs, False), paths(programs, True))


def trust_for_ranges(folder: Path, trusted: bool) -> Trust:
    """Return what may be run to compute the stations' ranges, which a film can omit. Nothing is planned, so no program
    of a folder is run."""
    try:
        before = result.read(folder / "result.json")
    except (OSError, ValueError):
        return NOBODY
    files = [name for name in dict.fromkeys(programs_of_specification(before)) if not name.endswith("/")]
    if is_trusted(files, folder, trusted):
        return Trust(paths(files, False), None)
    say(f"the ranges of stations are not shown: to compute them, this machine would run {', '.join(files)} with your "
        f"rights; if you trust it, add {FLAG}")  # fmt: skip
    return NOBODY


def paths(programs: Collection[str], folders: bool) -> frozenset[str]:
    return frozenset(str(Path(name).resolve()) for name in programs if name.endswith("/") == folders)
