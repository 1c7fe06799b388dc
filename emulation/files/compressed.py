# SPDX-License-Identifier: BSD-3-Clause
"""Files that a run keeps compressed, with gzip, which Wireshark and Scapy read as they are.

Whoever reads one need not know whether it is compressed, and gets it in pieces of bounded size. A few bytes of a
stranger's file may unpack to a thousand times as many, so who holds all of it says how many that may be.
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from isal import isal_zlib

from emulation import files
from emulation.files.foreign import Damaged

MAGIC, GZIP = b"\x1f\x8b", 31  # zlib's word for gzip with the largest window
LEVEL = 2  # of isal's: a fifth of the time of zlib's level 2, for a fifth more bytes
PIECE, BLOCK = 1 << 20, 1 << 16  # bytes: read, and compressed, at a time
MOST_TIMES, LEAST = 64, 1 << 24  # what a run leaves unpacks to less than so many times its size, or so many bytes


class Compressed:
    """A new file, in place of one of this name, to be written bit by bit. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, files.made(path)
        self.packer, self.digest = isal_zlib.compressobj(LEVEL, isal_zlib.DEFLATED, GZIP), hashlib.sha256()
        self.size = 0  # the file's bytes until now
        self.held = bytearray()  # the compressor's bytes depend on the pieces that it gets: so these have one size

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
        """No more comes; returns the SHA-256, in hex, of what was written, which no version of a compressor changes."""
        with self.file:
            self._put(self.packer.compress(self.held) + self.packer.flush())
        return self.digest.hexdigest()

    def remove(self) -> None:
        """It was in vain."""
        self.file.close()
        self.path.unlink(missing_ok=True)

    def _put(self, packed: bytes) -> None:
        files.put(self.file, self.path, packed)
        self.size += len(packed)


def at_once(content: bytes) -> bytes:
    """These bytes, compressed."""
    return bytes(isal_zlib.compress(content, LEVEL, GZIP))


def pieces(file: BinaryIO | io.RawIOBase, name: Path) -> Iterator[bytes]:
    """What is in an open file, unpacked if it is compressed. Raises Damaged, with the `name`; OSError."""
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
    """All that is in a file, unpacked. Raises Damaged, also if that is more than any run leaves, and at once if it does
    not begin as one of its `kind` does; OSError."""
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
    """Where a file is that `pack` may have compressed."""
    packed = path.with_name(f"{path.name}.gz")
    return packed if packed.exists() else path


def pack(path: Path) -> None:
    """Compress a file, whose name ends with .gz from then on. Raises OSError."""
    with files.opened(path) as file:
        packed = Compressed(path.with_name(f"{path.name}.gz"))
        while piece := file.read(PIECE):
            packed.write(piece)
    packed.finish()
    path.unlink()


class Stream(io.RawIOBase):
    """Pieces of bytes as a file, for who reads files."""

    def __init__(self, of: Iterator[bytes | memoryview]) -> None:
        self.of, self.left = of, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as the next piece has; 0 at the end."""
        while not self.left:
            if (piece := next(self.of, None)) is None:
                return 0
            self.left = memoryview(piece)
        size = min(len(buffer), len(self.left))
        buffer[:size], self.left = self.left[:size], self.left[size:]
        return size
