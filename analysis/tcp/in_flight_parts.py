# SPDX-License-Identifier: BSD-3-Clause
"""Count the segments in flight of a trace that comes in parts, in memory that does not grow with the trace.

A packet is settled if it arrived, or was visibly lost, and no frame of it was sent for QUIET_NS. Of a settled packet
only the start and end of its journeys are kept. The rest is recent, or came to a station that never sent it on; later
frames decide its fate.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.tcp.hops import followed, numbered, of_trace
from analysis.tcp.in_flight import Flight
from analysis.tcp.journeys import Before, in_flight, over
from analysis.traces.packets import Packets
from analysis.traces.trace import END, NEVER, RX, TX, Array, Trace, joined, rows_of, selected

QUIET_NS = 30_000_000_000  # longer than a copy of a packet waits in any queue
MOST = 1 << 17  # transmissions that are held before they are examined


class Flights:
    """Counts from transmissions except CTSs and ACKs, arrivals by which frames were delivered, and ends of frames given
    up."""

    def __init__(self, stations: Sequence[Mapping[str, Any]], most: int = MOST, quiet_ns: int = QUIET_NS) -> None:
        self.stations, self.most, self.quiet_ns = stations, most, quiet_ns
        self.tx, self.rx, self.end = [np.zeros(0, TX)], [np.zeros(0, RX)], [np.zeros(0, END)]
        self.packets: list[Packets] = []
        self.held, self.kept = 0, 0  # transmissions: now, and after the last settling
        self.before, self.followed = Before.nothing(len(stations)), Counter[int]()

    def add(self, tx: Array, rx: Array, end: Array, packets: Packets) -> None:
        """Add the next transmissions, what they carry, all their arrivals, and ends; an end may come before its
        transmission."""
        self.tx.append(tx)
        self.rx.append(rx)
        self.end.append(end)
        self.packets.append(packets)
        self.held += tx.size
        if self.held > 2 * self.kept + self.most:
            self._settle()

    def finish(self, start_ns: int, stop_ns: int) -> Flight:
        """Return the segments in flight of the complete trace, which was measured in this span of time."""
        trace, packets = self._joined(start_ns, stop_ns)
        return in_flight(of_trace(trace, self.stations, packets, self.followed), self.before)

    def _joined(self, start_ns: int, stop_ns: int) -> tuple[Trace, Packets]:
        tx, rx, end = (joined(*parts) for parts in (self.tx, self.rx, self.end))
        row, known = rows_of(tx, rx)
        nothing = np.zeros(0, np.uint8)
        trace = Trace(nothing, tx, selected(rx, known), end, np.zeros(0, np.int64), row[known], start_ns, stop_ns, 0)
        return trace, Packets.joined(self.packets)

    def _settle(self) -> None:
        """Settle what is over: keep only its result. Keep the rest whole."""
        trace, packets = self._joined(0, NEVER)
        served, hops = numbered(trace), of_trace(trace, self.stations, packets, self.followed)
        until_ns = int(trace.tx["start_ns"].max(initial=0)) - self.quiet_ns
        done, self.before = over(hops, until_ns, self.before)
        gone = done[served.of_tx]
        self.followed += followed(trace, served, hops.kind, packets.duration, gone)
        left, here = np.flatnonzero(~gone), ~gone[trace.rx_tx]
        self.tx, self.rx, self.packets = [selected(trace.tx, left)], [selected(trace.rx, here)], [packets.pick(left)]
        row, known = rows_of(trace.tx, trace.end)
        early = trace.end["id"] > trace.tx["id"][-1]  # of transmissions that are still to come
        self.end = [selected(trace.end, early | known & ~gone[row])]
        self.held = self.kept = left.size
