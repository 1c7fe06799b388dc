# SPDX-License-Identifier: BSD-3-Clause
"""Temporary folders that do not outlive their program for long: who is killed leaves them, and the next one sweeps.

A folder is locked as long as its program lives; one that can be locked is nobody's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator

from emulation.lanes.virtual.ownership import take_back_noted

PREFIX = ".dcflab-"


@contextlib.contextmanager
def scratch(what: str, place: str = "") -> Iterator[str]:
    """A folder of our own in `place`, or where temporary files are; gone at the end of the block."""
    place = place or tempfile.gettempdir()
    sweep(place)
    while True:
        folder = tempfile.mkdtemp(prefix=f"{PREFIX}{what}-", dir=place)
        with contextlib.suppress(OSError):  # somebody sweeps, and found it before it was locked, or even opened
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            with contextlib.ExitStack() as undo:
                undo.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.isdir(folder):
                    undo.pop_all()
                    break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def sweep(place: str) -> None:
    """Remove what killed programs of this user have left, and take back what they had lent."""
    with os.scandir(place) as found:
        left = [each.path for each in found if each.name.startswith(PREFIX)]
    for folder in left:
        with contextlib.suppress(OSError):  # locked; another user's; gone meanwhile
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                take_back_noted(descriptor)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
