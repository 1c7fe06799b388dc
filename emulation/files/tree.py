# SPDX-License-Identifier: BSD-3-Clause
"""All that is in a folder which somebody else could fill: as deep as he liked, and changed while one looks.

Whoever walks it goes from one open folder to the next, by names that are no links, and back by "..", which must be
where he came from: so nothing that is renamed meanwhile leads elsewhere, no path gets too long, and neither stack nor
descriptors run out.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

# Called with an open folder, the name of something in it, and an O_PATH descriptor of that.
Meet = Callable[[int, str, int], None]


@contextmanager
def handle(path: str, folder: int | None = None, flags: int = HANDLE) -> Iterator[int]:
    """A descriptor of what is there, which is not followed if it is a link. Raises OSError."""
    descriptor = os.open(path, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def place(descriptor: int) -> str:
    """A path of what is open, for calls that take no descriptor of this kind."""
    return f"/proc/self/fd/{descriptor}"


def identity(descriptor: int) -> list[int]:
    """What tells it from all others."""
    found = os.fstat(descriptor)
    return [found.st_dev, found.st_ino]


def walk(top: int, meet: Meet, leave: Callable[[int, str], None] = lambda folder, name: None) -> None:
    """Meet all that is in an open folder, and leave each folder in it, from the one that it is in, when all that was in
    there has been met. Raises OSError, also if a folder is moved while one is in it."""
    here = os.open(".", FOLDER, dir_fd=top)
    above: list[tuple[list[int], list[str], str]] = []
    try:
        within = _met(here, meet)
        while within or above:
            if within:
                name = within.pop()
                below = _entered(here, name)
                if below is None:
                    continue
                above.append((identity(here), within, name))
                os.close(here)
                here = below
                within = _met(here, meet)
            else:
                came_from, within, name = above.pop()
                back = os.open("..", FOLDER, dir_fd=here)
                os.close(here)
                here = back
                if identity(here) != came_from:
                    raise OSError(errno.ESTALE, f"the folder {name} was moved meanwhile")
                leave(here, name)
    finally:
        os.close(here)


def _entered(folder: int, name: str) -> int | None:
    """None: it is no folder any more."""
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link by now
            return None
        raise


def _met(folder: int, meet: Meet) -> list[str]:
    """Meet what is in one folder; the names of the folders in it."""
    folders = []
    for name in os.listdir(folder):
        with suppress(FileNotFoundError), handle(name, folder) as found:  # gone meanwhile
            if stat.S_ISDIR(os.fstat(found).st_mode):
                folders.append(name)
            meet(folder, name, found)
    return folders


def plain_files(folder: Path) -> list[Path]:
    """All plain files in a folder, however deep. Raises OSError, also for what is too deep to have a path."""
    found, folders = [], [str(folder)]
    while folders:
        with os.scandir(folders.pop()) as there:
            for each in there:
                if each.is_dir(follow_symlinks=False):
                    folders.append(each.path)
                elif each.is_file(follow_symlinks=False):
                    found.append(Path(each.path))
    return found


def let_in(found: int) -> None:
    """A folder of one's own can be entered, whatever its mode was. Raises OSError."""
    is_ = os.fstat(found)
    if stat.S_ISDIR(is_.st_mode) and is_.st_uid == os.geteuid() and ~is_.st_mode & stat.S_IRWXU:
        os.chmod(place(found), stat.S_IMODE(is_.st_mode) | stat.S_IRWXU)


def remove(folder: str) -> None:
    """A folder, and all that is in it. Raises OSError."""
    with handle(folder) as top:
        let_in(top)
        empty(top)
    os.rmdir(folder)


def empty(folder: int) -> None:
    """All that is in an open folder goes. Raises OSError."""

    def meet(within: int, name: str, found: int) -> None:
        if stat.S_ISDIR(os.fstat(found).st_mode):
            let_in(found)
        else:
            os.unlink(name, dir_fd=within)

    walk(folder, meet, lambda within, name: os.rmdir(name, dir_fd=within))
