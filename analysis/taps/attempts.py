# SPDX-License-Identifier: BSD-3-Clause
"""The stations' attempts (an RTS, or the frame itself), and which of them were answered.

An attempt is answered if its sender received a good CTS or ACK before it sent anything else. One of several MPDUs in a
PPDU is answered if a block ACK came that acknowledges it. If its timeout would expire after the stop, the attempt has
not failed: its outcome is unknown.
"""

from dataclasses import dataclass

import numpy as np

from analysis.taps import sessions
from analysis.taps.following import noticed
from analysis.taps.phy import NS2_DELAY_NS, Medium, plcp_ns
from analysis.taps.phy import at as own
from analysis.taps.receptions import Received
from analysis.taps.transmissions import Sent
from analysis.traces.capture import Capture
from analysis.traces.columns import around, begins, ends
from analysis.traces.modes import LEGACY
from analysis.traces.trace import Array, Kind, Outcome, is_response

RETRY = 0x08  # in the second octet of Frame Control (9.2.4.1)


@dataclass(frozen=True)
class Attempts:
    """The attempts of all stations, one per row, sorted by station and time.

    `tx` is the transmission's row. `acked`: it requires an ACK. `answered`: the ACK, or the CTS, came. `failed`: it did
    not come, and that was certain before the stop. `retry`: the header's Retry bit. `counts`: its frame was handed over
    after the start. `lead`: it is the first MPDU of its PPDU. `keyed`: the frames, if stations serve many at a time.
    """

    tx: Array
    station: Array
    rts: Array
    acked: Array
    answered: Array
    failed: Array
    retry: Array
    counts: Array
    lead: Array
    keyed: "sessions.Keyed | None"


def attempts(capture: Capture, medium: Medium, sent: Sent, received: Received) -> Attempts:
    tx = np.flatnonzero((sent.station >= 0) & ~is_response(sent.kind))
    tx = tx[np.argsort(sent.station[tx], kind="stable")]
    lead = begins(sent.number[tx])
    of, head = np.cumsum(lead) - 1, tx[lead]  # PPDUs
    station, frames = sent.station[head], sent.frames.pick(head)
    goes_on = ~ends(station) & (np.append(sent.time[head][1:], 0)[: head.size] == sent.end[head] + medium.sifs_ns)
    acked = frames.wants_ack() & ~goes_on  # in a TXOP Duration covers the next frame
    came, response = _answered(head, capture.stop_ns, medium, sent, received)
    answered = np.where(acked, came, sent.end[head] <= capture.stop_ns)
    failed = acked & ~answered
    for row in np.flatnonzero(failed & ends(station)).tolist():
        failed[row] = _settled(int(head[row]), capture.stop_ns, medium, sent, received)
    acked, answered, failed, station, frames = acked[of], answered[of], failed[of], station[of], sent.frames.pick(tx)
    lost = answered & (np.bincount(of) > 1)[of] if of.size else answered
    lost[lost] = ~sent.frames.pick(response[of[lost]]).acknowledges(frames.pick(np.flatnonzero(lost)).sequence())
    rts, shown = sent.kind[tx] == Kind.RTS, sent.row[tx]
    keyed = sessions.divide(capture, shown, frames, station, rts) if (capture.mode != LEGACY).any() else None
    return Attempts(
        tx, station, rts, acked, answered & ~lost, failed | lost, frames.field(1) & RETRY != 0,
        sessions.counted(capture, shown, frames, rts, keyed) if keyed else _counted(capture, shown, station),
        lead, keyed,
    )  # fmt: skip


def _answered(tx: Array, stop_ns: int, medium: Medium, sent: Sent, received: Received) -> tuple[Array, Array]:
    """Return which attempts, sorted by station and time, got the answer they require: the first good response to their
    sender after their end is of the right kind, and comes before the next attempt, or before a fixed timeout. Return
    also the transmission that this response is, or -1."""
    station, time = sent.station[tx], sent.time[tx]
    until = np.where(ends(station), stop_ns + 1, np.append(time[1:], 0)[: tx.size])
    kind = sent.kind[received.tx]
    good = np.flatnonzero((received.outcome == Outcome.OK) & received.addressed & is_response(kind))
    _, response = around(good, received.station, received.time, station, sent.end[tx])
    when, what = np.append(received.time, stop_ns + 1)[response], np.append(kind, Kind.OTHER)[response]  # -1: never
    answered: Array = (when < until) & (what == np.where(sent.kind[tx] == Kind.RTS, Kind.CTS, Kind.ACK))
    if medium.fixed_timeouts:
        took = np.append(sent.airtime[received.tx], 0)[response]
        answered &= when - took <= sent.end[tx] + medium.sifs_ns + 2 * NS2_DELAY_NS
    return answered, np.append(received.tx, -1)[response]


def _settled(tx: int, stop: int, medium: Medium, sent: Sent, received: Received) -> bool:
    """Return whether a station's last attempt, which was not answered, had failed by the stop. A frame that the station
    begins to receive before the timeout is received to its end first."""
    at, end = int(sent.station[tx]), int(sent.time[tx] + sent.airtime[tx])
    deadline = end + medium.timeout_ns(int(sent.rate[tx]), bool(sent.short_preamble[tx]))
    if medium.fixed_timeouts:
        return deadline <= stop
    if ((received.station == at) & (received.time >= end) & (received.outcome == Outcome.OK)).any():
        return True  # something else came instead
    if medium.detection is not None:
        rows = noticed(at, end, stop, int(sent.freq[tx]), medium, sent)
        started = rows[:, 1] + plcp_ns(sent.rate[rows[:, 0]], sent.short_preamble[rows[:, 0]])
        instead = rows[started <= deadline]
        return deadline <= stop if not instead.size else bool(instead[0, 2] <= stop)
    late = np.flatnonzero((sent.station >= 0) & (sent.end + medium.links.longest_ns > stop))
    power, delay = medium.links.arriving(sent.station[late], np.array(at), sent.time[late], sent.number[late])
    begin = sent.time[late] + delay
    started = begin + plcp_ns(sent.rate[late], sent.short_preamble[late])
    hearing = (begin >= end) & (started <= deadline) & (begin + sent.airtime[late] > stop)
    hearing &= power >= own(medium.receive_aw, np.array(at), sent.time[late])
    return deadline <= stop and not bool(hearing.any())


def _counted(capture: Capture, row: Array, station: Array) -> Array:
    """Return which attempts belong to frames that the kernel handed over after the start; only these count. A station
    serves frames in order, so all from one frame on count. Frames do not show when they were handed over; the air's
    comment `queued` on first attempts does."""
    counts = np.ones(row.size, bool)
    first = np.flatnonzero(begins(station)).tolist()
    for begin, end in zip(first, [*first[1:], row.size], strict=False):
        at = begin
        while at < end and int(capture.queued_ns(row[at : at + 1])[0]) < capture.start_ns:
            at += 1
        counts[begin:at] = False
    return counts
