# SPDX-License-Identifier: BSD-3-Clause
"""All arrivals in a capture, with their outcome at the station.

A frame that a station received badly is a collision if another transmission that the station senses, or one of its own,
overlapped it there, however briefly. Otherwise it is noise.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.taps.phy import Medium, at
from analysis.taps.transmissions import Sent
from analysis.traces.capture import Capture
from analysis.traces.trace import Array, Outcome
from emulation.files.foreign import Damaged

LONGEST_NS = 20_000_000  # no frame lasts longer: 2400 bytes at 1 Mb/s
PART = 1 << 18  # pairs at a time: enough for numpy, and fits the CPU's cache


@dataclass(frozen=True)
class Received:
    """All arrivals at stations. `tx` is the row in `Sent`. `outcome` is OK, NOISE or COLLISION; COLLISION includes the
    receiver's own transmission."""

    time: Array
    tx: Array
    station: Array
    addressed: Array
    outcome: Array


def arrivals(capture: Capture, medium: Medium, sent: Sent) -> Received:
    """Return all arrivals. Raises Damaged if a station received a frame that was never on `air`."""
    row = np.flatnonzero(capture.interface > 0)
    tx = _transmissions_of(capture, row, sent)
    time, station, corrupted = capture.time_ns[row], capture.interface[row] - 1, capture.bad[row]
    outcome = np.where(corrupted, Outcome.NOISE, Outcome.OK)
    bad = np.flatnonzero(corrupted)
    collided = _overlapped(tx[bad], station[bad], time[bad], sent, medium)
    if not medium.noise:  # then a transmission from before the start collided with it
        collided |= time[bad] < capture.start_ns + LONGEST_NS
    outcome[bad[collided]] = Outcome.COLLISION
    return Received(time, tx, station, sent.receiver[tx] == station, outcome)


def remarked(capture: Capture, sent: Sent) -> Received:
    """Return the arrivals at addressed receivers by the air's remarks, for captures without the stations' receptions.
    The propagation delay is unknown and taken as zero."""
    others = (sent.receiver >= 0) & (sent.receiver != sent.station)  # and not a CTS-to-self
    tx = np.flatnonzero(others & (sent.end < capture.stop_ns))
    said = capture.remarked(sent.row[tx])
    outcome = np.where(said == Outcome.OWN_TX, Outcome.COLLISION, said)
    there = outcome != Outcome.BELOW_THRESHOLD
    tx, outcome = tx[there], outcome[there]
    return Received(sent.time[tx], tx, sent.receiver[tx], np.ones(tx.size, bool), outcome)


def _transmissions_of(capture: Capture, row: Array, sent: Sent) -> Array:
    """Return the row in `sent` of each packet. Raises Damaged if there is none."""
    known, wanted = capture.packet_id[sent.row], capture.packet_id[row]
    tx = np.searchsorted(known, wanted).clip(max=max(0, known.size - 1))
    if row.size and (not known.size or (known[tx] != wanted).any()):
        raise Damaged("a station received a transmission that was never on air")
    return tx


def _overlapped(tx: Array, station: Array, arrival: Array, sent: Sent, medium: Medium) -> Array:
    """Return which arrivals overlapped another transmission at their station."""
    longest = medium.links.longest_ns
    over = np.maximum.accumulate(sent.end + longest)  # end of all transmissions up to this one
    first = np.searchsorted(over, arrival, "right")  # transmissions from here on may not have ended,
    last = np.searchsorted(sent.time, arrival + sent.airtime[tx], "left")  # and up to here have begun
    met = np.zeros(tx.size, bool)
    for rows in _parts((last - first).clip(min=0)):
        count = (last - first)[rows].clip(min=0)
        mine = np.repeat(rows, count)
        other = np.repeat(first[rows] - np.cumsum(count) + count, count) + np.arange(mine.size)
        own = tx[mine]
        apart = (
            (sent.number[other] != sent.number[own]) & (sent.station[other] >= 0) & (sent.freq[other] == sent.freq[own])
        )
        mine, other = mine[apart], other[apart]
        power, delay = medium.links.arriving(sent.station[other], station[mine], sent.time[other], sent.number[other])
        heard = (power >= at(medium.sense_aw, station[mine], sent.time[other])) | (sent.station[other] == station[mine])
        begin = sent.time[other] + delay
        there = (begin < arrival[mine] + sent.airtime[tx[mine]]) & (begin + sent.airtime[other] > arrival[mine])
        met[mine[heard & there]] = True
    return met


def _parts(counts: Array) -> Iterator[Array]:
    """Split the rows of `counts` into parts with sums of about PART."""
    upto = np.cumsum(counts) // PART
    return iter(np.split(np.arange(counts.size), np.flatnonzero(np.diff(upto)) + 1))
