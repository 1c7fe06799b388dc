# SPDX-License-Identifier: BSD-3-Clause
"""The frames that stations served, as `analysis.flight` needs them: one row a frame, which is one hop of its packet.

They come from either of two sources. `of_observation` takes what was derived from a capture, where only frames and
times are to be seen; `of_trace` takes the air's own records, which number every frame and tell its end. The second is
several times faster, because nothing is left to derive; tests hold the two to the same series.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import exchanges
from analysis.columns import begins, ends
from analysis.dissect import Frames, Tcp, classify
from analysis.observe import Observation
from analysis.trace import GIVEN_UP, NOBODY, Array, Kind, Outcome, Trace, is_response

NEVER = np.iinfo(np.int64).max
SEGMENTS = (Kind.TCP_DATA, Kind.TCP_ACK)


@dataclass(frozen=True)
class Hops:
    """All served frames, by station and in the order in which it served them. Times in ns.

    `queued`: when the kernel handed it over (if not known, when it was first sent); `first` and `ended`: when its first
    attempt began and its last was over; `arrived`: when its receiver had it, or NEVER; `lost`: its station gave it up;
    `packet`: its row in `frames`, or -1 if nothing but RTSs were sent for it; `receiver`: a station, or -1 for a group.
    `tcp` has the segments among `frames`; `ips` are the stations' IP addresses, empty where there is none.
    """

    station: Array
    kind: Array
    queued: Array
    first: Array
    ended: Array
    arrived: Array
    lost: Array
    receiver: Array
    packet: Array
    frames: Frames
    tcp: Tcp
    ips: Sequence[str]
    start_ns: int
    stop_ns: int


def of_observation(seen: Observation) -> Hops:
    """From a capture alone."""
    sent, served, attempts, capture = seen.sent, seen.served, seen.attempts, seen.capture
    first, last = attempts.tx[served.first], attempts.tx[served.last]
    queued = capture.queued_ns(sent.row[first])
    packet = np.where(served.data >= 0, attempts.tx[served.data], -1)
    frame_of = np.full(sent.row.size, -1)
    frame_of[attempts.tx] = served.of_attempt
    well = seen.received.addressed & (seen.received.outcome == Outcome.OK)
    tx = seen.received.tx[well]
    return Hops(
        station=served.station,
        kind=seen.served_kind,
        queued=np.where(queued < 0, sent.time[first], queued),
        first=sent.time[first],
        ended=sent.end[last],
        arrived=_arrivals(first.size, frame_of, sent.kind, tx, seen.received.time[well] + sent.airtime[tx]),
        lost=((served.reason == exchanges.OPEN) & ~ends(served.station)) | np.isin(served.reason, GIVEN_UP),
        receiver=np.where(packet >= 0, sent.receiver[packet], -1),
        packet=packet,
        frames=sent.frames,
        tcp=sent.tcp,
        ips=[interface.ip for interface in capture.interfaces[1:]],
        start_ns=capture.start_ns,
        stop_ns=capture.stop_ns,
    )


def of_trace(trace: Trace, stations: Sequence[Mapping[str, Any]]) -> Hops:
    """From the air's own records; `stations` are the plan's, in their order."""
    tx, rx = trace.tx, trace.rx
    time, end = tx["start_ns"], tx["start_ns"] + tx["duration_ns"]
    served = _numbered(trace)
    first, seen = served.first, served.data >= 0
    kind, packet, frames, tcp = _dissected(trace, served)
    kind[~seen] = _kinds_asked_for(trace, served, kind)
    well = (rx["addressed"] != 0) & (rx["outcome"] == Outcome.OK)
    to = trace.rx_tx[well]
    receiver = tx["receiver"][served.data].astype(np.int64) if tx.size else served.data
    return Hops(
        station=tx["station"][first].astype(np.int64),
        kind=kind,
        queued=np.where(tx["attempt"][first] <= 1, tx["queued_ns"][first], time[first]),
        first=time[first],
        ended=end[served.last],
        arrived=_arrivals(first.size, served.of_tx, tx["kind"], to, rx["start_ns"][well] + tx["duration_ns"][to]),
        lost=_lost(trace, served),
        receiver=np.where(seen & (receiver != NOBODY), receiver, -1),
        packet=packet,
        frames=frames,
        tcp=tcp,
        ips=[str(station.get("ip") or "").partition("/")[0] for station in stations],
        start_ns=trace.start_ns,
        stop_ns=trace.stop_ns,
    )


@dataclass(frozen=True)
class _Numbered:
    """The frames that a trace numbers, by station and in the order in which it served them, as rows of `Trace.tx`.

    `first` and `last` are their attempts; `data` the last that was no RTS, or -1. `of_tx` has for each transmission its
    frame: a row here, or -1 for a CTS or ACK.
    """

    first: Array
    last: Array
    data: Array
    of_tx: Array


def _numbered(trace: Trace) -> _Numbered:
    """The frames of a trace: all attempts of a station at one bear the same number."""
    tx = trace.tx
    attempt = np.flatnonzero(~is_response(tx["kind"]))
    attempt = attempt[np.argsort(tx["station"][attempt], kind="stable")]
    number = tx["station"][attempt].astype(np.int64) << 32 | tx["msdu"][attempt]
    new = begins(number)
    frame, first = np.cumsum(new) - 1, attempt[new]
    of_tx, data = np.full(tx.size, -1), np.full(first.size, -1)
    of_tx[attempt] = frame
    own = tx["kind"][attempt] != Kind.RTS
    data[frame[own]] = attempt[own]  # the last of each
    return _Numbered(first, attempt[ends(number)], data, of_tx)


def _dissected(trace: Trace, served: _Numbered) -> tuple[Array, Array, Frames, Tcp]:
    """Look into the segments: `kind` (OTHER if a frame was only asked for), `packet`, `frames` and `tcp` of Hops."""
    tx = trace.tx
    kind = np.where(served.data >= 0, tx["kind"][served.data], Kind.OTHER) if tx.size else np.zeros(0, np.int64)
    segment = np.flatnonzero((kind == Kind.TCP_DATA) | (kind == Kind.TCP_ACK))
    packet = np.full(kind.size, -1)
    packet[segment] = np.arange(segment.size)
    sent = served.data[segment]
    frames = Frames(trace.data, trace.frame[sent], tx["caplen"][sent].astype(np.int64))
    kind[segment], tcp = classify(frames)
    return kind, packet, frames, tcp


def _kinds_asked_for(trace: Trace, served: _Numbered, kind: Array) -> Array:
    """The Kind of each frame of which only RTSs were sent."""

    def asked(rts: Array) -> Array:
        at = trace.frame[rts]
        duration = trace.data[at + 3].astype(np.int64) << 8 | trace.data[at + 2]
        return exchanges.asked_for(trace.tx["rate"][rts].astype(np.int64), duration)

    rts = np.flatnonzero(trace.tx["kind"] == Kind.RTS)
    followed = rts[served.data[served.of_tx[rts]] >= 0]
    return exchanges.kinds_asked_for(
        asked(followed), kind[served.of_tx[followed]], asked(served.first[served.data < 0])
    )


def _lost(trace: Trace, served: _Numbered) -> Array:
    """Which frames their stations gave up."""
    ids = trace.end["id"][np.isin(trace.end["reason"], GIVEN_UP)]
    lost = np.zeros(served.first.size, bool)
    lost[served.of_tx[np.isin(trace.tx["id"], ids)]] = True
    return lost


def _arrivals(count: int, frame_of: Array, kind: Array, tx: Array, time: Array) -> Array:
    """When each frame first reached its receiver: `tx` and `time` are of the good arrivals there, RTSs included."""
    mine = (frame_of[tx] >= 0) & (kind[tx] != Kind.RTS)
    first = np.full(count, NEVER)
    np.minimum.at(first, frame_of[tx[mine]], time[mine])
    return first
