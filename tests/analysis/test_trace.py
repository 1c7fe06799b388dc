# SPDX-License-Identifier: BSD-3-Clause
"""Reading `air.trace`: every record arrives, and every byte is checked."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sample import Sample

from analysis.traces import trace
from analysis.traces.trace import Outcome, Reason
from emulation.files.foreign import Damaged

START = struct.pack("<HBBIqq", 24, 4, 0, 0, 1000, 0)
STOP = struct.pack("<HBBIqq", 24, 4, 1, 0, 9000, 0)
CTS = b"\xc4\0\0\0" + b"\x02\0\0\0\0\1"


def tx(number: int = 1, caplen: int = 10, size: int = 72, kind: int = 1, rate: int = 10, length: int = 14) -> bytes:
    head = struct.pack(
        "<HBBHHqqIHHqHBBIIHH", size, 1, kind, 0, 1, number, 2000, 304_000, rate, 2412, 0, length, 1, 0, 0, 0, caplen, 0
    )
    return (head + CTS).ljust(72, b"\0")


def rx(number: int = 1, outcome: int = 0) -> bytes:
    return struct.pack("<HBBHHqqiBBH", 32, 2, outcome, 1, 0xFFFF, number, 2667, -60_000, 0, 1, 0)


def end(reason: int = 0) -> bytes:
    return struct.pack("<HBBHBBqqIBBH", 32, 3, reason, 0, 3, 0, 1, 3000, 1, 0, 0, 0)


def parse(*records: bytes) -> trace.Trace:
    return trace.parse(np.frombuffer(b"".join(records), np.uint8))


def test_every_field_of_every_record() -> None:
    """Each field is read from its place."""
    t = parse(START, tx(), rx(outcome=1), end(4), STOP)
    assert (t.start_ns, t.stop_ns, t.lost_records) == (1000, 9000, 0)
    assert t.tx[["station", "receiver", "id", "start_ns", "duration_ns", "rate", "freq"]].tolist() == [
        (0, 1, 1, 2000, 304_000, 10, 2412)
    ]
    assert t.data[t.frame[0] : t.frame[0] + t.tx["caplen"][0]].tobytes() == CTS
    assert t.rx[["outcome", "station", "other", "start_ns", "power_mdbm", "addressed"]].tolist() == [
        (Outcome.COLLISION, 1, 0xFFFF, 2667, -60_000, 1)
    ]
    assert t.rx_tx.tolist() == [0]
    assert t.end[["reason", "kind", "time_ns", "msdu"]].tolist() == [(Reason.LONG_LIMIT, 3, 3000, 1)]


def test_a_whole_run(sample: Sample) -> None:
    """A run's records add up to what was counted."""
    sent = sum(sum(counters["tx"].values()) for counters in sample.air.counters)
    ended = sum(n for c in sample.air.counters for row in c["end"].values() for n in row.values())
    assert (sample.trace.tx.size, sample.trace.end.size) == (sent, ended)
    assert sample.trace.tx.size + sample.trace.rx.size + sample.trace.end.size + 2 == len(sample.air.records)


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([], "truncated: at byte 0"),
        ([START], "truncated: at byte 24: it ends without the stop mark"),
        ([START, tx()], "truncated: at byte 96: it ends without the stop mark"),
        ([STOP], "at byte 0: no start mark"),
        ([START, STOP[:20]], "truncated: at byte 24"),
        ([START, tx()[:40]], "truncated: at byte 24"),
        ([START, b"\0" * 8, STOP], "at byte 24: a record of 0 bytes"),
        ([START, b"\x0c\0" + b"\1" * 10, STOP], "at byte 24: a record of 12 bytes"),
        ([START, struct.pack("<HBBI", 8, 9, 0, 0), STOP], "at byte 24: a record of an unknown type"),
        ([START, struct.pack("<HBBIq", 16, 2, 0, 0, 0), STOP], "at byte 24: a record whose size"),
        ([START, tx(), tx(2, caplen=30), STOP], "at byte 96: a transmission longer or shorter"),
        ([START, tx(length=13), STOP], "at byte 24: a transmission with more bytes"),
        ([START, tx(caplen=9), STOP], "at byte 24: a transmission without an 802.11 header"),
        ([START, tx(kind=10), STOP], "at byte 24: an unknown kind of frame"),
        ([START, tx(rate=0), STOP], "at byte 24: a transmission without rate"),
        ([START, tx(2), tx(1), STOP], "at byte 96: transmissions that are not numbered"),
        ([START, tx(), rx(outcome=5), STOP], "at byte 96: an unknown outcome"),
        ([START, tx(), rx(2), STOP], "at byte 96: an arrival of a transmission that is not in the trace"),
        ([START, tx(), end(8), STOP], "at byte 96: an unknown reason or kind"),
        ([START, STOP, tx()], "truncated: at byte 120"),
    ],
)
def test_says_what_is_wrong_where(records: list[bytes], says: str) -> None:
    """A truncated or corrupt trace is refused, with the byte and the fault."""
    with pytest.raises(Damaged, match=says):
        parse(*records)


def test_lost_records_are_admitted() -> None:
    """If the module reports lost records, arrivals without their transmission are omitted, not an error."""
    stop = struct.pack("<HBBIqq", 24, 4, 1, 3, 9000, 0)
    t = parse(START, tx(2), rx(1), rx(2), stop)
    assert t.lost_records == 3 and t.rx["id"].tolist() == [2] and t.rx_tx.tolist() == [0]


@given(st.data())
@examples(300)
def test_no_byte_does_harm(sample: Sample, data: st.DataObject) -> None:
    """Whatever is overwritten or cut off, the result is a trace or Damaged."""
    raw = bytearray(sample.raw[:4000] + STOP)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        trace.parse(np.frombuffer(bytes(raw[: data.draw(st.integers(0, len(raw)))]), np.uint8))
    except Damaged as error:
        assert "byte" in str(error)


def aggregate(*mpdus: bytes, more: int | None = None) -> bytes:
    """Return a PPDU that begins with a CTS, which stands for data, and has these further MPDUs."""
    parts = [struct.pack("<qIIHHBBH", 1500, 8 + n, 100 * n, 20 + n, len(each), 7, 2, 0) + each.ljust(16, b"\0")
             for n, each in enumerate(mpdus)]  # fmt: skip
    record = bytearray(tx(5) + b"".join(parts))
    record[:2], count = len(record).to_bytes(2, "little"), len(mpdus) if more is None else more
    record[50:52] = count.to_bytes(2, "little")
    record[54:56] = (2).to_bytes(2, "little")
    return bytes(record)


def aggregate_came(more: int, lost: int = 0, hit: int = 0) -> bytes:
    record = bytearray(rx(5))
    record[30:32] = more.to_bytes(2, "little")
    if lost:
        record += lost.to_bytes(8, "little") + hit.to_bytes(8, "little")
        record[:2], record[6:8] = len(record).to_bytes(2, "little"), (3).to_bytes(2, "little")
    return bytes(record)


def test_mpdus_are_rows() -> None:
    """Each MPDU has a number, its place and its bytes, and an outcome of its own at each station."""
    one, two = CTS, CTS + b"ab"
    t = parse(START, aggregate(one, two), aggregate_came(2), aggregate_came(2, lost=0b110, hit=0b010), STOP)
    assert t.tx[["id", "place", "more", "length", "msdu", "kind", "attempt", "queued_ns"]].tolist() == [
        (5, 0, 2, 14, 0, 1, 1, 0), (6, 1, 1, 20, 8, 7, 2, 1500), (7, 2, 0, 21, 9, 7, 2, 1500),
    ]  # fmt: skip
    assert t.tx["start_ns"].tolist() == [2000] * 3 and t.tx["mode"].tolist() == [2] * 3
    frames = [t.data[at : at + size].tobytes() for at, size in zip(t.frame, t.tx["caplen"], strict=True)]
    assert frames == [CTS, one, two]
    assert t.rx_tx.tolist() == [0, 1, 2, 0, 1, 2]
    assert t.rx["outcome"].tolist() == [0, 0, 0, Outcome.OK, Outcome.COLLISION, Outcome.NOISE]
    assert t.rx["other"].tolist() == [0xFFFF] * 4 + [3, 0xFFFF]


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (aggregate(CTS, more=2), "at byte 24: a transmission longer or shorter"),
        (aggregate(CTS, CTS, more=1), "at byte 24: a transmission longer or shorter"),
        (aggregate(CTS, more=256), "at byte 24: a PPDU with too many MPDUs"),
        (aggregate(CTS) + aggregate_came(256), "a PPDU with too many MPDUs"),
        (aggregate(CTS) + aggregate_came(64, lost=1), "a record whose size"),
    ],
)
def test_damaged_aggregates_are_refused(record: bytes, says: str) -> None:
    with pytest.raises(Damaged, match=says):
        parse(START, record, STOP)
