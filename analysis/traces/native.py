# SPDX-License-Identifier: BSD-3-Clause
"""The loops of `native.c`, on numpy's arrays. The library is built on first use, and kept in the cache."""

from __future__ import annotations

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
PACKET_BYTES = 152  # that write_packets() writes of one, at most, beside its frame and its text


@cache
def _library() -> ctypes.CDLL:
    from emulation.setup import library  # only now: that is all of set-up, and not all who read traces need a loop

    loaded = ctypes.CDLL(str(library.obtain(SOURCE)))
    address = ctypes.c_void_p
    loaded.follow.argtypes, loaded.follow.restype = [address, ctypes.c_long, address, address], ctypes.c_long
    loaded.fields.argtypes = [*[address] * 4, ctypes.c_long, ctypes.c_long, address]
    loaded.fields.restype = None
    loaded.write_packets.argtypes = [address, address, ctypes.c_long, *[address] * 5]
    loaded.write_packets.restype = ctypes.c_long
    return loaded


def follow(data: Array) -> tuple[Array, int]:
    """The byte offsets of the records at the beginning of `data`, each of which has its own size, and where that ends:
    at a record that is not whole, or of a size that none can have."""
    offsets, end = np.empty(data.size // 8, np.int64), np.zeros(1, np.int64)
    count = _library().follow(data.ctypes.data, data.size, offsets.ctypes.data, end.ctypes.data)
    return offsets[:count], int(end[0])


def fields(data: Array, at: Array, length: Array, offset: Array | int, size: int) -> Array:
    """The numbers that are in `size` bytes, big-endian, at an `offset` of each frame, which lies `at` a place of `data`
    and has this `length`; 0 where it is too short."""
    data, offset = np.ascontiguousarray(data), np.broadcast_to(offset, at.shape)
    each = [np.ascontiguousarray(column, np.int64) for column in (at, length, offset)]
    numbers = np.empty(at.size, np.int64)
    _library().fields(data.ctypes.data, *(column.ctypes.data for column in each), at.size, size, numbers.ctypes.data)
    return numbers


def write_packets(packets: Array, tx: Array, data: Array, frame: Array, texts: Sequence[bytes]) -> Array:
    """Packets (dtype PACKET) as pcapng blocks, in bytes. `tx`, `data` and `frame` are those of a Trace, `texts` those
    of comments, by their number."""
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
