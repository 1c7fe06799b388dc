# SPDX-License-Identifier: BSD-3-Clause
"""The frames that stations served, in the form that `tcp.journeys` needs: one frame per row, which is one hop of its
packet.

There are two sources. `of_observation` takes what was derived from a capture, which shows only frames and times.
`of_trace` takes the air's own records, which number each frame and record its end. The second is several times faster
because it derives nothing. Tests require the same series from both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.taps import exchanges
from analysis.taps.observe import Observation
from analysis.taps.phy import ips_of
from analysis.traces.columns import begins, ends, one_of
from analysis.traces.packets import SEGMENTS, Packets, identify
from analysis.traces.trace import GIVEN_UP, NEVER, NOBODY, Array, Kind, Outcome, Trace, is_response


@dataclass(frozen=True)
class Hops:
    """All served frames, by station, in the order in which it served them. Times are in ns.

    `queued`: when the kernel handed the frame over (if unknown, its first transmission). `first`, `ended`: start of the
    first attempt, end of the last. `arrived`: when its receiver had it, or NEVER. `lost`: its station gave it up.
    `receiver`: a station, or -1 for a group. `shown`: the frame itself was sent, not only RTSs; then for a segment
    `packet` and `destination` are as in `analysis.traces.packets`. `stations` is the number of stations.
    """

    station: Array
    kind: Array
    queued: Array
    first: Array
    ended: Array
    arrived: Array
    lost: Array
    receiver: Array
    shown: Array
    packet: Array
    destination: Array
    stations: int
    start_ns: int
    stop_ns: int


def of_observation(seen: Observation) -> Hops:
    """Return the served frames, derived from a capture alone."""
    sent, served, attempts, capture = seen.sent, seen.served, seen.attempts, seen.capture
    first, last = attempts.tx[served.first], attempts.tx[served.last]
    queued = capture.queued_ns(sent.row[first])
    shown = served.data >= 0
    packet, destination = np.zeros(shown.size, np.uint64), np.full(shown.size, -1)
    segment = np.flatnonzero(shown & one_of(seen.served_kind, SEGMENTS))
    ips = [interface.ip for interface in capture.interfaces[1:]]
    rows = attempts.tx[served.data[segment]]
    packet[segment], destination[segment] = identify(sent.frames, sent.tcp, ips, rows)
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
        lost=((served.reason == exchanges.OPEN) & ~ends(served.station)) | one_of(served.reason, GIVEN_UP),
        receiver=np.where(shown, sent.receiver[attempts.tx[served.data]], -1),
        shown=shown,
        packet=packet,
        destination=destination,
        stations=len(ips),
        start_ns=capture.start_ns,
        stop_ns=capture.stop_ns,
    )


def of_trace(
    trace: Trace, stations: Sequence[Mapping[str, Any]], packets: Packets | None = None,
    before: Counter[int] | None = None,
) -> Hops:  # fmt: skip
    """Return the served frames, from the air's own records. `stations` are the plan's, in order. `packets` is what
    frames carry (None: computed here). `before` is the result of `followed` for earlier parts of the trace."""
    tx, rx = trace.tx, trace.rx
    time, end = tx["start_ns"], tx["start_ns"] + tx["duration_ns"]
    served = numbered(trace)
    first, seen = served.first, served.data >= 0
    if packets is None:
        packets = Packets.of(trace.data, tx, trace.frame, ips_of(stations))
    sent = packets.pick(served.data) if tx.size else packets
    kind = sent.kind.astype(np.int64)
    times = followed(trace, served, kind, packets.duration) + (before or Counter())
    kind[~seen] = exchanges.kinds_announced(times, announced(trace, served.first[~seen], packets.duration))
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
        shown=seen,
        packet=sent.number,
        destination=sent.destination,
        stations=len(stations),
        start_ns=trace.start_ns,
        stop_ns=trace.stop_ns,
    )


@dataclass(frozen=True)
class Numbered:
    """The frames that a trace numbers, by station, in the order in which it served them, as rows of `Trace.tx`.

    `first` and `last` are their attempts; `data` is the last attempt that was not an RTS, or -1. `of_tx` has for each
    transmission its frame: a row here, or -1 for a CTS or ACK.
    """

    first: Array
    last: Array
    data: Array
    of_tx: Array


def numbered(trace: Trace) -> Numbered:
    """Return the frames of a trace: all attempts of a station at one frame have the same number."""
    tx = trace.tx
    attempt = np.flatnonzero(~is_response(tx["kind"]))
    number = tx["station"][attempt].astype(np.int64) << 32 | tx["msdu"][attempt]
    several = tx["mode"].any()  # then there are other attempts between those at one frame
    attempt = attempt[np.argsort(number if several else tx["station"][attempt], kind="stable")]
    number = tx["station"][attempt].astype(np.int64) << 32 | tx["msdu"][attempt]
    new = begins(number)
    frame, first = np.cumsum(new) - 1, attempt[new]
    of_tx, data = np.full(tx.size, -1), np.full(first.size, -1)
    of_tx[attempt] = frame
    own = tx["kind"][attempt] != Kind.RTS
    data[frame[own]] = attempt[own]  # the last of each
    return Numbered(first, attempt[ends(number)], data, of_tx)


def announced(trace: Trace, rts: Array, duration: Array) -> Array:
    """Return what these RTSs, given by their rows, say of the frame after them."""
    return exchanges.announced(trace.tx["rate"][rts].astype(np.int64), duration[rts])


def followed(trace: Trace, served: Numbered, kind: Array, duration: Array, which: Array | bool = True) -> Counter[int]:
    """Count how often a frame of a Kind followed an RTS, among `which` transmissions; `kind` is that of each served
    frame."""
    rts = np.flatnonzero((trace.tx["kind"] == Kind.RTS) & which)
    rts = rts[served.data[served.of_tx[rts]] >= 0]
    return exchanges.followed(announced(trace, rts, duration), kind[served.of_tx[rts]])


def _lost(trace: Trace, served: Numbered) -> Array:
    """Return which frames their stations gave up."""
    ids, sent = trace.end["id"][one_of(trace.end["reason"], GIVEN_UP)], trace.tx["id"]
    lost = np.zeros(served.first.size, bool)
    row = np.searchsorted(sent, ids)
    row, ids = row[row < sent.size], ids[row < sent.size]
    lost[served.of_tx[row[sent[row] == ids]]] = True
    return lost


def _arrivals(count: int, frame_of: Array, kind: Array, tx: Array, time: Array) -> Array:
    """Return when each frame first reached its receiver; `tx` and `time` are those of good arrivals there, RTSs
    included."""
    mine = (frame_of[tx] >= 0) & (kind[tx] != Kind.RTS)
    first = np.full(count, NEVER)
    np.minimum.at(first, frame_of[tx[mine]], time[mine])
    return first
