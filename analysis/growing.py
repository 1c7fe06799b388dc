# SPDX-License-Identifier: BSD-3-Clause
"""A trace that is still being written, turned into what is kept as it grows: so a lane's other CPU is not idle, and
when the lane ends little is left to do.

What is known of a transmission comes within a moment: its arrivals when they end, its outcome when no answer came. So a
part of the trace is written once the trace is `HOLD_NS` further; as much of what was before serves its remarks, which
look at the same frame and at who sent at the same time. The bytes are those of `pcapng.write`, whatever the parts.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from analysis import pcapng
from analysis.medium import ips_of
from analysis.packets import Packets
from analysis.same_slot import same_slot
from analysis.trace import (
    GIVEN_UP,
    NEVER,
    TX,
    Array,
    Kind,
    Outcome,
    Records,
    Trace,
    is_response,
    joined,
    picked,
    rows_of,
    whole,
)
from emulation import files

HOLD_NS = 200_000_000  # ten times what the longest frame takes
PART = 1 << 22  # bytes: enough to be worth a pass over columns, little enough to stay in the CPU's cache
LONGEST = 1 << 16  # bytes of a record


class Growing:
    """A trace file, to be asked for `more` now and then, and to be finished; if it was not, what is kept is gone at the
    end of the block. Raises TraceError, OSError."""

    def __init__(
        self, path: Path, stations: Sequence[Mapping[str, Any]], folder: Path, most: float = math.inf, part: int = PART,
        slot_ns: int = 0,
    ) -> None:  # fmt: skip
        self.path, self.part, self.slot_ns = path, part, slot_ns
        self.same_slot = 0  # collisions of frames that began within a slot
        self.writer = pcapng.Writer(stations, folder, most)
        self.parts: list[Records] = []
        self.ips, self.packets = ips_of(stations), list[Packets]()
        self.begin, self.written_ns = 0, 0
        nothing = Records.of(np.zeros(0, np.uint8), 0)
        self.tx, self.tx_at, self.rx, self.end = nothing.tx, nothing.tx_at, nothing.rx, nothing.end

    def __enter__(self) -> Self:
        self.writer.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.writer.__exit__(*error)

    def more(self) -> None:
        """Turn into packets what has come since, if it is much."""
        if self.path.exists() and self.path.stat().st_size - self.begin >= self.part:
            self._parts(self._bytes())

    def finish(self) -> tuple[Trace, Packets, tuple[str, str | None]]:
        """The file is whole: the trace, but only of frames' ways: no answers, of arrivals those by which frames were
        delivered, and the ends of those that were given up; what its transmissions carry; and the SHA-256 of what
        is kept."""
        data = self._bytes()
        self._parts(data)
        self._take(data, 0)
        trace = whole(data, self.parts)
        return trace, Packets.joined(self.packets), self.writer.finish(trace.start_ns, trace.stop_ns)

    def _bytes(self) -> Array:
        with files.opened(self.path) as file:
            return np.memmap(file, np.uint8, "r") if file.seek(0, os.SEEK_END) else np.zeros(0, np.uint8)

    def _parts(self, data: Array) -> None:
        """Take all that has come but less than a part, a part at a time: what that takes of memory grows with it."""
        before = -1
        while data.size - self.begin >= self.part and self.begin > before:  # else it is no record: the end says so
            before = self.begin
            self._take(data[: before + max(self.part, LONGEST)], HOLD_NS)

    def _take(self, data: Array, hold_ns: int) -> None:
        """Read what has come, and write what is settled, which is what began so long before the latest."""
        new = Records.of(data, self.begin)
        self.begin = new.end_at
        tx, tx_at = joined(self.tx, new.tx), joined(self.tx_at, new.tx_at)
        rx, end = joined(self.rx, new.rx), joined(self.end, new.end)
        row, known = rows_of(tx, rx)
        kind = tx["kind"][row] if tx.size else row
        delivered = (kind > Kind.ACK) & (rx["addressed"] != 0) & (rx["outcome"] == Outcome.OK)
        here = known & (np.arange(rx.size) >= self.rx.size)
        self.same_slot += same_slot(tx, rx[here], row[here], self.slot_ns)
        kept = (delivered | ~known)[self.rx.size :]
        own = ~is_response(new.tx["kind"])
        sent, sent_at = picked(new.tx, own), new.tx_at[own]
        ended = picked(new.end, np.isin(new.end["reason"], GIVEN_UP))
        self.parts.append(
            replace(new, tx=sent, tx_at=sent_at, rx=picked(new.rx, kept), rx_at=new.rx_at[kept], end=ended)
        )
        self.packets.append(Packets.of(data, sent, sent_at + TX.itemsize, self.ips))  # while they are in the cache
        until_ns = max(self.written_ns, int(tx["start_ns"][-1]) - hold_ns if tx.size else 0) if hold_ns else NEVER
        part = Trace(data, tx, rx[known], end, tx_at + TX.itemsize, row[known], 0, 0, 0)
        self.writer.write(part, self.written_ns, until_ns)
        self.written_ns = until_ns
        since = until_ns - HOLD_NS
        first = int(np.searchsorted(tx["start_ns"], since))
        self.tx, self.tx_at, self.end = tx[first:], tx_at[first:], end[end["time_ns"] >= since]
        self.rx = rx[row >= first]
