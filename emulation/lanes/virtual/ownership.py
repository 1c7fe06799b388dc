# SPDX-License-Identifier: BSD-3-Clause
"""Whose a run folder is: nobody's while a lane of root's runs, and root's again afterwards, also if root's program was
killed meanwhile: it notes what it has lent, where root alone can write, and the next one takes that back.

Until a folder is taken back, whatever was in the lane may have left anything there; so if that fails, nothing in it is
read or written.
"""

from __future__ import annotations

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
def lent(folders: Sequence[Path | str], to_nobody: bool) -> Iterator[bool]:
    """Folders that a lane can write to, in this block, after which they are taken back; nobody's, if this is asked for
    and their file system has owners: says whether they are. Raises LaneError, if they cannot be taken back, and
    OSError."""
    with noted(folders) if to_nobody else contextlib.nullcontext() as note:
        try:
            for folder in folders:
                to_nobody = to_nobody and give(folder)
            yield to_nobody
        finally:
            with contextlib.ExitStack() as stack:
                for folder in folders:
                    stack.callback(take_back, folder)
            if note:
                os.unlink(note)


def give(folder: Path | str) -> bool:
    """Make nobody the owner of a folder and of what is in it, but for files that are elsewhere, too; says whether this
    file system lets root do so."""

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
    """Once the process is gone: own what it left, and leave nothing there that leads elsewhere, that blocks who opens
    it, that its owner may not read, or that gives who executes it another's rights. If another folder is there than the
    `same`, it is left alone. Raises LaneError."""
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
    """Own what nobody has, and be able to read it; it gives nobody rights."""
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
    """Whether it is a folder, a plain file, or a link to something in the folder `top`."""
    mode = os.fstat(found).st_mode
    if not stat.S_ISLNK(mode):
        return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
    with contextlib.suppress(OSError), tree.handle(name, within, os.O_PATH | os.O_CLOEXEC) as target:
        return os.readlink(tree.place(target)).startswith(os.readlink(tree.place(top)) + os.sep)
    return False


@contextlib.contextmanager
def noted(folders: Sequence[Path | str]) -> Iterator[str]:
    """Write down that root lends these folders. The note, which is to be removed when they are taken back, is not read
    by others in this block. Raises OSError."""
    NOTES.mkdir(mode=0o700, exist_ok=True)
    while True:
        descriptor, note = tempfile.mkstemp(dir=NOTES)
        with open(descriptor, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else somebody read it before it was locked
                json.dump([[str(folder), *_identity(folder)] for folder in folders], file)
                file.flush()
                yield note
                return


def take_back_noted() -> None:
    """Take back what root had lent when its program was killed, if it is still there. What cannot be taken back stays
    written down. Of a folder that others can write to, nothing is believed."""
    if os.geteuid() != 0:  # it is not even for others to read
        return
    with contextlib.suppress(FileNotFoundError), tree.handle(str(NOTES), flags=tree.FOLDER) as notes:
        is_ = os.fstat(notes)
        if is_.st_uid != 0 or is_.st_mode & 0o022:
            return
        for name in os.listdir(notes):
            with contextlib.suppress(OSError, LaneError), tree.handle(name, notes, os.O_RDONLY | os.O_NOFOLLOW) as note:
                fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with open(os.dup(note)) as file, contextlib.suppress(ValueError):  # it was killed while it wrote
                    for folder, *same in json.load(file):
                        if os.path.lexists(folder):
                            take_back(folder, same)
                os.unlink(name, dir_fd=notes)


def _identity(folder: Path | str) -> list[int]:
    with tree.handle(str(folder)) as found:
        return tree.identity(found)
