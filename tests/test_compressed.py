# SPDX-License-Identifier: BSD-3-Clause
"""Compressed files: content is preserved for any parts, and foreign files are rejected before they grow."""

import gzip
import os
import random
import tracemalloc
from io import BytesIO
from pathlib import Path

import pytest

from emulation.files import compressed
from emulation.files.compressed import Compressed, Stream, pieces
from emulation.files.foreign import Damaged

CONTENT = random.Random(1).randbytes(3_000_000).translate(b"frame" * 51 + b"f")


@pytest.mark.parametrize("part", [1009, 70_001, 1 << 30])
def test_what_goes_in_comes_out(tmp_path: Path, part: int) -> None:
    """The digest is the same for any parts, and any program reads the file."""
    at_once, in_parts = Compressed(tmp_path / "a"), Compressed(tmp_path / "b")
    at_once.write(CONTENT)
    for at in range(0, len(CONTENT), part):
        in_parts.write(CONTENT[at : at + part])
    assert at_once.finish() == in_parts.finish()
    assert compressed.read(tmp_path / "b") == CONTENT
    assert compressed.read(tmp_path / "a") == CONTENT == gzip.decompress((tmp_path / "a").read_bytes())
    assert at_once.size == (tmp_path / "a").stat().st_size < len(CONTENT) / 2
    with open(tmp_path / "a", "rb") as file:
        stream = Stream(pieces(file, tmp_path / "a"))
        assert b"".join(iter(lambda: stream.read(part) or b"", b"")) == CONTENT


def test_what_is_not_compressed_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT)
    assert compressed.read(tmp_path / "a") == CONTENT
    assert list(pieces(BytesIO(b""), tmp_path)) == []


@pytest.mark.slow
def test_a_bomb_is_refused(tmp_path: Path) -> None:
    """Before it takes memory: one of a single kind at its first bytes, others at the limit."""
    (tmp_path / "bomb").write_bytes(gzip.compress(bytes(1 << 28)))
    tracemalloc.start()
    for begins, said in ((b"text", "bomb: not a text, or cut short"), (b"", "more than 16 MB, which no run leaves")):
        with pytest.raises(Damaged, match=said):
            compressed.read(tmp_path / "bomb", begins, "text")
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()


def test_a_file_with_holes_is_refused(tmp_path: Path) -> None:
    """Before any of its 1 TB is read."""
    for name, content in (("whole", CONTENT), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        compressed.pack(tmp_path / name)
        assert compressed.read(tmp_path / f"{name}.gz") == content and not (tmp_path / name).exists()
    (tmp_path / "sparse").write_bytes(CONTENT)
    os.truncate(tmp_path / "sparse", 1 << 40)
    with pytest.raises(Damaged, match="sparse: it has holes"):
        compressed.pack(tmp_path / "sparse")
    assert not (tmp_path / "sparse.gz").exists()


@pytest.mark.parametrize("at", [3, 12, 500, -5, -1])
def test_what_is_cut_or_corrupted_is_reported(tmp_path: Path, at: int) -> None:
    packed = gzip.compress(CONTENT[:9000])
    for spoilt in (packed[:at], packed[:at] + bytes([packed[at] ^ 255]) + packed[at:][1:]):
        (tmp_path / "a").write_bytes(spoilt)
        with pytest.raises(Damaged, match=r"a: (cut short|it cannot be unpacked)"):
            compressed.read(tmp_path / "a")
