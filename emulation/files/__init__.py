# SPDX-License-Identifier: BSD-3-Clause
"""Safe access to files in a folder to which others can write.

A program in a lane can write to its run folder, while it runs and before the host has checked what it left. Only plain
files are read: a link leads elsewhere, a FIFO blocks, and a device may have no end. Only new files are written: an
existing file, or a link in its place, may belong to others.
"""

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
    """Open a plain file for reading. If it must be `below` a folder, no component of the path from there may be a link.
    Raises OSError, also if it is not a plain file."""
    *folders, name = [str(path)] if below is None else [str(below), *path.relative_to(below).parts]
    with ExitStack() as stack:
        at = None
        try:
            for folder in folders:
                at = os.open(folder, READ | os.O_DIRECTORY, dir_fd=at)
                stack.callback(os.close, at)
            found = os.open(name, READ, dir_fd=at)
        except OSError as error:
            said = {errno.ELOOP: "it is a link", errno.ENXIO: "it is not a plain file"}
            raise OSError(error.errno, said.get(error.errno or 0, error.strerror), str(path)) from None
    if not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    return found


def opened(path: Path, below: Path | None = None) -> BinaryIO:
    """Open such a file as a stream."""
    return open(descriptor(path, below), "rb")


def read(path: Path, below: Path | None = None) -> bytes:
    """Return the content of such a file. Raises OSError, also if it is larger than any file of a run: a sparse file
    takes no room on the disk."""
    with opened(path, below) as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise OSError(errno.EFBIG, f"it has more than {LARGEST >> 30} GB", str(path))
        return file.read()


def read_json(path: Path, below: Path | None = None) -> Any:
    """Return the JSON in such a file. Raises OSError or Damaged."""
    with reading(path):
        return parsed(read(path, below))


def made(path: Path) -> BinaryIO:
    """Open a new file for writing, unbuffered, replacing a file or a link of this name. Raises OSError."""
    with suppress(FileNotFoundError):
        path.unlink()
    return open(os.open(path, MAKE, 0o666), "wb", buffering=0)


def write(path: Path, content: str | bytes | bytearray) -> None:
    """Write a new file. Raises OSError."""
    with made(path) as file:
        put(file, path, content.encode() if isinstance(content, str) else content)


def put(file: BinaryIO, path: Path, content: bytes | bytearray | memoryview) -> None:
    """Append all of this to an unbuffered file, which may accept only a part at a time. Raises OSError, with the
    path."""
    with naming(path):
        left = memoryview(content).cast("B")
        while left:
            left = left[file.write(left) :]


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the path to an OSError that names no file, such as one about a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise
