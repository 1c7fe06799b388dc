# SPDX-License-Identifier: BSD-3-Clause
"""Files that a run keeps compressed, with gzip, which Wireshark and Scapy read directly.

Readers need not know whether a file is compressed, and get it in pieces of bounded size. A few bytes from others may
unpack to a thousand times as many, so code that keeps all of it has a limit.
"""

import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from isal import isal_zlib

from emulation import files
from emulation.files.foreign import Damaged

MAGIC, GZIP = b"\x1f\x8b", 31  # zlib's number for gzip with the largest window
LEVEL = 2  # isal's: a fifth of the time of zlib's level 2, for a fifth more bytes
PIECE, BLOCK = 1 << 20, 1 << 16  # bytes to read, and to compress, at a time
MOST_TIMES, LEAST = 64, 1 << 24  # limit of a run's file: unpacked, this many times its size, or this many bytes


class Compressed:
    """A new file, replacing one of this name, to be written piece by piece. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, files.made(path)
        self.packer, self.digest = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, GZIP), hashlib.sha256()
        self.size = 0  # bytes of the file so far
        self.held = bytearray()  # input until it fills a block, as the output depends on the size of pieces

    def write(self, content: bytes | memoryview) -> None:
        self.digest.update(content)
        lacking = -len(self.held) % BLOCK
        self.held += content[:lacking]
        if len(self.held) == BLOCK:
            self._put(self.packer.compress(self.held))
            self.held.clear()
        rest = memoryview(content)[lacking:]
        whole = len(rest) - len(rest) % BLOCK
        for at in range(0, whole, BLOCK):
            self._put(self.packer.compress(rest[at : at + BLOCK]))
        self.held += rest[whole:]

    def finish(self) -> str:
        """Complete the file. Return the SHA-256, in hex, of the uncompressed content, which is the same with any
        compressor."""
        with self.file:
            self._put(self.packer.compress(self.held) + self.packer.flush())
        return self.digest.hexdigest()

    def remove(self) -> None:
        self.file.close()
        self.path.unlink(missing_ok=True)

    def _put(self, packed: bytes) -> None:
        files.put(self.file, self.path, packed)
        self.size += len(packed)


def at_once(content: bytes) -> bytes:
    """Return these bytes compressed."""
    return bytes(isal_zlib.compress(content, LEVEL, GZIP))


def pieces(file: BinaryIO | io.RawIOBase, name: Path) -> Iterator[bytes]:
    """Yield the content of an open file, unpacked if it is compressed. Raises OSError, or Damaged with the `name`."""
    held = file.read(PIECE) or b""
    if not held.startswith(MAGIC):
        while held:
            yield held
            held = file.read(PIECE) or b""
        return
    unpacker = zlib.decompressobj(GZIP)
    while not unpacker.eof:
        if not held:
            raise Damaged(f"{name}: cut short: there is more to be unpacked")
        try:
            yield unpacker.decompress(held, PIECE)
        except zlib.error as error:
            raise Damaged(f"{name}: it cannot be unpacked: {error}") from None
        held = unpacker.unconsumed_tail or (b"" if unpacker.eof else file.read(PIECE) or b"")


def read(path: Path, begins: bytes = b"", kind: str = "") -> bytearray:
    """Return the whole unpacked content of a file. Raises OSError, or Damaged if it is larger than any run's, or, at
    once, if it does not begin with `begins`, like a `kind`."""
    with files.opened(path) as file:
        most = max(MOST_TIMES * file.seek(0, io.SEEK_END), LEAST)
        file.seek(0)
        found = bytearray()
        for piece in filter(None, pieces(file, path)):
            if not found and not piece.startswith(begins):
                raise Damaged(f"{path}: not a {kind}, or cut short")
            found += piece
            if len(found) > most:
                raise Damaged(f"{path}: it unpacks to more than {most >> 20} MB, which no run leaves")
    return found


def kept(path: Path) -> Path:
    """Return the path of a file that `pack` may have compressed."""
    packed = path.with_name(f"{path.name}.gz")
    return packed if packed.exists() else path


def pack(path: Path) -> None:
    """Compress a file that was written from its beginning to its end; its name then ends in .gz. Raises OSError, or
    Damaged if it has holes: then its writer set a size, and reading it may take for ever."""
    with files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size and os.lseek(file.fileno(), 0, os.SEEK_HOLE) < size:
            raise Damaged(f"{path}: it has holes, which no recorder leaves")
        file.seek(0)
        packed = Compressed(path.with_name(f"{path.name}.gz"))
        while piece := file.read(PIECE):
            packed.write(piece)
    packed.finish()
    path.unlink()


class Stream(io.RawIOBase):
    """An iterator of pieces as a file."""

    def __init__(self, of: Iterator[bytes | memoryview]) -> None:
        self.of, self.left = of, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at most the rest of the current piece; return 0 at the end."""
        while not self.left:
            if (piece := next(self.of, None)) is None:
                return 0
            self.left = memoryview(piece)
        size = min(len(buffer), len(self.left))
        buffer[:size], self.left = self.left[:size], self.left[size:]
        return size
