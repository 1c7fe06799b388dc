# SPDX-License-Identifier: BSD-3-Clause
"""What a run folder has this machine run, if its runs are played again or its specification is made: others may have
written it, so the user is asked.

Whatever names a program is found by what it looks like, in whichever field. Nothing hangs on that this list is whole:
a specification is made of what was agreed to, and refuses another file (`topologies.files.Trust`).
"""

from __future__ import annotations

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

FOLDERS = ("modules", "plugins")  # the options that name folders of programs
UNCONFINED = "host"  # the lane in which a script, and any program that a plan names, is root of this machine
FLAG = "--trust"


def programs_of(before: Result, lane: Lane | None = None) -> list[str]:
    """What these runs name that is built or run on this machine, and not in a lane. `lane`: another to play them in."""
    found = [*of_specification(before), *(f"{folder}/" for folder in (before.script.modules if before.script else ()))]
    if lane is None:
        found += named(before.host.lane)
        if "/" in (before.host.kernel or ""):
            found.append(str(before.host.kernel))
        if before.host.lane == UNCONFINED:
            found.append(f"all of it, in the lane {UNCONFINED}")
    return list(dict.fromkeys(found))


def of_specification(before: Result) -> Iterator[str]:
    """The same of what was asked for alone."""
    yield from named(before.specification)
    for run in before.runs:
        yield from named(run.changes)


def named(value: Any, key: str = "") -> Iterator[str]:
    """The programs that a value of an option names, however deep it is, also as it is written on a command line: files
    of Python, and folders, which end in a slash."""
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


def known(programs: Collection[str], folder: Path, trusted: bool) -> bool:
    """Whether the user knows these, which a run folder names: who has said so is not asked."""
    shown = ", ".join(programs)
    question = f"dcflab: {folder}/result.json has this machine run, as you: {shown}. Go on? [y/N] "
    return trusted or not programs or packages.agreed(question)


def to_play(folder: Path, before: Result, trusted: bool, lane: Lane | None = None) -> Trust:
    """What may be run to play these runs again: what they name. Raises Misuse if the user does not know it."""
    programs = programs_of(before, lane)
    if not known(programs, folder, trusted):
        raise Misuse(f"{folder}/result.json names programs that run on this machine, as you: {', '.join(programs)}; "
                     f"if you know them, {FLAG} says so")  # fmt: skip
    return Trust(paths(programs, False), paths(programs, True))


def to_film(folder: Path, trusted: bool) -> Trust:
    """What may be run to find out how far stations reach, which a film does without if need be: nothing is planned, so
    of folders no program is run."""
    try:
        before = result.read(folder / "result.json")
    except (OSError, ValueError):
        return NOBODY
    files = [name for name in dict.fromkeys(of_specification(before)) if not name.endswith("/")]
    if known(files, folder, trusted):
        return Trust(paths(files, False), None)
    say(f"without how far stations reach: to find that out, this machine would run {', '.join(files)}, as you; if you "
        f"know it, {FLAG} says so")  # fmt: skip
    return NOBODY


def paths(programs: Collection[str], folders: bool) -> frozenset[str]:
    return frozenset(str(Path(name).resolve()) for name in programs if name.endswith("/") == folders)
