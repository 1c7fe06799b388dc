# SPDX-License-Identifier: BSD-3-Clause
"""Files in a folder that somebody else can write to, as what runs in a lane can in its run folder, while it runs and
before the host has looked at what it left.

What is read is a plain file: a link leads elsewhere, a fifo is waited for, and a device may have no end. What is
written is a new file: one that is there already, or a link in its place, is somebody else's.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from emulation.files.foreign import parsed, reading

READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
LARGEST = 1 << 30  # bytes
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def descriptor(path: Path, below: Path | None = None) -> int:
    """A plain file, open to be read. If it is to be `below` a folder, nothing on the way from there is a link. Raises
    OSError, also for what is no plain file."""
    *folders, name = [str(path)] if below is None else [str(below), *path.relative_to(below).parts]
    with ExitStack() as stack:
        at = None
        try:
            for folder in folders:
                at = os.open(folder, READ | os.O_DIRECTORY, dir_fd=at)
                stack.callback(os.close, at)
            found = os.open(name, READ, dir_fd=at)
        except OSError as error:
            said = {errno.ELOOP: "it is a link", errno.ENXIO: "it is no plain file"}
            raise OSError(error.errno, said.get(error.errno or 0, error.strerror), str(path)) from None
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(errno.EINVAL, "it is no plain file", str(path))
    return found


def opened(path: Path, below: Path | None = None) -> BinaryIO:
    """The same, as a stream."""
    return open(descriptor(path, below), "rb")


def read(path: Path, below: Path | None = None) -> bytes:
    """What is in such a file. Raises OSError, also for one that is larger than anything that a run leaves: it takes no
    room on the disk, if it is empty."""
    with opened(path, below) as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise OSError(errno.EFBIG, f"it has more than {LARGEST >> 30} GB", str(path))
        return file.read()


def read_json(path: Path, below: Path | None = None) -> Any:
    """The JSON in such a file. Raises OSError, Damaged."""
    with reading(path):
        return parsed(read(path, below))


def made(path: Path) -> BinaryIO:
    """A new file, open to be written, without a buffer, in place of a file or a link of this name. Raises OSError."""
    with suppress(FileNotFoundError):
        path.unlink()
    return open(os.open(path, MAKE, 0o666), "wb", buffering=0)


def write(path: Path, content: str | bytes | bytearray) -> None:
    """Leave this in a new file. Raises OSError."""
    with made(path) as file:
        put(file, path, content.encode() if isinstance(content, str) else content)


def put(file: BinaryIO, path: Path, content: bytes | bytearray | memoryview) -> None:
    """Append all of this to a file without a buffer, which takes what there is room for. Raises OSError, with the
    path."""
    with naming(path):
        left = memoryview(content).cast("B")
        while left:
            left = left[file.write(left) :]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the system that names no file, as that a disk is full, is one of this file."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise
