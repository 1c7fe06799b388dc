# SPDX-License-Identifier: BSD-3-Clause
"""What each station received, in `views.gz`: a few bytes per arrival, because the frames are in `air.pcapng.gz`.
`capture.read` combines both into packets, `capture.of_stations` into a pcapng.

The file is a chain of little-endian blocks, each for the next 4096 transmissions (the last for fewer), in the order of
the air's file, compressed with gzip. Arrivals are in order of transmission and station. The content depends on the
trace alone.

| part of a block | |
|---|---|
| three u4 | how many transmissions and arrivals; bytes of texts |
| u2 for each transmission | its number of arrivals |
| u4 for each arrival | ns from the start of the transmission to the start of the arrival |
| u2 for each arrival | the station, from 0 |
| u2 for each arrival | the number of its comment; 0: received well |
| i1 for each arrival | dBm |
| lines of UTF-8 | comments that occur for the first time, numbered in their order from 1 |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np

from analysis.traces.trace import Array, Outcome, Trace, record, selected
from emulation import files
from emulation.files.compressed import Compressed, Stream, pieces
from emulation.files.foreign import Damaged, reading

FILE = "views.gz"
BLOCK = 4096  # transmissions
HEAD = record("transmissions:u4\narrivals:u4\ntexts:u4")  # of a block; the last in bytes
COLUMNS = (("delay_ns", "<u4"), ("station", "<u2"), ("text", "<u2"), ("dbm", "i1"))  # of its arrivals
FINE = 0  # the text of a correct reception
MOST_TEXTS = 1 << 20  # bytes, in a block
LONGEST_DELAY_NS = 1 << 30


@dataclass(frozen=True)
class Views:
    """All arrivals at stations from the reception threshold on, by transmission and station: columns.

    `row` is the transmission's packet in the air's file, `station` is numbered from 0, and `delay_ns` is from the start
    of the transmission to that of the arrival. `text` is an index into `texts`: why it was corrupted there; FINE if it
    was not."""

    row: Array
    station: Array
    delay_ns: Array
    dbm: Array
    text: Array
    texts: Sequence[bytes]

    @property
    def bad(self) -> Array:
        corrupted: Array = self.text != FINE
        return corrupted


class Writer:
    """Writes the file in parts; removes it if it exceeds `most` bytes. Raises OSError if it cannot be written."""

    def __init__(self, path: Path, most: float = math.inf) -> None:
        self.most = most
        self.file = Compressed(path) if most else None
        self.texts: dict[bytes, int] = {b"": FINE}
        self.written = 1  # number of texts in the file
        self.count = np.zeros(0, np.int64)  # arrivals of each transmission that is not in the file yet
        self.columns = [np.zeros(0, dtype) for _, dtype in COLUMNS]

    def write(self, trace: Trace, first: int, last: int, said: Sequence[bytes], at_station: Array) -> None:
        """Append the arrivals of the transmissions in these rows of a trace; `at_station` has for each arrival the
        index of its text in `said`, or a negative number."""
        if self.file is None:
            return
        row, rx = trace.rx_tx, trace.rx
        came = np.flatnonzero((row >= first) & (row < last) & (rx["outcome"] != Outcome.BELOW_THRESHOLD))
        came = came[np.argsort(row[came] << 16 | rx["station"][came], kind="stable")]
        rx, row = selected(rx, came), row[came]
        power = (rx["power_mdbm"].astype(np.int64) + 500) // 1000  # to the nearest, halves up
        columns = (rx["start_ns"] - trace.tx["start_ns"][row], rx["station"], self._numbers(said, at_station[came]),
                   power.clip(-128, 127))  # fmt: skip
        self.count = np.append(self.count, np.bincount(row - first, minlength=last - first))
        self.columns = [
            np.append(held, new.astype(dtype))
            for held, new, (_, dtype) in zip(self.columns, columns, COLUMNS, strict=True)
        ]
        self._flush(BLOCK)

    def finish(self) -> str | None:
        """Return the SHA-256 of the content, in hex; None if it was too large."""
        self._flush(1)
        sha256 = self.file.finish() if self.file else None
        self._check()
        return sha256 if self.file else None

    def remove(self) -> None:
        if self.file:
            self.file.remove()
        self.file = None

    def _numbers(self, said: Sequence[bytes], which: Array) -> Array:
        """Return the file's number of each text; new texts are numbered in order of appearance, so parts do not
        matter."""
        each, first, place = np.unique(which, return_index=True, return_inverse=True)
        number = np.zeros(each.size, np.int64)
        for at in np.argsort(first).tolist():
            if each[at] >= 0:
                number[at] = self.texts.setdefault(said[each[at]], len(self.texts))
        found: Array = number[place]
        return found

    def _flush(self, least: int) -> None:
        """Write the blocks for which there are at least `least` transmissions."""
        names = list(self.texts)
        while self.file and self.count.size >= least:
            arrivals = int(self.count[:BLOCK].sum())
            parts = [column[:arrivals] for column in self.columns]
            written = max(self.written, int(parts[2].max(initial=0)) + 1)
            texts = b"".join(name + b"\n" for name in names[self.written : written])
            head = np.array([(min(BLOCK, self.count.size), arrivals, len(texts))], HEAD)
            numbers = [head, self.count[:BLOCK].astype("<u2"), *parts]
            self.file.write(b"".join([*(column.tobytes() for column in numbers), texts]))
            self.count, self.written = self.count[BLOCK:], written
            self.columns = [column[arrivals:] for column in self.columns]
            self._check()

    def _check(self) -> None:
        if self.file and self.file.size > self.most:
            self.remove()


def read(path: Path, transmissions: int, stations: int) -> Views:
    """Read a file of a run with this many transmissions and stations. Raises Damaged if malformed, OSError if
    unreadable."""
    counts, columns, texts = [], [[np.zeros(0, dtype)] for _, dtype in COLUMNS], [b""]
    with files.opened(path) as file, reading(path):
        stream = BufferedReader(Stream(pieces(file, path)), 1 << 16)
        while head := stream.read(HEAD.itemsize):
            rows, arrivals, size = map(int, np.frombuffer(_all(head, HEAD.itemsize), HEAD)[0])
            transmissions -= rows
            if transmissions < 0 or not rows or arrivals > rows * stations or size > MOST_TEXTS:
                raise Damaged("it does not belong to the same run as the air's file")
            counts.append(np.frombuffer(_all(stream.read(2 * rows), 2 * rows), "<u2").astype(np.int64))
            if counts[-1].sum() != arrivals:
                raise Damaged("a block of more or fewer arrivals than its transmissions have")
            for column, (_, dtype) in zip(columns, COLUMNS, strict=True):
                length = arrivals * np.dtype(dtype).itemsize
                column.append(np.frombuffer(_all(stream.read(length), length), dtype))
            texts += _all(stream.read(size), size).split(b"\n")[:-1]
    if transmissions:
        raise Damaged(
            f"{path}: cut short, or not of the same run as the air's file: {transmissions} frames are missing"
        )
    count = np.concatenate([np.zeros(0, np.int64), *counts])
    delay, station, text, dbm = map(np.concatenate, columns)
    if station.max(initial=0) >= max(stations, 1) or text.max(initial=0) >= len(texts):
        raise Damaged(f"{path}: an unknown station or remark")
    if delay.max(initial=0) > LONGEST_DELAY_NS:
        raise Damaged(f"{path}: an arrival that took impossibly long")
    row = np.repeat(np.arange(count.size), count)
    return Views(row, station.astype(np.int64), delay.astype(np.int64), dbm, text, texts)


def _all(found: bytes, size: int) -> bytes:
    if len(found) != size:
        raise Damaged("cut short: the last block is not whole")
    return found
