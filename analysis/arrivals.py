# SPDX-License-Identifier: BSD-3-Clause
"""Every arrival in a capture, and what it met at its station.

A frame that a station received badly is a collision if any other transmission that the station senses, or one of its
own, was on the air there in that time, however briefly; otherwise it is noise.
"""

from dataclasses import dataclass

import numpy as np

from analysis.capture import Capture, CaptureError
from analysis.medium import Medium
from analysis.trace import Array, Outcome
from analysis.transmissions import Sent

LONGEST_NS = 20_000_000  # no frame lasts longer: 2400 bytes at 1 Mb/s


@dataclass(frozen=True)
class Received:
    """Every arrival at a station. `tx` is the row in `Sent`; `outcome` is OK, NOISE or COLLISION, which here
    includes the receiver's own transmission."""

    time: Array
    tx: Array
    station: Array
    addressed: Array
    outcome: Array


def arrivals(capture: Capture, medium: Medium, sent: Sent) -> Received:
    """All arrivals. Raises CaptureError if a station received what was never on `air`."""
    row = np.flatnonzero(capture.interface > 0)
    tx = _transmissions_of(capture, row, sent)
    time, station, spoilt = capture.time_ns[row], capture.interface[row] - 1, capture.bad[row]
    outcome = np.where(spoilt, Outcome.NOISE, Outcome.OK)
    bad = np.flatnonzero(spoilt)
    collided = _overlapped(tx[bad], station[bad], time[bad], sent, medium)
    if not medium.noise:  # then what spoilt it was on the air before the start
        collided |= time[bad] < capture.start_ns + LONGEST_NS
    outcome[bad[collided]] = Outcome.COLLISION
    return Received(time, tx, station, sent.receiver[tx] == station, outcome)


def _transmissions_of(capture: Capture, row: Array, sent: Sent) -> Array:
    """The row in `sent` that each of some packets belongs to."""
    known, wanted = capture.packet_id[sent.row], capture.packet_id[row]
    tx = np.searchsorted(known, wanted).clip(max=max(0, known.size - 1))
    if row.size and (not known.size or (known[tx] != wanted).any()):
        raise CaptureError("a station received a transmission that was never on air")
    return tx


def _overlapped(tx: Array, station: Array, arrival: Array, sent: Sent, medium: Medium) -> Array:
    """Which of some arrivals met another transmission at their station.

    Others within [a, e) are those that began before e, less those that were over by a."""
    met = np.zeros(tx.size, bool)
    for at, freq in sorted(set(zip(station.tolist(), sent.freq[tx].tolist(), strict=True))):
        heard = medium.senses[at].copy()
        heard[at] = True
        there = np.flatnonzero((sent.station >= 0) & heard[sent.station] & (sent.freq == freq))
        begin = sent.time[there] + medium.delay_ns[sent.station[there], at]
        begins, ends = np.sort(begin), np.sort(begin + sent.airtime[there])
        mine = np.flatnonzero((station == at) & (sent.freq[tx] == freq))
        t = tx[mine]
        a, e = arrival[mine], arrival[mine] + sent.airtime[t]
        itself = (sent.station[t] >= 0) & heard[sent.station[t]]
        met[mine] = np.searchsorted(begins, e, "left") - np.searchsorted(ends, a, "right") > itself
    return met
