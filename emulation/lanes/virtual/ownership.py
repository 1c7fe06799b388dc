# SPDX-License-Identifier: BSD-3-Clause
"""Whose a run folder is: nobody's while a lane of root's runs, and root's again afterwards, also if root's program was
killed meanwhile: it notes what it has lent, and who sweeps takes it back.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from emulation.lanes.virtual import barriers
from emulation.lanes.virtual.barriers import NOBODY

NOTE = "lent.json"


def inside(folder: Path | str) -> Iterator[str]:
    """The folder and all that is in it."""
    yield str(folder)
    for path, folders, files in os.walk(folder):
        yield from (os.path.join(path, name) for name in (*folders, *files))


def give(folder: Path | str) -> bool:
    """Make nobody the owner of a folder and of what is in it; says whether this file system lets root do so."""
    try:
        for path in inside(folder):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    except OSError:
        return False
    return True


def take_back(folder: Path | str) -> None:
    """Once the process is gone: own what it left, and leave nothing there that leads elsewhere, that blocks who opens
    it, or that gives who executes it another's rights."""
    real, mine = os.path.realpath(folder), (os.geteuid(), os.getegid())
    for path in inside(folder):
        with contextlib.suppress(OSError):
            found = os.lstat(path)
            if found.st_uid == NOBODY != mine[0]:
                os.chown(path, *mine, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                if not os.path.realpath(path).startswith(real + os.sep):
                    os.unlink(path)
            elif not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
                os.unlink(path)
            elif found.st_mode & barriers.SET_ID:
                os.chmod(path, found.st_mode & 0o777)


def note(where: str, folders: Iterable[Path | str]) -> None:
    """Write down in a folder of our own which folders are lent."""
    told = [[str(folder), *_identity(str(folder))] for folder in folders]
    (Path(where) / NOTE).write_text(json.dumps(told))


def take_back_noted(where: int) -> None:
    """Take back what somebody who was killed had lent, by his note in this open folder; if it is ours, and the folders
    are still the same. What can be no note of ours is left alone."""
    if os.fstat(where).st_uid != os.geteuid():
        return
    with contextlib.suppress(OSError, ValueError, TypeError):
        with open(os.open(NOTE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=where)) as file:
            told = json.load(file)
        for folder, *identity in told:
            with contextlib.suppress(OSError):
                if _identity(folder) == identity:
                    take_back(folder)


def _identity(folder: str) -> list[int]:
    found = os.lstat(folder)
    return [found.st_dev, found.st_ino]
