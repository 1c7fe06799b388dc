# SPDX-License-Identifier: BSD-3-Clause
"""Read a file of a run that is going on, as it grows, to the run's end.

The kernel reports every change in the run's folder (inotify(7)), so nothing is polled. A run is going on while its
trace or its lane's folder exists and it has not written `run.json`; a run that fails removes them.
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
    """Return whether files in a run's folder are still being written."""
    return not (run / "run.json").exists() and ((run / "air.trace").exists() or any(run.glob(".lane-*")))


class Following(io.RawIOBase):
    """A file of a run's folder, which may not exist yet. Raises OSError if the folder cannot be watched."""

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
        """Read what is available, and wait until there is something; return 0 at the end of the run."""
        while True:
            last = not is_going_on(self.path.parent)  # checked first, so that all written before is still read
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
