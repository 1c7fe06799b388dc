# SPDX-License-Identifier: BSD-3-Clause
"""Put the frame exchanges together again from what was on the air and what each station received.

A station serves one frame at a time, so its attempts (RTS, or the frame itself), in order, fall into frames: a frame
is over when its ACK came back well, when it was sent to a group, or when a retry counter reached its limit. An
attempt is answered if its sender received a good CTS or ACK before it sent anything else. IEEE 802.11-2016, 10.3.4.4:
an unanswered RTS, and a frame sent without RTS, count short; a frame sent after a CTS counts long; the short count
starts again when a CTS arrives.
"""

from dataclasses import dataclass

import numpy as np

from analysis.attempts import Attempts
from analysis.trace import Array, Kind, Reason

OPEN = -1  # a frame that was not over at the stop, or whose end cannot be derived


@dataclass(frozen=True)
class Served:
    """The frames that stations served, one row each, in the order of `Attempts`.

    `first` and `last` are rows of Attempts; `data` is the row of its last transmission that was not an RTS, or -1;
    `reason` a Reason, or OPEN.
    """

    station: Array
    first: Array
    last: Array
    data: Array
    reason: Array
    of_attempt: Array  # for each attempt, its frame
    after_cts: Array  # for each attempt: it was sent after a CTS, and counts long


def serve(attempts: Attempts, short_limit: int | None, long_limit: int | None) -> Served:
    """Split attempts into frames. Limits of None: the kernel's rate stages end a frame, seen by what follows it."""
    of_attempt: list[int] = []
    after_cts: list[bool] = []
    first: list[int] = []
    data: list[int] = []
    reason: list[int] = []
    station, current, cleared, over, counting = -1, -1, False, True, False
    short = long = 0
    names = ("station", "rts", "acked", "answered", "failed", "retry", "counts")
    rows = zip(*(getattr(attempts, name).tolist() for name in names), strict=True)
    for row, (at, is_rts, acked, answered, failed, retry, counts) in enumerate(rows):
        # A group's frame is sent once, and a frame's first data transmission has no Retry bit: what came before was
        # another frame.
        passed_over = not over and not is_rts and (not acked or (not retry and data[current] >= 0))
        if at != station or over or passed_over or counts != counting:
            if passed_over and at == station and short_limit is None:
                reason[current] = Reason.STAGES
            current += 1
            first.append(row)
            data.append(-1)
            reason.append(OPEN)
            cleared = cleared and passed_over and at == station
            station, over, counting = at, False, counts
            short = long = 0
        of_attempt.append(current)
        after_cts.append(cleared)
        if not is_rts:
            data[current] = row
        if is_rts and answered:
            cleared, short = True, 0
            continue
        if not acked and not is_rts:
            why = Reason.GROUP if answered else OPEN
        elif answered:
            why = Reason.ACKED
        elif not failed:
            why = OPEN
        elif cleared:
            long += 1
            why = Reason.LONG_LIMIT if long == long_limit else OPEN
        else:
            short += 1
            why = (Reason.RTS_LIMIT if is_rts else Reason.SHORT_LIMIT) if short == short_limit else OPEN
        cleared = False
        if why != OPEN:
            reason[current], over = why, True
    starts = np.array(first, np.int64)
    return Served(
        station=attempts.station[starts],
        first=starts,
        last=np.append(starts[1:], attempts.tx.size)[: starts.size] - 1,
        data=np.array(data, np.int64),
        reason=np.array(reason, np.int64),
        of_attempt=np.array(of_attempt, np.int64),
        after_cts=np.array(after_cts, bool),
    )


def kinds(served: Served, attempts: Attempts, tx_kind: Array, rate: Array, duration: Array) -> Array:
    """The Kind of each served frame: its own, or if only RTSs were sent of it, that which they asked for."""
    kind = np.where(served.data >= 0, tx_kind[attempts.tx[served.data]], Kind.OTHER)
    unknown = np.flatnonzero(served.data < 0)
    if unknown.size:
        asked = rate[attempts.tx] << 16 | duration[attempts.tx]
        followed = np.flatnonzero(attempts.rts & (served.data[served.of_attempt] >= 0))
        kinds_then = kind[served.of_attempt[followed]]
        kind[unknown] = kinds_asked_for(asked[followed], kinds_then, asked[served.first[unknown]])
    return kind


def kinds_asked_for(asked: Array, kind: Array, wanted: Array) -> Array:
    """The Kind of frames of which only RTSs were sent, by the rate and Duration field of each, in `wanted` as
    rate << 16 | duration; `asked` and `kind` are those of the RTSs whose frames followed.

    The Duration tells the length of the frame asked for: it is of the kind that followed most often after an RTS of
    this rate and this, or else the nearest, Duration. If no RTS of this rate was ever followed by its frame, it is
    OTHER.
    """
    if not wanted.size:
        return np.zeros(0, np.int64)
    seen, times = np.unique(asked * len(Kind) + kind, return_counts=True)
    rarest_first = seen[np.argsort(times, kind="stable")]
    most_often = dict(zip((rarest_first // len(Kind)).tolist(), (rarest_first % len(Kind)).tolist(), strict=True))
    kinds = []
    for key in wanted.tolist():
        same_rate = [(abs(k - key), k) for k in most_often if k >> 16 == key >> 16]
        kinds.append(most_often[min(same_rate)[1]] if same_rate else Kind.OTHER)
    return np.array(kinds, np.int64)
