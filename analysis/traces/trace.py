# SPDX-License-Identifier: BSD-3-Clause
"""Read `air.trace`, the records of the air module, into numpy columns.

The file is a chain of little-endian records, each with its own size, a multiple of 8 bytes (docs/records.md, section
3). One pass follows the chain; all else works on whole columns. Everything in the file is checked: what does not fit
raises `Damaged`, which names the byte.

A record of a PPDU of several MPDUs becomes a row for each, and so does one of its arrivals. So all else works on
MPDUs, as on legacy frames.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.traces import native
from emulation.files.foreign import LONGEST_NS, Damaged

Array = NDArray[Any]
NOBODY = 0xFFFF
NEVER = np.iinfo(np.int64).max


class Kind(IntEnum):
    """Kinds of frames that the counters distinguish."""

    RTS = 0
    CTS = 1
    ACK = 2  # of the MAC
    TCP_DATA = 3
    TCP_ACK = 4
    ROUTING = 5
    MANAGEMENT = 6
    OTHER = 7  # ARP, ICMP, SYN, FIN and RST of TCP, and unknown data
    ENCRYPTED = 8  # data whose content is encrypted
    UDP = 9  # a datagram, or a fragment of one, of no routing protocol


def is_response(kind: Array) -> Array:
    """Return whether a frame is a CTS or an ACK. All others are attempts of their senders."""
    response: Array = (kind == Kind.CTS) | (kind == Kind.ACK)
    return response


class Outcome(IntEnum):
    """The outcome of an arrival."""

    OK = 0
    COLLISION = 1
    OWN_TX = 2  # the receiver was sending
    NOISE = 3
    BELOW_THRESHOLD = 4


class Reason(IntEnum):
    """Why a station finished a frame."""

    ACKED = 0
    GROUP = 1  # sent, no ACK due
    RTS_LIMIT = 2
    SHORT_LIMIT = 3
    LONG_LIMIT = 4
    STAGES = 5
    QUEUE_FULL = 6
    REFUSED = 7


CATEGORIES = ("VO", "VI", "BE", "BK")  # of EDCA; a record has the place from 1 on, 0 is none

GIVEN_UP = (Reason.RTS_LIMIT, Reason.SHORT_LIMIT, Reason.LONG_LIMIT, Reason.STAGES)


class _Record(IntEnum):
    TX = 1
    RX = 2
    END = 3
    MARK = 4


def record(fields: str) -> np.dtype[Any]:
    """Return the dtype of lines "name:type meaning", little-endian and packed. docs/records.md has the meanings."""
    given = (line.split()[0].split(":") for line in fields.strip().splitlines())
    return np.dtype([(name, "<" + kind) for name, kind in given])


TX = record("""
    size:u2
    type:u1 1
    kind:u1 for an RTS, `queued_ns`, `msdu` and `category` are those of the frame that it asks for
    station:u2
    receiver:u2 0xffff: a group
    id:i8 number of the first MPDU, from 1; those after it have the next ones
    start_ns:i8
    duration_ns:u4
    rate:u2 100 kb/s
    freq:u2 MHz
    queued_ns:i8 when the kernel passed the frame on; 0 for CTS and ACK
    length:u2 of the MPDU with FCS
    attempt:u1 from 1
    flags:u1 1: short preamble
    msdu:u4 number of the frame at its station; 0 for CTS and ACK
    category:u1 with EDCA 1 VO, 2 VI, 3 BE, 4 BK; 0: without EDCA, and for CTS and ACK
    place:u1 0
    more:u2 MPDUs of the PPDU after the first. Each follows the bytes of the one before: an MPDU head, then its bytes
    caplen:u2 bytes of the frame that follow, from its 802.11 header on, without FCS, padded to a multiple of 8
    mode:u2 of 802.11n and later; 0: a legacy rate
""")
MPDU = record("""
    queued_ns:i8 this and the others as in TX
    msdu:u4
    offset:u4 of its delimiter in the PSDU
    length:u2
    caplen:u2
    kind:u1
    attempt:u1
    zero:u2
""")
RX = record("""
    size:u2 32; more if a PPDU was received without some of its MPDUs
    type:u1 2
    outcome:u1
    station:u2
    other:u2 the station whose transmission corrupted it; 0xffff: none
    id:i8 of the transmission
    start_ns:i8 of the arrival
    power_mdbm:i4
    other_kind:u1
    addressed:u1
    more:u2 as in TX. If MPDUs were lost, two bitmaps follow in words of 8 bytes: of these, and of those that collided
""")
END = record("""
    size:u2 32
    type:u1 3
    reason:u1
    station:u2
    kind:u1
    category:u1 as in TX
    id:i8 of its last transmission; 0: never sent
    time_ns:i8
    msdu:u4
    short:u1 retries
    long:u1 retries
    zero:u2
""")
MARK = record("""
    size:u2 24
    type:u1 4
    what:u1 0 start, 1 stop
    lost:u4 records lost so far
    time_ns:i8
    zero:i8
""")
MOST_MPDUS = 256  # in a PPDU


@dataclass(frozen=True)
class Trace:
    """The records of one run, between the start and the stop mark.

    `tx`, `rx`, `end` are structured arrays (dtypes TX, RX, END), in file order; times are ns of CLOCK_MONOTONIC. Each
    MPDU is a row: `place` is its place in its PPDU, `more` are the MPDUs after it. Times are those of the PPDU.
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
    """Read and check the trace file at `path`. Raises Damaged if malformed, OSError if unreadable."""
    return parse(np.fromfile(path, np.uint8))


def parse(data: Array) -> Trace:
    """Return the trace in the bytes `data` (uint8, one dimension). Raises Damaged if malformed."""
    return whole(data, [Records.of(data, 0)])


@dataclass(frozen=True)
class Records:
    """The records of a part of a file, each checked by itself: as in Trace, with the offsets of arrivals in bytes.
    `end_at` is where the next part begins."""

    tx: Array
    rx: Array
    end: Array
    mark: Array
    frame: Array
    rx_at: Array
    last_at: int
    end_at: int

    @classmethod
    def of(cls, data: Array, begin: int) -> "Records":
        """Read the whole records of a file's bytes from `begin` on. Raises Damaged if one is malformed."""
        places, end_at = native.follow(data[begin:])
        at = places + begin
        words = data[: data.size & ~7].view("<u8")
        kind = data[at + 2]
        size = data[at].astype(np.int64) | data[at + 1].astype(np.int64) << 8
        head = np.array([0, TX.itemsize, RX.itemsize, END.itemsize, MARK.itemsize])[kind.clip(max=_Record.MARK)]
        _fail(at, (kind < _Record.TX) | (kind > _Record.MARK), "a record of an unknown type")
        _fail(at, (size < head) | ((kind > _Record.RX) & (size != head)), "a record whose size does not match its type")

        def gather(which: _Record, dtype: np.dtype[Any]) -> tuple[Array, Array]:
            offsets = at[kind == which]
            return offsets, runs(words, dtype.itemsize // 8)[offsets // 8].view(dtype).reshape(-1)

        tx_at, tx = gather(_Record.TX, TX)
        rx_at, rx = gather(_Record.RX, RX)
        tx, frame = _mpdus(data, tx, tx_at)
        rx, rx_at = _arrivals(data, rx, rx_at)
        end_of, end = gather(_Record.END, END)
        _, mark = gather(_Record.MARK, MARK)
        tx_at, caplen = frame - TX.itemsize, tx["caplen"].astype(np.int64)
        _fail(tx_at, caplen + 4 > tx["length"], "a transmission with more bytes than its frame has")
        _fail(tx_at, caplen < 10, "a transmission without an 802.11 header")
        _fail(tx_at, tx["kind"] > max(Kind), "an unknown kind of frame")
        for where, part in ((tx_at, tx), (end_of, end)):
            _fail(where, part["category"] > len(CATEGORIES), "an unknown access category")
        for where, part, when in ((tx_at, tx, "start_ns"), (rx_at, rx, "start_ns"), (end_of, end, "time_ns")):
            _fail(where, (part[when] < 0) | (part[when] > LONGEST_NS), "an impossible time")
        _fail(tx_at, (tx["rate"] == 0) | (tx["duration_ns"] == 0), "a transmission without rate or duration")
        _fail(rx_at, rx["outcome"] > max(Outcome), "an unknown outcome")
        _fail(rx_at, rx["other_kind"] > max(Kind), "an unknown kind of frame")
        _fail(end_of, (end["reason"] > max(Reason)) | (end["kind"] > max(Kind)), "an unknown reason or kind")
        return cls(tx, rx, end, mark, frame, rx_at, int(at[-1]) if at.size else -1, begin + end_at)


def _mpdus(data: Array, tx: Array, tx_at: Array) -> tuple[Array, Array]:
    """Return the rows of all MPDUs of these records, and where their bytes begin. Raises Damaged if a record is longer
    or shorter than its bytes."""
    _fail(tx_at, tx["more"] >= MOST_MPDUS, "a PPDU with too many MPDUs")
    rows, frame, bad = native.expand_mpdus(data, tx_at, int(tx["more"].sum(dtype=np.int64)) + tx.size, TX)
    if bad >= 0:
        raise Damaged(f"trace is corrupt: at byte {int(tx_at[bad])}: a transmission longer or shorter than its bytes")
    return rows, frame


def _arrivals(data: Array, rx: Array, rx_at: Array) -> tuple[Array, Array]:
    """Return the arrivals of all MPDUs of these records, and where their records begin. Raises Damaged if one has no
    room for what was lost of it."""
    words = rx["more"].astype(np.int64) // 64 + 1
    _fail(rx_at, rx["more"] >= MOST_MPDUS, "a PPDU with too many MPDUs")
    some = rx["size"] != RX.itemsize
    _fail(
        rx_at, some & ((rx["size"] != RX.itemsize + 16 * words) | (rx["outcome"] != Outcome.OK)),
        "a record whose size does not match its type",
    )  # fmt: skip
    if not rx["more"].any():
        return rx, rx_at
    count = rx["more"].astype(np.int64) + 1
    of = np.repeat(np.arange(rx.size), count)
    place = np.arange(of.size) - np.repeat(np.cumsum(count) - count, count)
    every = selected(rx, of)
    every["id"] += place
    every["more"] -= place.astype(np.uint16)
    lossy = np.flatnonzero(some[of])
    record, bit, octet = of[lossy], place[lossy] % 8, place[lossy] // 8
    lost = data[rx_at[record] + RX.itemsize + octet] >> bit & 1 != 0
    hit = data[rx_at[record] + RX.itemsize + 8 * words[record] + octet] >> bit & 1 != 0
    every["outcome"][lossy] = np.where(lost, np.where(hit, Outcome.COLLISION, Outcome.NOISE), Outcome.OK)
    every["other"][lossy[~(lost & hit)]] = NOBODY
    return every, rx_at[of]


def whole(data: Array, parts: Sequence[Records]) -> Trace:
    """Return the trace in the bytes `data`, which consists of these parts. Raises Damaged if it is incomplete."""
    _no_rest(data, max(part.last_at for part in parts), parts[-1].end_at)
    columns = ("tx", "rx", "end", "mark", "frame", "rx_at")
    tx, rx, end, mark, frame, rx_at = (joined(*(getattr(part, name) for part in parts)) for name in columns)
    check_order(tx, frame)
    if mark.size == 0 or mark["what"][0] != 0:
        raise Damaged("trace is corrupt: at byte 0: no start mark")
    last_is_mark = any(part.last_at == data.size - MARK.itemsize and part.mark.size for part in parts)
    if mark.size != 2 or mark["what"][1] != 1 or not last_is_mark:
        raise Damaged(f"trace is truncated: at byte {data.size}: it ends without the stop mark")
    lost = int(mark["lost"][1])
    row, known = rows_of(tx, rx)
    if lost:  # the module reported it: omit arrivals whose transmission is missing
        rx, row = rx[known], row[known]
    else:
        _fail(rx_at, ~known, "an arrival of a transmission that is not in the trace")
    return Trace(data, tx, rx, end, frame, row, int(mark["time_ns"][0]), int(mark["time_ns"][1]), lost)


def check_order(tx: Array, frame: Array) -> None:
    """Raises Damaged unless these transmissions, whose bytes are at these offsets, are numbered in order."""
    _fail(frame[1:] - TX.itemsize, np.diff(tx["id"]) <= 0, "transmissions that are not numbered in order")


def rows_of(tx: Array, rx: Array) -> tuple[Array, Array]:
    """Return the row in `tx` of each arrival's transmission, and whether it exists."""
    row = np.searchsorted(tx["id"], rx["id"]).clip(max=max(0, tx.size - 1))
    return row, tx["id"][row] == rx["id"] if tx.size else np.zeros(rx.size, bool)


def until_now(data: bytes, now_ns: int) -> Trace:
    """Return the trace in the bytes so far, while it is still written. Raises Damaged if they are malformed."""
    mark = np.zeros(1, MARK)
    mark["size"], mark["type"], mark["what"], mark["time_ns"] = MARK.itemsize, _Record.MARK, 1, now_ns
    return parse(np.frombuffer(data + mark.tobytes(), np.uint8))


def runs(words: Array, length: int) -> Array:
    """Return a view of one-dimensional `words` whose row i is words[i : i + length]. Reading or writing rows copies
    whole runs, several times faster than an index per word."""
    if words.size < length:
        return np.zeros((0, length), words.dtype)
    return np.lib.stride_tricks.sliding_window_view(words, length, writeable=words.flags.writeable)


def joined(*columns: Array) -> Array:
    """Concatenate columns of one dtype; as words, because numpy would copy records one by one."""
    return np.concatenate([column.view("<u8") for column in columns]).view(columns[0].dtype)


def selected(records: Array, which: Array) -> Array:
    """Return a selection of records; as words, for the same reason."""
    return records.view("<u8").reshape(-1, records.dtype.itemsize // 8)[which].view(records.dtype).reshape(-1)


def _fail(at: Array, bad: Array, what: str) -> None:
    if bad.any():
        raise Damaged(f"trace is corrupt: at byte {int(at[bad][0])}: {what}")


def _no_rest(data: Array, last: int, end: int) -> None:
    """Raises Damaged unless the file is whole records; the last one begins at `last` and ends at `end`."""
    if end == data.size and last >= 0:
        return
    left = data[end : end + 2]
    size = int(left[0]) | int(left[1]) << 8 if left.size == 2 else 0
    if left.size == 2 and (not size or size & 7):
        raise Damaged(f"trace is corrupt: at byte {end}: a record of {size} bytes")
    raise Damaged(f"trace is truncated: at byte {end}: {data.size - end} bytes are left of the last record")
