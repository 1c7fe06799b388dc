# SPDX-License-Identifier: BSD-3-Clause
"""Read a file of a run that is going on, as it grows, to the run's end.

The kernel tells of every change in the run's folder (inotify(7)), so nothing is asked over and over. A run is going on
from when its trace or its lane's folder is there until it has written `run.json`, or has failed and taken them away.
"""

import ctypes
import io
import os
from pathlib import Path
from typing import Any

from emulation import files

CHANGED = 0x2 | 0x80 | 0x100 | 0x200 | 0x400  # IN_MODIFY, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF
EVENTS = 1 << 16  # bytes


def is_going_on(run: Path) -> bool:
    """Whether what is in a run's folder is still being written."""
    return not (run / "run.json").exists() and ((run / "air.trace").exists() or any(run.glob(".lane-*")))


class Following(io.RawIOBase):
    """A file of a run's folder; it need not be there yet. Raises OSError if the folder cannot be watched."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: io.FileIO | None = None
        library = ctypes.CDLL(None, use_errno=True)
        self.changes = library.inotify_init1(os.O_CLOEXEC)
        if self.changes < 0 or library.inotify_add_watch(self.changes, bytes(path.parent), CHANGED) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(path.parent))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as there is, waiting for some; 0 at the end of the run."""
        while True:
            last = not is_going_on(self.path.parent)  # asked first: what was written before is then read, too
            if self.file is None and self.path.exists():
                self.file = io.FileIO(files.descriptor(self.path))
            if count := self.file.readinto(buffer) if self.file else 0:
                return count
            if last:
                return 0
            os.read(self.changes, EVENTS)

    def close(self) -> None:
        if not self.closed:
            os.close(self.changes)
            if self.file:
                self.file.close()
        super().close()
