# SPDX-License-Identifier: BSD-3-Clause
"""The air's remarks on packets, as pcapng comments. Most texts apply to many packets, so a remark is the number of its
text. Only the waiting time differs for each packet; `native.c` formats it.

Comments have parts, separated by `; `:

| comment on `air` | |
|---|---|
| `collision with sta3 DATA` | corrupted at its addressed receiver, by what; `collision`: by several transmissions |
| `receiver was sending CTS` | its receiver was sending |
| `noise`, `below threshold` | lost without another transmission; too weak to be received |
| `unheard` | nothing arrived: its receiver was out of reach, off, or on another channel |
| `given up: TCP ACK, short retry limit` | the last attempt, the frame's kind (of an RTS: its frame's), and the limit |
| `attempt 3` | the third RTS, or third sending of the frame; not on first ones |
| `AC_VO` | with EDCA, the access category of the frame, or of an RTS's frame; answers have none |
| `queued 4.062667 ms before` | on the first attempt: when the kernel gave it the frame (of an RTS: its frame) |

On stations a corrupted frame has the first three, as seen by this station.
Frames have the counters' names; other TCP segments are `TCP SYN`, `TCP FIN`, `TCP RST`,
which the counters have in `OTHER`.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from analysis.traces.columns import around, one_of
from analysis.traces.dissect import Frames, classify
from analysis.traces.trace import CATEGORIES, GIVEN_UP, NOBODY, Array, Kind, Outcome, Reason, Trace, is_response

UNHEARD, LONGEST_DELAY_NS = "unheard", 32_000
NONE, LOW = -1, 0xFFFF_FFFF  # no remark; the second of two numbers in one
# Names of frames: those of the counters, and for TCP also names of segments that the counters have as OTHER.
FLAGS = {0x02: "TCP SYN", 0x01: "TCP FIN", 0x04: "TCP RST"}
NAMES = [{Kind.TCP_DATA: "DATA", Kind.TCP_ACK: "TCP ACK"}.get(kind, kind.name) for kind in Kind] + list(FLAGS.values())
LIMITS = {
    Reason.RTS_LIMIT: "RTS retry limit", Reason.SHORT_LIMIT: "short retry limit",
    Reason.LONG_LIMIT: "long retry limit", Reason.STAGES: "end of the rate stages",
}  # fmt: skip


def remarks(trace: Trace, stations: Sequence[str]) -> tuple[list[str], Array, Array, Array]:
    """Return the distinct texts; the text number of each row of `trace.tx` and of `trace.rx` (NONE: none); and how many
    ns each row of `trace.tx` had waited (-1: not the first of its frame). `stations` are the stations' names."""
    texts: dict[str, int] = {}

    def numbers(codes: Array, text: Callable[[int], str]) -> Array:
        """Return the number of each code's text."""
        each, place = np.unique(codes, return_inverse=True)
        found: Array = np.array([texts.setdefault(text(code), len(texts)) for code in each.tolist()], np.int64)[place]
        return found

    def say(rows: Array, more: Array) -> None:
        """Append texts to those of these rows of `trace.tx`; a row that occurs several times gets them in order."""
        while rows.size:
            row, at = np.unique(rows, return_index=True)
            on_air[row] = numbers(on_air[row] << 32 | more[at], partial(_both, list(texts)))
            rows, more = np.delete(rows, at), np.delete(more, at)

    what = _names(trace)
    on_air, at_station = np.full(trace.tx.size, NONE), np.full(trace.rx.size, NONE)
    bad = np.flatnonzero(trace.rx["outcome"] != Outcome.OK)
    at_station[bad] = numbers(_causes(trace, bad, what), partial(_outcome_text, stations=stations))
    lost = bad[trace.rx["addressed"][bad] != 0]
    say(trace.rx_tx[lost], at_station[lost])
    unheard = _unheard(trace)
    say(unheard, numbers(np.zeros(unheard.size, np.int64), lambda _: UNHEARD))
    given_up, limits = _given_up(trace, what)
    say(given_up, numbers(limits, _limit_text))
    again = np.flatnonzero(trace.tx["attempt"] > 1)
    say(again, numbers(trace.tx["attempt"][again], "attempt {}".format))
    marked = np.flatnonzero(trace.tx["category"])
    say(marked, numbers(trace.tx["category"][marked], lambda category: f"AC_{CATEGORIES[category - 1]}"))
    return list(texts), on_air, at_station, _waited(trace)


def _both(texts: Sequence[str], pair: int) -> str:
    """Join two texts, of which the first may be NONE."""
    return "; ".join(texts[number] for number in (pair >> 32, pair & LOW) if number != NONE)


def _names(trace: Trace) -> Array:
    """Return each transmission's name, as an index into NAMES."""
    what = trace.tx["kind"].astype(np.int64)
    other = np.flatnonzero(what == Kind.OTHER)
    frames = Frames(trace.data, trace.frame[other], trace.tx["caplen"][other].astype(np.int64))
    _, tcp = classify(frames)
    flags = frames.pick(tcp.row).field(tcp.transport + 13)
    cases = [flags & flag != 0 for flag in FLAGS]
    what[other[tcp.row]] = np.select(cases, list(range(len(Kind), len(NAMES))), Kind.OTHER)
    return what


def _causes(trace: Trace, bad: Array, what: Array) -> Array:
    """Return for each corrupted arrival, as one number: outcome, station that caused it, and the name of its frame."""
    rx, tx = trace.rx[bad], trace.tx
    other, name = rx["other"].astype(np.int64), rx["other_kind"].astype(np.int64)
    row = np.flatnonzero(tx["kind"] == Kind.OTHER)
    unclear = np.flatnonzero((name == Kind.OTHER) & (other != NOBODY))
    until = rx["start_ns"][unclear] + tx["duration_ns"][trace.rx_tx[bad[unclear]]]
    before, _ = around(row, tx["station"].astype(np.int64), tx["start_ns"], other[unclear], until)
    name[unclear] = np.where(before >= 0, what[before], Kind.OTHER) if tx.size else Kind.OTHER
    cause: Array = rx["outcome"].astype(np.int64) << 24 | other << 8 | name
    return cause


def _outcome_text(cause: int, stations: Sequence[str]) -> str:
    outcome, other, name = cause >> 24, cause >> 8 & NOBODY, NAMES[cause & 0xFF]
    match outcome:
        case Outcome.COLLISION:
            return f"collision with {stations[other]} {name}" if other < len(stations) else "collision"
        case Outcome.OWN_TX:
            return f"receiver was sending {name}"
        case Outcome.NOISE:
            return "noise"
        case _:
            return "below threshold"


def _unheard(trace: Trace) -> Array:
    """Return the transmissions to a station of which nothing arrived there, and that ended before the last one
    began."""
    tx, reported = trace.tx, np.zeros(trace.tx.size, bool)
    reported[trace.rx_tx[trace.rx["addressed"] != 0]] = True
    over = tx["start_ns"] + tx["duration_ns"] + LONGEST_DELAY_NS <= tx["start_ns"].max(initial=0)
    return np.flatnonzero(~reported & over & (tx["receiver"] != NOBODY))


def _given_up(trace: Trace, what: Array) -> tuple[Array, Array]:
    """Return the last transmission of each frame that was given up, and as one number the limit and the frame's
    name."""
    end = trace.end[one_of(trace.end["reason"], GIVEN_UP) & (trace.end["id"] > 0)]
    row = np.searchsorted(trace.tx["id"], end["id"]).clip(max=max(0, trace.tx.size - 1))
    known = trace.tx["id"][row] == end["id"] if trace.tx.size else np.zeros(end.size, bool)
    row, end = row[known], end[known]
    name = np.where(end["kind"] == trace.tx["kind"][row], what[row], end["kind"])  # else only RTSs were sent for it
    return row, end["reason"].astype(np.int64) << 8 | name


def _limit_text(limit: int) -> str:
    return f"given up: {NAMES[limit & 0xFF]}, {LIMITS[Reason(limit >> 8)]}"


def _waited(trace: Trace) -> Array:
    """Return how long (ns) the first transmission of each frame, or an RTS for it, had waited; -1 for all others."""
    tx = trace.tx
    own = np.flatnonzero(~is_response(tx["kind"]) & (tx["msdu"] > 0))
    frame = tx["station"][own].astype(np.int64) << 32 | tx["msdu"][own]
    first = own[np.unique(frame, return_index=True)[1]]
    first = first[tx["attempt"][first] <= 1]
    waited = np.full(tx.size, -1)
    waited[first] = tx["start_ns"][first] - tx["queued_ns"][first]
    return waited
