# SPDX-License-Identifier: BSD-3-Clause
"""Which transmissions belong together: attempts at one frame, their answers, collisions and their causes; and how long
each station contended. The sources are the air's remarks in air.pcapng.gz (docs/traces.md) and the order of frames."""

import re
from dataclasses import dataclass

import numpy as np

from analysis.taps.aired import NONE, Aired
from analysis.taps.phy import Medium, plcp_ns
from analysis.taps.sessions import divide
from analysis.traces import pcapng
from analysis.traces.capture import Capture
from analysis.traces.columns import around, begins
from analysis.traces.modes import LEGACY
from analysis.traces.remarks import LIMITS, LONGEST_DELAY_NS
from analysis.traces.trace import CATEGORIES, Array, Kind, Outcome, is_response

LIMIT = {said: reason for reason, said in LIMITS.items()}
GIVEN_UP = re.compile(rf"given up: .+, ({'|'.join(map(re.escape, LIMIT))})")
ATTEMPT = re.compile(r"attempt (\d{1,4})")


@dataclass(frozen=True)
class Remarks:
    """What the air remarked on each transmission: columns of Frames."""

    attempt: Array
    given_up: Array
    category: Array
    queued: Array


def remarks_of(shown: Capture) -> Remarks:
    """Read the comments, most of which occur many times."""
    attempt, given_up, category = (np.full(shown.time_ns.size, value) for value in (1, 0, 0))
    known: dict[str, tuple[int, int, int]] = {}
    comment = shown.options
    has = np.flatnonzero(shown.data[comment] == pcapng.OPT_COMMENT)
    sizes = shown.data[comment[has] + 2] | shown.data[comment[has] + 3].astype(np.int64) << 8
    text = memoryview(shown.data)  # type: ignore[arg-type]  # an array is a buffer
    for row, at_byte, size in zip(has.tolist(), (comment[has] + 4).tolist(), sizes.tolist(), strict=True):
        rest, _, _ = str(text[at_byte : at_byte + size], "utf-8").partition("queued ")
        if rest not in known:
            known[rest] = _parts(rest)
        attempt[row], given_up[row], category[row] = known[rest]
    rows = np.arange(shown.time_ns.size)
    queued = shown.queued_ns(rows)
    return Remarks(attempt, given_up, category, np.where(queued < 0, NONE, shown.time_ns - queued))


def _parts(comment: str) -> tuple[int, int, int]:
    """Return the attempt, the limit at which the frame was given up, and the access category."""
    attempt, limit, category = 1, 0, 0
    for part in filter(None, comment.split("; ")):
        if found := GIVEN_UP.fullmatch(part):
            limit = int(LIMIT[found[1]])
        elif found := ATTEMPT.fullmatch(part):
            attempt = int(found[1])
        elif part.startswith("AC_"):
            category = CATEGORIES.index(part.removeprefix("AC_")) + 1  # raises ValueError for an unknown one
    return attempt, limit, category


def culprits(air: Aired) -> Array:
    """Return the transmission that caused each collision: the last one of the station that the air names, or of the
    receiver itself, that began before its end. It must have been on the air at the same time, up to the propagation
    delay."""
    own = air.outcome == Outcome.OWN_TX
    who = np.where(own, air.receiver, air.culprit)
    lost = np.flatnonzero(who != NONE)
    found = np.full(who.size, NONE)
    known = np.flatnonzero(air.station != NONE)
    if lost.size:
        last, _ = around(known, air.station, air.start_ns, who[lost], air.end_ns[lost])
        reach = air.start_ns[lost] - LONGEST_DELAY_NS
        found[lost] = np.where((last >= 0) & (air.end_ns[last] > reach), last, NONE)
    return found


def attempts(air: Aired, queued: Array, category: Array, shown: Capture) -> tuple[Array, Array]:
    """Return for each transmission the previous attempt at the same frame, and the first one. A CTS or ACK counts to
    the frame of the attempt that it answers, which is its previous one. A station serves one frame at a time; with
    EDCA, one per access category; with aggregation, many."""
    before, first = np.full(air.kind.size, NONE), np.arange(air.kind.size)
    own = np.flatnonzero(~is_response(air.kind) & (air.station != NONE))
    if (shown.mode != LEGACY).any():
        own = own[np.argsort(air.station[own], kind="stable")]
        keyed = divide(shown, own, air.frames.pick(own), air.station[own], air.kind[own] == Kind.RTS).of_attempt
        order = np.argsort(keyed, kind="stable")
        served, new = own[order], begins(keyed[order])
        own = np.sort(own)
    else:
        server = air.station * (len(CATEGORIES) + 1) + category
        served = own[np.argsort(server[own], kind="stable")]
        new = begins(server[served]) | (queued[served] != NONE)
    before[served[~new]] = served[np.flatnonzero(~new) - 1]
    first[served] = served[np.maximum.accumulate(np.where(new, np.arange(own.size), 0))] if own.size else own
    answer = np.flatnonzero(is_response(air.kind) & (air.receiver != NONE))
    asked, _ = around(own, air.station, air.start_ns, air.receiver[answer], air.start_ns[answer])
    before[answer] = asked
    first[answer] = np.where(asked >= 0, first[asked], answer)
    return before, first


def waits(air: Aired, queued: Array, before: Array, medium: Medium, shown: Capture) -> Array:
    """Return how long before its start each attempt's station began to contend: when its frame was handed over, or its
    previous exchange ended (with the timeout, if no answer came). NONE if it did not contend, as after a CTS, or as
    an MPDU after the first of its PPDU."""
    waited = np.full(air.kind.size, NONE)
    own = np.flatnonzero(~is_response(air.kind) & (air.station != NONE) & begins(shown.ppdu))
    if not own.size:
        return waited
    own = own[np.argsort(air.station[own], kind="stable")]
    station, start = air.station[own], air.start_ns[own]
    last = np.where(begins(station), NONE, np.append(NONE, own[:-1]))
    answers = np.flatnonzero(is_response(air.kind) & (air.outcome == Outcome.OK) & (air.receiver != NONE))
    came, _ = around(answers, air.receiver, air.start_ns, station, start)
    timeout = medium.sifs_ns + medium.slot_ns + plcp_ns(shown.rate[last], shown.short_preamble[last])
    answered = (came >= 0) & (last >= 0) & (air.start_ns[came] >= air.end_ns[last])
    asked = air.frames.pick(last).wants_ack() & (air.receiver[last] != NONE)
    over = np.where(answered, air.end_ns[came], air.end_ns[last] + np.where(asked, timeout, 0))
    over = np.where(last >= 0, over, shown.start_ns)
    since = np.maximum(over, np.where(queued[own] != NONE, start - queued[own], shown.start_ns))
    at_once = answered & (air.kind[came] == Kind.CTS) & (start - air.end_ns[came] <= medium.sifs_ns + LONGEST_DELAY_NS)
    waited[own] = np.where(at_once, NONE, (start - since).clip(min=0))
    return waited
