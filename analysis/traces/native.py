# SPDX-License-Identifier: BSD-3-Clause
"""The loops of `native.c`, on numpy's arrays. The library is built on first use, and cached."""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SOURCE = Path(__file__).with_suffix(".c")
PACKET = np.dtype([("tx", "<i8"), ("time_ns", "<i8"), ("text", "<i8"), ("waited_ns", "<i8"), ("signal_mdbm", "<i4"),
                   ("interface", "<u2"), ("bad", "u1"), ("zero", "u1")])  # fmt: skip
PACKET_BYTES = 176  # upper bound of a packet's size in write_packets(), without its frame and its text


@cache
def _library() -> ctypes.CDLL:
    from emulation.setup import library  # imported late: it loads all of setup, and not every reader needs a loop

    loaded = ctypes.CDLL(str(library.obtain(SOURCE)))
    address = ctypes.c_void_p
    loaded.follow.argtypes, loaded.follow.restype = [address, ctypes.c_long, address, address], ctypes.c_long
    loaded.fields.argtypes = [*[address] * 4, ctypes.c_long, ctypes.c_long, address]
    loaded.fields.restype = None
    loaded.expand_mpdus.argtypes = [address, address, ctypes.c_long, address, address]
    loaded.expand_mpdus.restype = ctypes.c_long
    loaded.write_packets.argtypes = [address, address, ctypes.c_long, *[address] * 5]
    loaded.write_packets.restype = ctypes.c_long
    return loaded


def follow(data: Array) -> tuple[Array, int]:
    """Return the byte offsets of the records at the beginning of `data`, each with its own size, and the end of the
    last whole one. Following stops at an incomplete record or an impossible size."""
    offsets, end = np.empty(data.size // 8, np.int64), np.zeros(1, np.int64)
    count = _library().follow(data.ctypes.data, data.size, offsets.ctypes.data, end.ctypes.data)
    return offsets[:count], int(end[0])


def expand_mpdus(data: Array, at: Array, count: int, dtype: np.dtype[Any]) -> tuple[Array, Array, int]:
    """Return the `count` MPDUs of the records TX at these offsets, as rows of this dtype; where the bytes of each
    begin; and which record has a size that is not that of its MPDUs, or -1."""
    at, rows, frames = np.ascontiguousarray(at), np.empty(count, dtype), np.empty(count, np.int64)
    bad = _library().expand_mpdus(data.ctypes.data, at.ctypes.data, at.size, rows.ctypes.data, frames.ctypes.data)
    return rows, frames, int(bad)


def fields(data: Array, at: Array, length: Array, offset: Array | int, size: int) -> Array:
    """Return the numbers in `size` bytes, big-endian, at `offset` of each frame. A frame is `at` an offset of `data`
    and has `length` bytes; the result is 0 where it is too short."""
    data, offset = np.ascontiguousarray(data), np.broadcast_to(offset, at.shape)
    each = [np.ascontiguousarray(column, np.int64) for column in (at, length, offset)]
    numbers = np.empty(at.size, np.int64)
    _library().fields(data.ctypes.data, *(column.ctypes.data for column in each), at.size, size, numbers.ctypes.data)
    return numbers


def write_packets(packets: Array, tx: Array, data: Array, frame: Array, texts: Sequence[bytes]) -> Array:
    """Return packets (dtype PACKET) as pcapng blocks, in bytes. `tx`, `data` and `frame` are those of a Trace; `texts`
    are the comments by number."""
    packets, tx, frame = np.ascontiguousarray(packets), np.ascontiguousarray(tx), np.ascontiguousarray(frame)
    blob = np.frombuffer(b"".join(texts) or b"\0", np.uint8)
    text_at = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    most = PACKET_BYTES + max(map(len, texts), default=0)
    out = np.empty(most * packets.size + int(tx["caplen"][packets["tx"]].sum(dtype=np.int64)), np.uint8)
    size = _library().write_packets(
        out.ctypes.data, packets.ctypes.data, packets.size, tx.ctypes.data, data.ctypes.data, frame.ctypes.data,
        blob.ctypes.data, text_at.ctypes.data,
    )  # fmt: skip
    return out[:size]
