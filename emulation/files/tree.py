# SPDX-License-Identifier: BSD-3-Clause
"""The content of a folder that others can fill to any depth, and change meanwhile.

A walk goes from one open folder to the next, by names that are not links, and back by "..", which must be the folder it
came from. So nothing that is renamed meanwhile leads elsewhere, no path gets too long, and neither the stack nor
descriptors run out.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
HANDLE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC

# Called with an open folder, the name of an entry in it, and an O_PATH descriptor of the entry.
Meet = Callable[[int, str, int], None]


@contextmanager
def handle(path: str, folder: int | None = None, flags: int = HANDLE) -> Iterator[int]:
    """Open a descriptor of a path, and do not follow a link. Raises OSError."""
    descriptor = os.open(path, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def place(descriptor: int) -> str:
    """Return a path of an open file, for calls that take no O_PATH descriptor."""
    return f"/proc/self/fd/{descriptor}"


def identity(descriptor: int) -> list[int]:
    """Return what identifies an open file."""
    found = os.fstat(descriptor)
    return [found.st_dev, found.st_ino]


def walk(top: int, meet: Meet, leave: Callable[[int, str], None] = lambda folder, name: None) -> None:
    """Call `meet` for every entry below an open folder. Call `leave` with the parent and the name of each folder, after
    everything in it. Raises OSError, also if a folder is moved during the walk."""
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
    """Open a folder; return None if it is no longer a folder."""
    try:
        return os.open(name, FOLDER, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:  # it is a link now
            return None
        raise


def _met(folder: int, meet: Meet) -> list[str]:
    """Call `meet` for the entries of one folder. Return the names of the folders in it."""
    folders = []
    for name in os.listdir(folder):
        with suppress(FileNotFoundError), handle(name, folder) as found:  # removed meanwhile
            if stat.S_ISDIR(os.fstat(found).st_mode):
                folders.append(name)
            meet(folder, name, found)
    return folders


def plain_files(folder: Path) -> list[Path]:
    """Return all plain files below a folder. Raises OSError, also if the tree is too deep for a path."""
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
    """Make a folder of one's own accessible, whatever its mode is. Raises OSError."""
    is_ = os.fstat(found)
    if stat.S_ISDIR(is_.st_mode) and is_.st_uid == os.geteuid() and ~is_.st_mode & stat.S_IRWXU:
        os.chmod(place(found), stat.S_IMODE(is_.st_mode) | stat.S_IRWXU)


def remove(folder: str) -> None:
    """Remove a folder and all that is in it. Raises OSError."""
    with handle(folder) as top:
        let_in(top)
        empty(top)
    os.rmdir(folder)


def empty(folder: int) -> None:
    """Remove everything in an open folder. Raises OSError."""

    def meet(within: int, name: str, found: int) -> None:
        if stat.S_ISDIR(os.fstat(found).st_mode):
            let_in(found)
        else:
            os.unlink(name, dir_fd=within)

    walk(folder, meet, lambda within, name: os.rmdir(name, dir_fd=within))
