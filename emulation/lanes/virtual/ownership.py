# SPDX-License-Identifier: BSD-3-Clause
"""The owner of a run folder: nobody while a lane of root runs, and root again afterwards.

If root's program is killed meanwhile, its note, which only root can write, lets the next program take the folder back.
Until then, a program in the lane may have left anything there. So if taking it back fails, nothing in it is read or
written.
"""

import contextlib
import fcntl
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from emulation.files import tree
from emulation.lanes import LaneError, Reason
from emulation.lanes.virtual import barriers
from emulation.lanes.virtual.barriers import NOBODY

NOTES = Path("/run/dcflab-lent")


@contextlib.contextmanager
def lent_to_lane(folders: Sequence[Path | str], to_nobody: bool) -> Iterator[bool]:
    """Lend folders to a lane, which can write to them in this block, and take them back afterwards.

    If `to_nobody`, they belong to nobody, if their file system has owners; yields whether they do. Raises LaneError if
    they cannot be taken back, or OSError.
    """
    with noted(folders) if to_nobody else contextlib.nullcontext() as note:
        try:
            for folder in folders:
                to_nobody = to_nobody and give_to_nobody(folder)
            yield to_nobody
        finally:
            with contextlib.ExitStack() as stack:
                for folder in folders:
                    stack.callback(take_back, folder)
            if note:
                os.unlink(note)


def give_to_nobody(folder: Path | str) -> bool:
    """Make nobody the owner of a folder and its content, except files with other hard links. Return whether this file
    system lets root do so."""

    def meet(_: int, __: str, found: int) -> None:
        is_ = os.fstat(found)
        if stat.S_ISDIR(is_.st_mode) or is_.st_nlink == 1:
            os.chown(tree.place(found), NOBODY, NOBODY)

    try:
        with tree.handle(str(folder)) as top:
            meet(top, "", top)
            tree.walk(top, meet)
    except OSError:
        return False
    return True


def take_back(folder: Path | str, same: Sequence[int] = ()) -> None:
    """Own what the ended process left in a folder, and remove what is dangerous.

    That is what leads elsewhere, or blocks a reader. Also make everything readable for its owner, and clear set-ID
    bits. If the folder is not the `same` as before, leave it alone. Raises LaneError if that fails.
    """
    try:
        with tree.handle(str(folder), flags=tree.HANDLE | os.O_DIRECTORY) as top:
            if same and tree.identity(top) != list(same):
                return

            def meet(within: int, name: str, found: int) -> None:
                _own(found)
                if not _harmless(within, name, found, top):
                    os.unlink(name, dir_fd=within)

            _own(top)
            tree.walk(top, meet)
    except OSError as error:
        said = f"{folder}: {error.strerror}; so nothing in it was read: remove it"
        raise LaneError(Reason.NOT_TAKEN_BACK, said) from None


def _own(found: int) -> None:
    """Own a file of nobody's, make it readable, and clear set-ID bits."""
    is_ = os.fstat(found)
    if is_.st_uid == NOBODY != os.geteuid() == 0:
        os.chown(tree.place(found), os.geteuid(), os.getegid())
        is_ = os.fstat(found)
    mode = stat.S_IMODE(is_.st_mode)
    mine = stat.S_IRWXU if stat.S_ISDIR(is_.st_mode) else stat.S_IRUSR | stat.S_IWUSR
    wanted = mode & ~barriers.SET_ID | mine
    if is_.st_uid == os.geteuid() and wanted != mode and not stat.S_ISLNK(is_.st_mode):
        os.chmod(tree.place(found), wanted)


def _harmless(within: int, name: str, found: int, top: int) -> bool:
    """Return whether it is a folder, a plain file, or a link to something in the folder `top`."""
    mode = os.fstat(found).st_mode
    if not stat.S_ISLNK(mode):
        return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
    with contextlib.suppress(OSError), tree.handle(name, within, os.O_PATH | os.O_CLOEXEC) as target:
        return os.readlink(tree.place(target)).startswith(os.readlink(tree.place(top)) + os.sep)
    return False


@contextlib.contextmanager
def noted(folders: Sequence[Path | str]) -> Iterator[str]:
    """Note that root lends these folders, and yield the path of the note. The caller removes the note when they are
    taken back. In this block, other programs skip it. Raises OSError."""
    NOTES.mkdir(mode=0o700, exist_ok=True)
    while True:
        descriptor, note = tempfile.mkstemp(dir=NOTES)
        with open(descriptor, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # otherwise another program read it before it was locked
                json.dump([[str(folder), *_identity(folder)] for folder in folders], file)
                file.flush()
                yield note
                return


def take_back_noted() -> None:
    """Take back folders that root lent before its program was killed. What cannot be taken back stays noted. Notes are
    ignored if others can write to their folder."""
    if os.geteuid() != 0:  # others cannot even read the notes
        return
    with contextlib.suppress(FileNotFoundError), tree.handle(str(NOTES), flags=tree.FOLDER) as notes:
        is_ = os.fstat(notes)
        if is_.st_uid != 0 or is_.st_mode & 0o022:
            return
        for name in os.listdir(notes):
            with contextlib.suppress(OSError, LaneError), tree.handle(name, notes, os.O_RDONLY | os.O_NOFOLLOW) as note:
                fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with open(os.dup(note)) as file, contextlib.suppress(ValueError):  # killed while it wrote
                    for folder, *same in json.load(file):
                        if os.path.lexists(folder):
                            take_back(folder, same)
                os.unlink(name, dir_fd=notes)


def _identity(folder: Path | str) -> list[int]:
    with tree.handle(str(folder)) as found:
        return tree.identity(found)
