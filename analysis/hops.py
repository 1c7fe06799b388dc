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
from analysis.dissect import Frames, Tcp, classify
from analysis.observe import Observation
from analysis.trace import GIVEN_UP, NOBODY, Array, Kind, Outcome, Trace

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
    final_frame = np.append(served.station[1:] != served.station[:-1], True)[: served.station.size]
    frame_of = np.full(sent.row.size, -1)
    frame_of[attempts.tx] = served.of_attempt
    well = seen.received.addressed & (seen.received.outcome == Outcome.OK)
    tx = seen.received.tx[well]
    return Hops(
        station=served.station,
        kind=seen.served_kind,
        queued=np.where(queued < 0, sent.time[first], queued),
        first=sent.time[first],
        ended=sent.time[last] + sent.airtime[last],
        arrived=_arrivals(first.size, frame_of, sent.kind, tx, seen.received.time[well] + sent.airtime[tx]),
        lost=((served.reason == exchanges.OPEN) & ~final_frame) | np.isin(served.reason, GIVEN_UP),
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
    kinds, time, end = tx["kind"], tx["start_ns"], tx["start_ns"] + tx["duration_ns"]
    own = np.flatnonzero((kinds != Kind.CTS) & (kinds != Kind.ACK))
    own = own[np.argsort(tx["station"][own], kind="stable")]
    number = tx["station"][own].astype(np.int64) << 32 | tx["msdu"][own]
    new = np.append(True, number[1:] != number[:-1])[: own.size]
    frame = np.cumsum(new) - 1
    first, last = own[new], own[np.append(new[1:], True)[: own.size]]
    frame_of = np.full(tx.size, -1)
    frame_of[own] = frame
    rts = kinds[own] == Kind.RTS
    data = np.full(first.size, -1)
    data[frame[~rts]] = own[~rts]  # the last of each

    kind = np.where(data >= 0, kinds[data], Kind.OTHER) if tx.size else np.zeros(0, np.uint8)
    segment = np.flatnonzero((kind == Kind.TCP_DATA) | (kind == Kind.TCP_ACK))
    packet = np.full(first.size, -1)
    packet[segment] = np.arange(segment.size)
    frames = Frames(trace.data, trace.frame[data[segment]], tx["caplen"][data[segment]].astype(np.int64))
    kind[segment], tcp = classify(frames)
    asked_by = own[rts]
    at = trace.frame[asked_by]
    asked = np.zeros(tx.size, np.int64)
    asked[asked_by] = (
        tx["rate"][asked_by].astype(np.int64) << 16 | trace.data[at + 3].astype(np.int64) << 8 | trace.data[at + 2]
    )
    followed = data[frame_of[asked_by]] >= 0
    kind[data < 0] = exchanges.kinds_asked_for(
        asked[asked_by[followed]], kind[frame_of[asked_by[followed]]], asked[first[data < 0]]
    )

    lost = np.zeros(first.size, bool)
    given_up = np.isin(tx["id"], trace.end["id"][np.isin(trace.end["reason"], GIVEN_UP)])
    lost[frame_of[given_up]] = True
    well = (rx["addressed"] != 0) & (rx["outcome"] == Outcome.OK)
    to = trace.rx_tx[well]
    receiver = tx["receiver"][data].astype(np.int64) if tx.size else data
    return Hops(
        station=tx["station"][first].astype(np.int64),
        kind=kind,
        queued=np.where(tx["attempt"][first] <= 1, tx["queued_ns"][first], time[first]),
        first=time[first],
        ended=end[last],
        arrived=_arrivals(first.size, frame_of, kinds, to, rx["start_ns"][well] + tx["duration_ns"][to]),
        lost=lost,
        receiver=np.where((data >= 0) & (receiver != NOBODY), receiver, -1),
        packet=packet,
        frames=frames,
        tcp=tcp,
        ips=[str(station.get("ip") or "").partition("/")[0] for station in stations],
        start_ns=trace.start_ns,
        stop_ns=trace.stop_ns,
    )


def _arrivals(count: int, frame_of: Array, kind: Array, tx: Array, time: Array) -> Array:
    """When each frame first reached its receiver: `tx` and `time` are of the good arrivals there, RTSs included."""
    mine = (frame_of[tx] >= 0) & (kind[tx] != Kind.RTS)
    first = np.full(count, NEVER)
    np.minimum.at(first, frame_of[tx[mine]], time[mine])
    return first
