# SPDX-License-Identifier: BSD-3-Clause
"""Reconstruct frame exchanges from what was on the air and what each station received.

A station serves one frame at a time, so its attempts, in order, divide into frames; with aggregation `taps.sessions`
divides them. A frame ends when its ACK is
received well, when it was sent to a group, or when a retry counter reaches its limit. `taps.attempts` says which
attempts were answered. IEEE 802.11-2016, 10.3.4.4: an unanswered RTS, and a frame sent without RTS, increment the short
count; a frame sent after a CTS increments the long count; a received CTS resets the short count.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from analysis.taps.attempts import Attempts
from analysis.traces.columns import begins
from analysis.traces.trace import Array, Kind, Reason

OPEN = -1  # a frame that had not ended at the stop, or whose end cannot be derived
DURATION_BITS = 16  # of the Duration/ID field
CLEARED, UNANSWERED = -2, -3  # results of an attempt: the frame may be sent, or is tried again unless at the limit


@dataclass(frozen=True)
class Served:
    """The frames that stations served, one per row, in the order of `Attempts`.

    `first` and `last` are rows of Attempts. `data` is the row of the last attempt that was not an RTS, or -1. `reason`
    is a Reason, or OPEN.
    """

    station: Array
    first: Array
    last: Array
    data: Array
    reason: Array
    of_attempt: Array  # for each attempt, its frame
    after_cts: Array  # for each attempt, whether it followed a CTS and counts as long


def serve(attempts: Attempts, short_limit: Array | None, long_limit: Array | None) -> Served:
    """Divide attempts into frames; the limits are those in force at each attempt. None: the kernel's rate stages end a
    frame, which the next frame shows."""
    if attempts.keyed:
        return serve_keyed(attempts)
    first, reason, after_cts = _replay(attempts, short_limit, long_limit)
    new = np.zeros(attempts.tx.size, bool)
    new[first] = True
    of_attempt = np.cumsum(new) - 1
    own = np.flatnonzero(~attempts.rts)
    data = np.full(first.size, -1)
    data[of_attempt[own]] = own  # the last of each
    return Served(
        station=attempts.station[first],
        first=first,
        last=np.append(first[1:], attempts.tx.size)[: first.size] - 1,
        data=data,
        reason=reason,
        of_attempt=of_attempt,
        after_cts=after_cts,
    )


def serve_keyed(attempts: Attempts) -> Served:
    """Return the frames of stations that serve many at a time. Limits are the driver's, so a frame that was given up
    stays open."""
    assert attempts.keyed is not None
    of, first = attempts.keyed.of_attempt, attempts.keyed.first
    last, data, reason = first.copy(), np.full(first.size, -1), np.full(first.size, OPEN)
    np.maximum.at(last, of, np.arange(of.size))
    own = np.flatnonzero(~attempts.rts)
    np.maximum.at(data, of[own], own)
    well = own[attempts.answered[own]]
    reason[of[well]] = np.where(attempts.acked[well], Reason.ACKED, Reason.GROUP)
    return Served(
        station=attempts.station[first], first=first, last=last, data=data, reason=reason, of_attempt=of,
        after_cts=_after_cts(attempts),
    )  # fmt: skip


def _after_cts(attempts: Attempts) -> Array:
    """Return which attempts were in a PPDU after an answered RTS."""
    head = np.flatnonzero(attempts.lead)
    cleared = np.append(False, (attempts.rts & attempts.answered)[head][:-1])[: head.size]
    cleared &= ~begins(attempts.station[head]) & ~attempts.rts[head]
    found: Array = cleared[np.cumsum(attempts.lead) - 1]
    return found


def _replay(attempts: Attempts, short_limit: Array | None, long_limit: Array | None) -> tuple[Array, Array, Array]:
    """Replay the stations' attempts and count retries. Return the first attempt of each frame, why it ended (`first`
    and `reason` of Served), and `after_cts`."""
    first: list[int] = []
    reason: list[int] = []
    after_cts: list[bool] = []
    over, shown, cleared, short, long = True, False, False, 0, 0  # shown: the frame itself was sent, not only an RTS
    elsewhere, own = begins(attempts.station), ~attempts.rts
    columns = (elsewhere, elsewhere | begins(attempts.counts), own, own & ~attempts.acked, own & ~attempts.retry)
    never = np.zeros(attempts.tx.size, int)  # no retry count has this value
    limits = (np.broadcast_to(never if limit is None else limit, never.shape) for limit in (short_limit, long_limit))
    rows = zip(*(column.tolist() for column in (*columns, _results(attempts), *limits)), strict=True)
    for row, (at_another, apart, is_own, group, not_retry, fate, short_most, long_most) in enumerate(rows):
        # A frame to a group is sent once, and the first transmission of a data frame has no Retry bit: earlier attempts
        # belong to another frame.
        passed_over = not over and (group or (not_retry and shown))
        if over or passed_over or apart:
            if not passed_over or at_another:
                cleared = False
            elif short_limit is None:
                reason[-1] = Reason.STAGES
            first.append(row)
            reason.append(OPEN)
            over, shown, short, long = False, False, 0, 0
        cleared = cleared and is_own  # ns-2 sends nothing after a CTS into a busy medium, and repeats the RTS
        after_cts.append(cleared)
        shown = shown or is_own
        if fate == CLEARED:
            cleared, short = True, 0
            continue
        if fate == UNANSWERED and cleared:
            long += 1
            fate = Reason.LONG_LIMIT if long == long_most else OPEN
        elif fate == UNANSWERED:
            short += 1
            fate = OPEN if short != short_most else Reason.SHORT_LIMIT if is_own else Reason.RTS_LIMIT
        cleared = False
        if fate != OPEN:
            reason[-1], over = fate, True
    return np.array(first, np.int64), np.array(reason, np.int64), np.array(after_cts, bool)


def _results(attempts: Attempts) -> Array:
    """Return the result of each attempt: the Reason why its frame ended, or CLEARED, UNANSWERED or OPEN."""
    own = ~attempts.rts
    cases = [
        (attempts.answered & attempts.rts, CLEARED),
        (attempts.answered & own & attempts.acked, Reason.ACKED),
        (attempts.answered & own, Reason.GROUP),
        (attempts.failed, UNANSWERED),
    ]
    return np.select([which for which, _ in cases], [fate for _, fate in cases], OPEN)


def kinds(served: Served, attempts: Attempts, tx_kind: Array, rate: Array, duration: Array) -> Array:
    """Return the Kind of each served frame. If only its RTSs were sent, infer the Kind from them."""
    kind = np.where(served.data >= 0, tx_kind[attempts.tx[served.data]], Kind.OTHER)
    unknown = np.flatnonzero(served.data < 0)
    if unknown.size:
        asked = announced(rate[attempts.tx], duration[attempts.tx])
        then = np.flatnonzero(attempts.rts & (served.data[served.of_attempt] >= 0))
        kinds_then = kind[served.of_attempt[then]]
        kind[unknown] = kinds_announced(followed(asked[then], kinds_then), asked[served.first[unknown]])
    return kind


def announced(rate: Array, duration: Array) -> Array:
    """Return as one number what an RTS says of the frame after it: its own rate (100 kb/s) and its Duration field."""
    asked: Array = rate << DURATION_BITS | duration
    return asked


def followed(asked: Array, kind: Array) -> Counter[int]:
    """Count how often a frame of a Kind followed an RTS (`announced`), each pair as one number."""
    pairs, times = np.unique(asked * len(Kind) + kind, return_counts=True)
    return Counter(dict(zip(pairs.tolist(), times.tolist(), strict=True)))


def kinds_announced(times: Counter[int], wanted: Array) -> Array:
    """Return the Kind of frames of which only RTSs were sent. `wanted` has one RTS of each, as from `announced`;
    `times` is from `followed`.

    The Duration determines the length of the frame. Its Kind is the one that most often followed an RTS with this rate
    and Duration, or with the nearest Duration. If no frame ever followed an RTS with this rate, it is OTHER.
    """
    if not wanted.size:
        return np.zeros(0, np.int64)
    rarest_first = sorted(times, key=lambda pair: (times[pair], pair))
    most_often = {pair // len(Kind): pair % len(Kind) for pair in rarest_first}
    kinds = []
    for key in wanted.tolist():
        same_rate = [(abs(k - key), k) for k in most_often if k >> DURATION_BITS == key >> DURATION_BITS]
        kinds.append(most_often[min(same_rate)[1]] if same_rate else Kind.OTHER)
    return np.array(kinds, np.int64)
