# SPDX-License-Identifier: BSD-3-Clause
"""Write a timeline for Perfetto, in Chrome's trace-event format (JSON) for ui.perfetto.dev and chrome://tracing. Each
station is a process, its frames are slices of a thread, queues and TCP's state are counters. A collision is a flow
event: an arrow from the transmission that caused it to the one that was lost. The format's times are in us."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.timeline import Frames, Timeline
from analysis.pages.timeline.segments import NO_FLOW
from analysis.taps.aired import NONE
from analysis.tcp.senders import NO_SSTHRESH
from analysis.traces.columns import begins
from analysis.traces.remarks import LIMITS, NAMES
from analysis.traces.trace import Array, Outcome, Reason, is_response

AIR = 1  # the thread of a station's frames
Event = dict[str, Any]


def write(made: Timeline, out: Path) -> None:
    """Write one event per line, compressed if the name ends in .gz. Raises OSError if the file cannot be written."""
    lines = (json.dumps(event, separators=(",", ":")) for event in events(made))
    text = '{"displayTimeUnit":"ns","traceEvents":[\n' + ",\n".join(lines) + "\n]}\n"
    out.write_bytes(gzip.compress(text.encode(), 6, mtime=0) if out.suffix == ".gz" else text.encode())


def events(made: Timeline) -> Iterator[Event]:
    for station, name in enumerate(made.stations):
        yield {"ph": "M", "name": "process_name", "pid": station + 1, "args": {"name": name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": station + 1, "args": {"sort_index": station}}
        yield {"ph": "M", "name": "thread_name", "pid": station + 1, "tid": AIR, "args": {"name": "air"}}
        yield from _steps(f"queue of {name}", station + 1, *queue(made.frames, station))
    yield from _slices(made)
    for name, source, _ in made.flows:
        if flow := made.tcp.get(name):
            known = np.where(flow.ssthresh == NO_SSTHRESH, 0, flow.ssthresh)
            for what, values in (("cwnd", flow.cwnd), ("ssthresh", known), ("in flight", flow.in_flight)):
                yield from _steps(f"{name}, {what}", source + 1, flow.time_ns[:-1], values)


def _slices(made: Timeline) -> Iterator[Event]:
    """Yield the frames, and arrows to the frames that they collided with."""
    of = made.frames
    columns = (column.tolist() for column in (of.start, of.took, of.kind, of.station, of.receiver, of.outcome,
               of.culprit, of.attempt, of.given_up, of.length, of.rate, of.flow, of.seq, of.payload))  # fmt: skip
    sender = of.station.tolist()
    for row, (start, took, kind, station, receiver, outcome, culprit, attempt, given_up, length, rate, flow, seq,
              payload) in enumerate(zip(*columns, strict=True)):  # fmt: skip
        if station == NONE:
            continue
        to = made.stations[receiver] if receiver != NONE else "all"
        said: dict[str, Any] = {"frame.number": row + 1, "to": to, "bytes": length, "Mb/s": rate / 10}
        said |= {"outcome": Outcome(outcome).name, "attempt": attempt}
        if given_up:
            said["given up"] = LIMITS[Reason(given_up)]
        if flow != NO_FLOW:
            said["flow"] = made.flows[flow][0]
        if payload:
            said["seq"] = seq
        place = {"pid": station + 1, "tid": AIR}
        name = NAMES[kind] + (" lost" if outcome else "")
        yield {"ph": "X", "name": name, "cat": NAMES[kind], "ts": start / 1e3, "dur": took / 1e3, **place, "args": said}
        if culprit != NONE and sender[culprit] != NONE:
            arrow = {"name": "collides with", "cat": "collision", "id": row + 1}
            by = int(of.start[culprit]), int(of.took[culprit])
            within = min(max(start, by[0]), by[0] + by[1])
            yield {"ph": "s", **arrow, "ts": within / 1e3, "pid": sender[culprit] + 1, "tid": AIR}
            yield {"ph": "f", "bp": "e", **arrow, "ts": max(start, within) / 1e3, **place}


def _steps(name: str, pid: int, time_ns: Array, values: Array) -> Iterator[Event]:
    for at, value in zip(time_ns.tolist(), values.tolist(), strict=True):
        yield {"ph": "C", "name": name, "pid": pid, "ts": at / 1e3, "args": {"": value}}


def queue(of: Frames, station: int) -> tuple[Array, Array]:
    """Return the times at which a station's queue changed (ns), and its length from then on. A frame is in the queue
    from when the kernel hands it over until its last attempt ends."""
    own = np.flatnonzero((of.station == station) & ~is_response(of.kind))
    own = own[np.argsort(of.category[own], kind="stable")]  # each access category serves one frame at a time
    first = np.flatnonzero(begins(of.category[own]) | (of.queued[own] != NONE))
    last = own[np.append(first[1:] - 1, own.size - 1)[: first.size]]
    known = of.queued[own[first]] != NONE
    first, last = first[known], last[known]
    came, went = (of.start - of.queued)[own[first]], (of.start + of.took)[last]
    time = np.concatenate([came, went])
    order = np.argsort(time, kind="stable")
    return time[order], np.cumsum(np.repeat([1, -1], first.size)[order])
