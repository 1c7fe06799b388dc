# SPDX-License-Identifier: BSD-3-Clause
"""Derive what happened from a capture: who sent each frame, what each arrival met, how each exchange ended.

Only frames, FCS flags and times are used, and the facts in `Medium`; the air module's comments play no part. A frame
that a station received badly is a collision if any other transmission that the station senses, or one of its own, was
on the air there in that time, however briefly; otherwise it is noise. A frame that arrived below the reception
threshold is on no station's interface, so nothing here counts it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import dissect, exchanges
from analysis.capture import Capture, CaptureError
from analysis.medium import Medium, airtime_ns, plcp_ns
from analysis.trace import Array, Kind, Outcome, Reason

LONGEST_NS = 20_000_000  # no frame lasts longer: 2400 bytes at 1 Mb/s
NAMES = [kind.name.lower() for kind in Kind]


@dataclass(frozen=True)
class Sent:
    """Every transmission, in the order of the air. Stations are numbered from 0 in the order of their interfaces;
    -1 is none, or a group. Times in ns; `frames` and `tcp` are their bytes."""

    row: Array  # in the capture
    time: Array
    airtime: Array
    rate: Array
    short_preamble: Array
    freq: Array
    kind: Array
    station: Array
    receiver: Array
    frames: dissect.Frames
    tcp: dissect.Tcp


@dataclass(frozen=True)
class Received:
    """Every arrival at a station. `tx` is the row in `Sent`; `outcome` is OK, NOISE or COLLISION, which here
    includes the receiver's own transmission."""

    time: Array
    tx: Array
    station: Array
    addressed: Array
    outcome: Array


@dataclass(frozen=True)
class Observation:
    """What was derived from a capture. `served_kind` is a column beside `served`: each frame's Kind."""

    capture: Capture
    medium: Medium
    sent: Sent
    received: Received
    attempts: exchanges.Attempts
    served: exchanges.Served
    served_kind: Array

    def counters(self) -> list[dict[str, Any]]:
        """Per station, in the shape of `counters` in lane.json; what cannot be seen from outside is not there."""
        sent, received, served = self.sent, self.received, self.served
        stations, kinds = len(self.capture.interfaces) - 1, len(Kind)

        def count(last: int, *columns: Array) -> Array:
            table = np.zeros((stations, kinds, last), np.int64)
            np.add.at(table, columns, 1)
            return table

        known = sent.station >= 0
        tx = count(1, sent.station[known], sent.kind[known], np.zeros(known.sum(), int))
        airtime = np.zeros((stations, kinds), np.int64)
        np.add.at(airtime, (sent.station[known], sent.kind[known]), sent.airtime[known])
        mine = received.addressed
        rx = (received.station, sent.kind[received.tx], received.outcome)
        rx_table, addressed = count(len(Outcome), *rx), count(len(Outcome), *(column[mine] for column in rx))
        over = self.attempts.counts[served.first] & (served.reason != exchanges.OPEN)
        end = count(len(Reason), served.station[over], self.served_kind[over], served.reason[over])
        failed = self.attempts.failed & self.attempts.counts
        retries = np.zeros((stations, 2), np.int64)
        np.add.at(retries, (self.attempts.station[failed], served.after_cts[failed].astype(int)), 1)

        def table(rows: Array, columns: Sequence[Any]) -> dict[str, dict[str, int]]:
            return {
                name: {column.name: int(row[column]) for column in columns}
                for name, row in zip(NAMES, rows, strict=True)
            }

        outcomes = (Outcome.OK, Outcome.COLLISION, Outcome.NOISE)
        limits = (Reason.RTS_LIMIT, Reason.SHORT_LIMIT, Reason.LONG_LIMIT) if self.medium.short_limit else ()
        return [
            {
                "tx": dict(zip(NAMES, tx[s, :, 0].tolist(), strict=True)),
                "airtime_ns": dict(zip(NAMES, airtime[s].tolist(), strict=True)),
                "rx": table(rx_table[s], outcomes),
                "addressed": table(addressed[s], outcomes),
                "end": table(end[s], (Reason.ACKED, Reason.GROUP, *limits)),
                "retries": dict(zip(("short", "long"), retries[s].tolist(), strict=True)),
            }
            for s in range(stations)
        ]


def observe(capture: Capture, medium: Medium | None = None) -> Observation:
    """Derive everything. Without `medium`, Medium.of_all(). Raises CaptureError if a station received what was never
    on `air`, or if the medium is of other stations than the capture."""
    stations = len(capture.interfaces) - 1
    medium = medium or Medium.of_all(stations)
    if medium.senses.shape != (stations, stations):
        raise CaptureError(f"the capture has {stations} stations, the plan {medium.senses.shape[0]}")
    sent = _sent(capture, medium)
    received = _received(capture, medium, sent)
    attempts = _attempts(capture, medium, sent, received)
    served = exchanges.serve(attempts, medium.short_limit, medium.long_limit)
    served_kind = exchanges.kinds(served, attempts, sent.kind, sent.rate, sent.frames.duration())
    return Observation(capture, medium, sent, received, attempts, served, served_kind)


def _sent(capture: Capture, medium: Medium) -> Sent:
    row = np.flatnonzero(capture.interface == 0)
    frames = dissect.Frames(capture.data, capture.frame, capture.caplen - 4 * capture.has_fcs).pick(row)
    kind, tcp = dissect.classify(frames)
    rate, short = capture.rate[row], capture.short_preamble[row]
    time = capture.time_ns[row]
    airtime = airtime_ns(rate, capture.length[row], short, medium.signal_extension_ns)
    receiver = _stations_of(frames.address(1), capture)
    response = (kind == Kind.CTS) | (kind == Kind.ACK)
    station = np.where(response, -1, _stations_of(frames.address(2), capture))
    station[response] = _responders(kind, station, receiver, time, time + airtime, medium, capture.stop_ns)
    for tx in np.flatnonzero(response & (station < 0)).tolist():
        station[tx] = _by_ear(int(row[tx]), capture, medium)
    return Sent(row, time, airtime, rate, short, capture.freq[row], kind, station, receiver, frames, tcp)


def _stations_of(addresses: Array, capture: Capture) -> Array:
    """The station that has each address; -1 for a group's, or one that nobody has."""
    known = np.array([int.from_bytes(i.address, "big") for i in capture.interfaces[1:]], np.int64)
    order = np.argsort(known)
    at = np.searchsorted(known[order], addresses).clip(max=known.size - 1)
    return np.where(known[order][at] == addresses, order[at], -1)


def _responders(
    kind: Array, station: Array, receiver: Array, time: Array, end: Array, medium: Medium, stop_ns: int
) -> Array:  # fmt: skip
    """Who sent each CTS and ACK, which do not say: whom the latest attempt of their receiver was for, if it ended just
    before; of a CTS, its receiver itself, if its frame follows a SIFS later, or would after the stop (CTS-to-self).
    Otherwise -1: it answers what was before the start."""
    response = (kind == Kind.CTS) | (kind == Kind.ACK)
    asked = receiver[response]
    rows = np.flatnonzero(~response & (station >= 0))
    if not rows.size:
        return np.full(asked.size, -1)
    rows = rows[np.argsort(station[rows], kind="stable")]
    origin, span = int(time[0]), int(time[-1] - time[0]) + 1
    following = np.searchsorted(station[rows] * span + time[rows] - origin, asked * span + time[response] - origin)
    attempt, own = rows[(following - 1).clip(min=0)], rows[following.clip(max=rows.size - 1)]
    window = medium.sifs_ns + medium.slot_ns + int(medium.delay_ns.max(initial=0))
    answers = (following > 0) & (station[attempt] == asked) & (time[response] - end[attempt] <= window)
    due = end[response] + medium.sifs_ns
    follows = (station[own] == asked) & (time[own] == due) | (due > stop_ns)
    to_self = (kind[response] == Kind.CTS) & follows
    return np.where(answers, receiver[attempt], np.where(to_self, asked, -1))


def _by_ear(row: int, capture: Capture, medium: Medium) -> int:
    """Who sent a packet of `air`, known by the stations that show it, and when: the one that all of them can receive,
    from that far away, and no others. -1: nobody, or more than one."""
    near = slice(row, row + 8 * len(capture.interfaces))  # a delay is short: its copies follow at once
    copy = row + np.flatnonzero((capture.packet_id[near] == capture.packet_id[row]) & (capture.interface[near] > 0))
    heard, delay = capture.interface[copy] - 1, capture.time_ns[copy] - capture.time_ns[row]
    fits = medium.receives[heard].all(axis=0) & (medium.delay_ns[:, heard] == delay).all(axis=1)
    fits &= medium.receives.sum(axis=0) == heard.size
    return int(np.flatnonzero(fits)[0]) if fits.sum() == 1 else -1


def _received(capture: Capture, medium: Medium, sent: Sent) -> Received:
    row = np.flatnonzero(capture.interface > 0)
    ids, wanted = capture.packet_id[sent.row], capture.packet_id[row]
    tx = np.searchsorted(ids, wanted).clip(max=max(0, ids.size - 1))
    if row.size and (not ids.size or (ids[tx] != wanted).any()):
        raise CaptureError("a station received a transmission that was never on air")
    time, station = capture.time_ns[row], capture.interface[row] - 1
    outcome = np.where(capture.bad[row], Outcome.NOISE, Outcome.OK)
    bad = np.flatnonzero(capture.bad[row])
    collided = _overlapped(tx[bad], station[bad], time[bad], sent, medium)
    if not medium.noise:  # then what spoilt it was on the air before the start
        collided |= time[bad] < capture.start_ns + LONGEST_NS
    outcome[bad[collided]] = Outcome.COLLISION
    return Received(time, tx, station, sent.receiver[tx] == station, outcome)


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


def _attempts(capture: Capture, medium: Medium, sent: Sent, received: Received) -> exchanges.Attempts:
    """All stations' attempts, and which of them were answered."""
    start, stop = capture.start_ns, capture.stop_ns
    tx = np.flatnonzero((sent.station >= 0) & (sent.kind != Kind.CTS) & (sent.kind != Kind.ACK))
    tx = tx[np.argsort(sent.station[tx], kind="stable")]
    own, end = sent.station[tx], sent.time[tx] + sent.airtime[tx]
    rts = sent.kind[tx] == Kind.RTS
    acked = sent.frames.pick(tx).wants_ack()
    last = np.append(own[1:] != own[:-1], True)[: tx.size]
    until = np.where(last, stop + 1, np.append(sent.time[tx][1:], 0)[: tx.size])

    kind = sent.kind[received.tx]
    answer = np.flatnonzero(
        (received.outcome == Outcome.OK) & received.addressed & ((kind == Kind.CTS) | (kind == Kind.ACK))
    )
    answer = answer[np.argsort(received.station[answer], kind="stable")]
    span = stop - start + 2
    keys = np.append(received.station[answer] * span + received.time[answer] - start, np.iinfo(np.int64).max)
    found = np.searchsorted(keys, own * span + (end - start).clip(max=span - 1))
    in_time = keys[found] < own * span + until - start
    fitting = np.append(kind[answer], len(Kind))[found] == np.where(rts, Kind.CTS, Kind.ACK)
    answered = np.where(acked, in_time & fitting, end <= stop)

    settled = ~last
    for row in np.flatnonzero(last & acked & ~answered).tolist():
        settled[row] = _settled(int(tx[row]), capture.stop_ns, medium, sent, received)
    retry = sent.frames.pick(tx).field(1) & 0x08 != 0
    counts = _counted(capture, sent.row[tx], own)
    return exchanges.Attempts(tx, own, rts, acked, answered, acked & ~answered & settled, retry, counts)


def _settled(tx: int, stop: int, medium: Medium, sent: Sent, received: Received) -> bool:
    """Had a station's last attempt, which nobody answered, failed by the stop? A frame that begins to be received
    before the timeout is heard to its end first."""
    at, end = int(sent.station[tx]), int(sent.time[tx] + sent.airtime[tx])
    deadline = end + medium.timeout_ns(int(sent.rate[tx]), bool(sent.short_preamble[tx]))
    if ((received.station == at) & (received.time >= end) & (received.outcome == Outcome.OK)).any():
        return True  # something else came in its place
    begin = sent.time + np.where(sent.station >= 0, medium.delay_ns[sent.station, at], 0)
    heard = (sent.station >= 0) & medium.receives[at][sent.station]
    started = begin + plcp_ns(sent.rate, sent.short_preamble)
    hearing = heard & (begin >= end) & (started <= deadline) & (begin + sent.airtime > stop)
    return deadline <= stop and not bool(hearing.any())


def _counted(capture: Capture, row: Array, station: Array) -> Array:
    """Which attempts are of frames that the kernel handed over after the start: only these frames count. A station
    serves in order, so they are all from one on; no frame says when it was handed over, so the air is asked, by its
    comment `queued` on first attempts."""
    counts = np.ones(row.size, bool)
    begins = np.flatnonzero(np.append(True, station[1:] != station[:-1])[: row.size])
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), row.size], strict=False):
        first = begin
        while first < end and int(capture.queued_ns(row[first : first + 1])[0]) < capture.start_ns:
            first += 1
        counts[begin:first] = False
    return counts
