# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders that do not outlive their program for long.

A killed program leaves its folder, and the next program removes it. A program keeps its folder locked while it lives,
so a folder of ours that can be locked is unused. The content of a folder is never trusted: others may have written it.
"""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator

from emulation.files import tree
from emulation.lanes.virtual.ownership import take_back_noted

PREFIX = ".dcflab-"


@contextlib.contextmanager
def scratch(what: str, place: str = "") -> Iterator[str]:
    """Make a temporary folder in `place`, or where temporary files are; remove it at the end of the block."""
    place = place or tempfile.gettempdir()
    sweep(place)
    while True:
        folder = tempfile.mkdtemp(prefix=f"{PREFIX}{what}-", dir=place)
        with contextlib.suppress(OSError):  # another program sweeps, and found it before it was locked or opened
            descriptor = os.open(folder, tree.FOLDER)
            with contextlib.ExitStack() as undo:
                undo.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.isdir(folder):
                    undo.pop_all()
                    break
    try:
        yield folder
    finally:
        try:
            _remove(folder, descriptor)
        finally:
            os.close(descriptor)


def sweep(place: str) -> None:
    """Take back what root lent, and remove folders that killed programs of this user left."""
    take_back_noted()
    with os.scandir(place) as found:
        left = [each.path for each in found if each.name.startswith(PREFIX)]
    for folder in left:
        with contextlib.suppress(OSError), tree.handle(folder) as found:
            if os.fstat(found).st_uid == os.geteuid():
                tree.let_in(found)
                with tree.handle(".", found, tree.FOLDER) as descriptor:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(folder, descriptor)


def _remove(folder: str, descriptor: int) -> None:
    with contextlib.suppress(OSError):
        tree.empty(descriptor)
        os.rmdir(folder)
