# SPDX-License-Identifier: BSD-3-Clause
"""Read `air.trace`, the records that the air module wrote, into numpy columns.

The file is a chain of little-endian records, each with its own size, all multiples of 8 bytes (docs/interfaces.md,
section 3). One pass follows the chain; everything after that is done on whole columns. Nothing in the file is
believed unchecked: what does not fit is a `TraceError` that names the byte.
"""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
NOBODY = 0xFFFF


class TraceError(ValueError):
    """The trace is truncated or corrupt; the text says at which byte, and what is wrong."""


class Kind(IntEnum):
    """What a frame is to the counters."""

    RTS = 0
    CTS = 1
    ACK = 2  # the MAC's
    TCP_DATA = 3
    TCP_ACK = 4
    ROUTING = 5
    MANAGEMENT = 6
    OTHER = 7


def is_response(kind: Array) -> Array:
    """Whether a frame is a CTS or an ACK. All others are attempts of their senders."""
    response: Array = (kind == Kind.CTS) | (kind == Kind.ACK)
    return response


class Outcome(IntEnum):
    """What became of an arrival."""

    OK = 0
    COLLISION = 1
    OWN_TX = 2  # the receiver was sending
    NOISE = 3
    BELOW_THRESHOLD = 4


class Reason(IntEnum):
    """Why a station was done with a frame."""

    ACKED = 0
    GROUP = 1  # sent, no ACK due
    RTS_LIMIT = 2
    SHORT_LIMIT = 3
    LONG_LIMIT = 4
    STAGES = 5
    QUEUE_FULL = 6
    REFUSED = 7


GIVEN_UP = (Reason.RTS_LIMIT, Reason.SHORT_LIMIT, Reason.LONG_LIMIT, Reason.STAGES)


class _Record(IntEnum):
    TX = 1
    RX = 2
    END = 3
    MARK = 4


def record(fields: str) -> np.dtype[Any]:
    """The dtype of "name:type name:type ...", little-endian and packed."""
    return np.dtype([(name, "<" + kind) for name, kind in (field.split(":") for field in fields.split())])


TX = record(
    "size:u2 type:u1 kind:u1 station:u2 receiver:u2 id:i8 start_ns:i8 duration_ns:u4 rate:u2 freq:u2 queued_ns:i8"
    " length:u2 attempt:u1 flags:u1 msdu:u4 reserved:u4 caplen:u2 zero:u2"
)
RX = record(
    "size:u2 type:u1 outcome:u1 station:u2 other:u2 id:i8 start_ns:i8 power_mdbm:i4 other_kind:u1 addressed:u1 zero:u2"
)
END = record("size:u2 type:u1 reason:u1 station:u2 kind:u1 pad:u1 id:i8 time_ns:i8 msdu:u4 short:u1 long:u1 zero:u2")
MARK = record("size:u2 type:u1 what:u1 lost:u4 time_ns:i8 zero:i8")
FLAG_SHORT_PREAMBLE = 1


@dataclass(frozen=True)
class Trace:
    """The records of one run, between the start and the stop mark.

    `tx`, `rx`, `end` are structured arrays (dtypes TX, RX, END), in file order; times are ns of CLOCK_MONOTONIC.
    `rx_tx[i]` is the row in `tx` of the transmission that arrival i belongs to. The captured bytes of transmission i
    are `data[frame[i] : frame[i] + tx["caplen"][i]]`: 802.11 header first, no FCS.
    """

    data: Array
    tx: Array
    rx: Array
    end: Array
    frame: Array
    rx_tx: Array
    start_ns: int
    stop_ns: int
    lost_records: int


def read(path: Path) -> Trace:
    """Read and check the trace file at `path`. Raises TraceError, or OSError if it cannot be read."""
    return parse(np.fromfile(path, np.uint8))


def parse(data: Array) -> Trace:
    """The trace in the bytes `data` (uint8, one dimension). Raises TraceError."""
    at = _follow(data)
    words = data[: data.size & ~7].view("<u8")
    kind = data[at + 2]
    size = data[at].astype(np.int64) | data[at + 1].astype(np.int64) << 8

    def fail(bad: Array, what: str) -> None:
        if bad.any():
            raise TraceError(f"trace is corrupt: at byte {int(at[bad][0])}: {what}")

    fail((kind < _Record.TX) | (kind > _Record.MARK), "a record of a type that there is not")
    head = np.array([0, TX.itemsize, RX.itemsize, END.itemsize, MARK.itemsize])[kind]
    fail((size < head) | ((kind != _Record.TX) & (size != head)), "a record whose size does not go with its type")

    def gather(which: _Record, dtype: np.dtype[Any]) -> tuple[Array, Array]:
        offsets = at[kind == which]
        return offsets, runs(words, dtype.itemsize // 8)[offsets // 8].view(dtype).reshape(-1)

    def check(offsets: Array, bad: Array, what: str) -> None:
        if bad.any():
            raise TraceError(f"trace is corrupt: at byte {int(offsets[bad][0])}: {what}")

    tx_at, tx = gather(_Record.TX, TX)
    rx_at, rx = gather(_Record.RX, RX)
    end_at, end = gather(_Record.END, END)
    mark_at, mark = gather(_Record.MARK, MARK)
    caplen = tx["caplen"].astype(np.int64)
    check(tx_at, (caplen + TX.itemsize + 7) & ~7 != tx["size"], "a transmission longer or shorter than its bytes")
    check(tx_at, caplen + 4 > tx["length"], "a transmission with more bytes than its frame has")
    check(tx_at, caplen < 10, "a transmission without an 802.11 header")
    check(tx_at, tx["kind"] > max(Kind), "a kind of frame that there is not")
    check(tx_at, (tx["rate"] == 0) | (tx["duration_ns"] == 0), "a transmission without rate or duration")
    check(tx_at[1:], np.diff(tx["id"]) <= 0, "transmissions that are not numbered in their order")
    check(rx_at, rx["outcome"] > max(Outcome), "an outcome that there is not")
    check(rx_at, rx["other_kind"] > max(Kind), "a kind of frame that there is not")
    check(end_at, (end["reason"] > max(Reason)) | (end["kind"] > max(Kind)), "a reason or kind that there is not")
    if mark.size == 0 or mark["what"][0] != 0:
        raise TraceError("trace is corrupt: at byte 0: no start mark")
    if mark.size != 2 or mark["what"][1] != 1 or mark_at[1] != at[-1]:
        raise TraceError(f"trace is truncated: at byte {data.size}: it ends without the stop mark")
    lost = int(mark["lost"][1])
    row = np.searchsorted(tx["id"], rx["id"]).clip(max=max(0, tx.size - 1))
    known = tx["id"][row] == rx["id"] if tx.size else np.zeros(rx.size, bool)
    if lost:  # the module said so: do without arrivals whose transmission is missing
        rx, row = rx[known], row[known]
    else:
        check(rx_at, ~known, "an arrival of a transmission that is not in the trace")
    return Trace(data, tx, rx, end, tx_at + TX.itemsize, row, int(mark["time_ns"][0]), int(mark["time_ns"][1]), lost)


def runs(words: Array, length: int) -> Array:
    """A view of one-dimensional `words` whose row i is words[i : i + length]: picking or setting rows copies whole
    runs, several times faster than an index for each word."""
    if words.size < length:
        return np.zeros((0, length), words.dtype)
    return np.lib.stride_tricks.sliding_window_view(words, length, writeable=words.flags.writeable)


def _follow(data: Array) -> Array:
    """The byte offsets of all records: each record's size leads to the next."""
    sizes = np.ascontiguousarray(data[: data.size & ~7].view("<u2")[::4])
    steps = (sizes >> 3).data
    offsets: list[int] = []
    add, at, end = offsets.append, 0, len(steps)
    while at < end:
        step = steps[at]
        if not step:
            break
        add(at)
        at += step
    places = np.array(offsets, np.int64)  # in units of 8 bytes
    odd = np.flatnonzero(sizes[places] & 7) if places.size else places
    if odd.size or at < end:
        byte = 8 * int(places[odd[0]] if odd.size else at)
        raise TraceError(f"trace is corrupt: at byte {byte}: a record of {sizes[byte // 8]} bytes")
    if at > end or data.size & 7 or not offsets:
        byte = 8 * offsets[-1] if at > end else data.size & ~7
        raise TraceError(f"trace is truncated: at byte {byte}: {data.size - byte} bytes are left of the last record")
    return places * 8
