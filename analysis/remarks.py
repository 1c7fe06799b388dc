# SPDX-License-Identifier: BSD-3-Clause
"""What the air remarks on packets, as pcapng comments: docs/file-formats.md has their words.

On `air`: what became of a frame at its addressed receiver and whose doing it was, which attempt it is, how long it had
waited, and that it was given up. On a station: why it was spoilt there. Most texts are on many packets, so the remark
of a packet is a number: the text's place among all.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.columns import around
from analysis.dissect import Frames, classify
from analysis.trace import GIVEN_UP, NOBODY, Array, Kind, Outcome, Reason, Trace, is_response

NONE = -1  # no remark
# What a frame is called: as the counters do, and of TCP what else is OTHER to them.
FLAGS = {0x02: "TCP SYN", 0x01: "TCP FIN", 0x04: "TCP RST"}
NAMES = [{Kind.TCP_DATA: "DATA", Kind.TCP_ACK: "TCP ACK"}.get(kind, kind.name) for kind in Kind] + list(FLAGS.values())
LIMITS = {
    Reason.RTS_LIMIT: "RTS retry limit", Reason.SHORT_LIMIT: "short retry limit",
    Reason.LONG_LIMIT: "long retry limit", Reason.STAGES: "end of the rate stages",
}  # fmt: skip


def remarks(trace: Trace, stations: Sequence[str]) -> tuple[list[str], Array, Array]:
    """The texts, each once; which of them each row of `trace.tx` has, and which each row of `trace.rx` (NONE: none).
    `stations` are the stations' names."""
    numbers: dict[str, int] = {}

    def number(text: str) -> int:
        return numbers.setdefault(text, len(numbers))

    what = _names(trace)
    at_station = np.full(trace.rx.size, NONE)
    bad = np.flatnonzero(trace.rx["outcome"] != Outcome.OK)
    causes, cause = np.unique(_causes(trace, bad, what), return_inverse=True)
    texts = [
        number(_outcome_text(each >> 24, each >> 8 & NOBODY, NAMES[each & 0xFF], stations)) for each in causes.tolist()
    ]
    at_station[bad] = np.array(texts, np.int64)[cause]

    said: dict[int, list[str]] = {}
    text_of = list(numbers)
    lost = bad[trace.rx["addressed"][bad] != 0]
    for row, text in zip(trace.rx_tx[lost].tolist(), at_station[lost].tolist(), strict=True):
        said.setdefault(row, []).append(text_of[text])
    for row, text in (*_given_up(trace, what), *_attempts(trace), *_waited(trace)):
        said.setdefault(row, []).append(text)
    on_air = np.full(trace.tx.size, NONE)
    on_air[list(said)] = [number("; ".join(parts)) for parts in said.values()]
    return list(numbers), on_air, at_station


def milliseconds(ns: int) -> str:
    """ns, exactly."""
    return f"{ns // 1_000_000}.{ns % 1_000_000:06d}"


def _names(trace: Trace) -> Array:
    """What each transmission is called, as its place in NAMES."""
    what = trace.tx["kind"].astype(np.int64)
    other = np.flatnonzero(what == Kind.OTHER)
    frames = Frames(trace.data, trace.frame[other], trace.tx["caplen"][other].astype(np.int64))
    _, tcp = classify(frames)
    flags = frames.pick(tcp.row).field(tcp.transport + 13)
    cases = [flags & flag != 0 for flag in FLAGS]
    what[other[tcp.row]] = np.select(cases, list(range(len(Kind), len(NAMES))), Kind.OTHER)
    return what


def _causes(trace: Trace, bad: Array, what: Array) -> Array:
    """Of some spoilt arrivals, as one number: outcome, whose transmission it was, and what that is called."""
    rx, tx = trace.rx[bad], trace.tx
    other, name = rx["other"].astype(np.int64), rx["other_kind"].astype(np.int64)
    row = np.flatnonzero(tx["kind"] == Kind.OTHER)
    unclear = np.flatnonzero((name == Kind.OTHER) & (other != NOBODY))
    until = rx["start_ns"][unclear] + tx["duration_ns"][trace.rx_tx[bad[unclear]]]
    before, _ = around(row, tx["station"].astype(np.int64), tx["start_ns"], other[unclear], until)
    name[unclear] = np.where(before >= 0, what[before], Kind.OTHER) if tx.size else Kind.OTHER
    cause: Array = rx["outcome"].astype(np.int64) << 24 | other << 8 | name
    return cause


def _outcome_text(outcome: int, other: int, name: str, stations: Sequence[str]) -> str:
    match outcome:
        case Outcome.COLLISION:
            return f"collision with {stations[other]} {name}" if other < len(stations) else "collision"
        case Outcome.OWN_TX:
            return f"receiver was sending {name}"
        case Outcome.NOISE:
            return "noise"
        case _:
            return "below threshold"


def _given_up(trace: Trace, what: Array) -> Iterable[tuple[int, str]]:
    """On the last transmission of each frame that was given up: what it was, and at which limit."""
    end = trace.end[np.isin(trace.end["reason"], GIVEN_UP) & (trace.end["id"] > 0)]
    row = np.searchsorted(trace.tx["id"], end["id"]).clip(max=max(0, trace.tx.size - 1))
    known = trace.tx["id"][row] == end["id"] if trace.tx.size else np.zeros(end.size, bool)
    row, end = row[known], end[known]
    name = np.where(end["kind"] == trace.tx["kind"][row], what[row], end["kind"])  # else only RTSs were sent for it
    for at, which, reason in zip(row.tolist(), name.tolist(), end["reason"].tolist(), strict=True):
        yield at, f"given up: {NAMES[which]}, {LIMITS[Reason(reason)]}"


def _attempts(trace: Trace) -> Iterable[tuple[int, str]]:
    """On every attempt after the first."""
    again = np.flatnonzero(trace.tx["attempt"] > 1)
    return ((row, f"attempt {n}") for row, n in zip(again.tolist(), trace.tx["attempt"][again].tolist(), strict=True))


def _waited(trace: Trace) -> Iterable[tuple[int, str]]:
    """On the first transmission of each frame, an RTS for it included."""
    tx = trace.tx
    own = np.flatnonzero(~is_response(tx["kind"]) & (tx["msdu"] > 0))
    frame = tx["station"][own].astype(np.int64) << 32 | tx["msdu"][own]
    first = np.sort(own[np.unique(frame, return_index=True)[1]])
    first = first[tx["attempt"][first] <= 1]
    waited = (tx["start_ns"][first] - tx["queued_ns"][first]).tolist()
    return ((row, f"queued {milliseconds(ns)} ms before") for row, ns in zip(first.tolist(), waited, strict=True))
