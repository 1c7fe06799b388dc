# SPDX-License-Identifier: BSD-3-Clause
"""Convert a trace while the lane still writes it. That uses the second CPU, and little is left to do when the lane
ends.

All records of a transmission follow soon: arrivals when they end, the outcome when no answer came. So a part is written
once the trace has advanced by `HOLD_NS`. The same time before a part is kept for remarks, which look at earlier
attempts at a frame and at concurrent senders. The bytes equal those of `pcapng.write`, however the trace is divided.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from analysis.routes.control import Control
from analysis.routes.paths import Legs
from analysis.taps.phy import ips_of
from analysis.tcp.in_flight import Flight
from analysis.tcp.in_flight_parts import Flights
from analysis.traces import pcapng
from analysis.traces.columns import one_of
from analysis.traces.dissect import BLOCK_ACK, REQUEST
from analysis.traces.packets import Packets
from analysis.traces.same_slot import same_slot
from analysis.traces.trace import (
    GIVEN_UP,
    NEVER,
    Array,
    Kind,
    Outcome,
    Records,
    Trace,
    check_order,
    is_response,
    joined,
    rows_of,
    selected,
    whole,
)
from emulation import files

HOLD_NS = 200_000_000  # ten times the longest frame
PART = 1 << 22  # bytes: worth a pass over the columns, and fits the CPU's cache
LONGEST = 1 << 16  # bytes of the longest record


class GrowingTrace:
    """Converts a trace file: call `more` now and then, and `finish` at the end. If the block ends without `finish`, its
    output is removed. Raises Damaged if the trace is, OSError if a file cannot be read or written."""

    def __init__(
        self, path: Path, stations: Sequence[Mapping[str, Any]], folder: Path, most: float = math.inf, part: int = PART,
        slot_ns: int = 0, routed: bool = False,
    ) -> None:  # fmt: skip
        self.path, self.part, self.slot_ns, self.stations, self.routed = path, part, slot_ns, stations, routed
        self.same_slot = 0  # collisions of frames that began within one slot
        self.aggregates = np.zeros(4, np.int64)  # as in WholeTrace
        self.airtime_ns = np.zeros(len(stations), np.int64)  # of PPDUs to each station
        self.writer = pcapng.Writer(stations, folder, most)
        self.parts: list[Records] = []
        self.ips, self.flights, self.hidden = ips_of(stations), Flights(stations), False
        self.legs, self.control = list[Legs](), list[Control]()
        self.begin, self.written_ns = 0, 0
        self.nothing = nothing = Records.of(np.zeros(0, np.uint8), 0)
        self.tx, self.frame, self.rx, self.end = nothing.tx, nothing.frame, nothing.rx, nothing.end

    def __enter__(self) -> Self:
        self.writer.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.writer.__exit__(*error)

    def convert_new(self) -> None:
        """Convert what was added to the trace, if that is at least a part."""
        if self.path.exists() and self.path.stat().st_size - self.begin >= self.part:
            self._parts()

    def finish(self) -> "WholeTrace":
        """Convert the rest of the finished trace. Return what is known of it."""
        self._parts()
        data = self._bytes()
        self._take(data, 0)
        trace = whole(data, self.parts)
        return WholeTrace(
            *self.writer.finish(trace.start_ns, trace.stop_ns),
            self.flights.finish(trace.start_ns, trace.stop_ns), self.hidden,
            Legs.joined(self.legs) if self.routed else None, Control.joined(self.control) if self.routed else None,
            self.same_slot, tuple(self.aggregates.tolist()), self._airtimes(),
        )  # fmt: skip

    def _airtimes(self) -> dict[str, float]:
        found = dict[str, float]()
        for station, ns in zip(self.stations, self.airtime_ns.tolist(), strict=True):
            if ns:
                found[station["name"]] = found.get(station["name"], 0.0) + ns / 1e9
        return found

    def _bytes(self) -> Array:
        with files.opened(self.path) as file:
            return np.memmap(file, np.uint8, "r") if file.seek(0, os.SEEK_END) else np.zeros(0, np.uint8)

    def _parts(self) -> None:
        """Convert all complete parts, one at a time, because memory grows with the size of a part."""
        before = -1
        while (data := self._bytes()).size - self.begin >= self.part and self.begin > before:  # else it is no record
            before = self.begin
            self._take(data[: before + max(self.part, LONGEST)], HOLD_NS)

    def _take(self, data: Array, hold_ns: int) -> None:
        """Read the new records, and write the transmissions that began at least `hold_ns` before the latest one."""
        new = Records.of(data, self.begin)
        self.begin = new.end_at
        tx, frame = joined(self.tx, new.tx), joined(self.frame, new.frame)
        rx, end = joined(self.rx, new.rx), joined(self.end, new.end)
        row, known = rows_of(tx, rx)
        here = known & (np.arange(rx.size) >= self.rx.size)
        self.same_slot += same_slot(tx, selected(rx, here), row[here], self.slot_ns)
        check_order(tx, frame)
        lost = ~known[self.rx.size :]
        self.parts.append(replace(self.nothing, rx=selected(new.rx, lost), rx_at=new.rx_at[lost], mark=new.mark,
                                  last_at=new.last_at, end_at=new.end_at))  # fmt: skip
        until_ns = max(self.written_ns, int(tx["start_ns"][-1]) - hold_ns if tx.size else 0) if hold_ns else NEVER
        part = Trace(data, tx, selected(rx, known), end, frame, row[known], 0, 0, 0)
        self.writer.write(part, self.written_ns, until_ns)
        self._pass_on(part, (tx["start_ns"] >= self.written_ns) & (tx["start_ns"] < until_ns), new.end)
        self.written_ns = until_ns
        since = until_ns - HOLD_NS
        first = int(np.searchsorted(tx["start_ns"], since))
        self.tx, self.frame, self.end = tx[first:], frame[first:], selected(end, end["time_ns"] >= since)
        self.rx = selected(rx, row >= first)

    def _pass_on(self, part: Trace, settled: Array, end: Array) -> None:
        """Pass the settled transmissions, whose arrivals are known, and the new `end` records to what counts them."""
        tx, rx = part.tx, part.rx
        own = settled & ~is_response(tx["kind"])
        self.hidden = self.hidden or bool((tx["kind"] == Kind.ENCRYPTED).any())
        sent = selected(tx, own)
        packets = Packets.of(part.data, sent, part.frame[own], self.ips)  # while they are in the cache
        delivered = (rx["addressed"] != 0) & (rx["outcome"] == Outcome.OK)
        if tx.size:
            delivered &= (own & (tx["kind"] > Kind.ACK))[part.rx_tx]
        self.aggregates += _aggregates(part, settled)
        first = tx[settled & (tx["mode"] != 0) & (tx["place"] == 0) & (tx["receiver"] < self.airtime_ns.size)]
        np.add.at(self.airtime_ns, first["receiver"], first["duration_ns"])
        self.flights.add(sent, selected(rx, delivered), selected(end, one_of(end["reason"], GIVEN_UP)), packets)
        if self.routed:
            self.legs.append(Legs.of_trace(part, self.stations, settled))
            self.control.append(Control.of_trace(part, settled))


@dataclass(frozen=True)
class WholeTrace:
    """What is known of a finished trace."""

    air_sha256: str  # of its packets
    views_sha256: str | None  # of what stations received; None: not written
    flight: Flight  # segments in flight, except encrypted ones
    hidden: bool  # whether there are encrypted frames
    legs: Legs | None  # of routes, if `routed`
    control: Control | None  # control packets, if `routed`
    same_slot: int  # collisions within one slot
    aggregates: tuple[int, ...]  # counts: PPDUs of 802.11n and later, MPDUs in them, block ACKs, requests for them
    airtime_s: dict[str, float]  # of such PPDUs, by the name of the receiver


def _aggregates(part: Trace, which: Array) -> Array:
    """Count these transmissions for WholeTrace."""
    modern, first = which & (part.tx["mode"] != 0), part.data[part.frame[which]]
    counts = (modern & (part.tx["place"] == 0), modern, first == BLOCK_ACK, first == REQUEST)
    return np.array([np.count_nonzero(each) for each in counts])
