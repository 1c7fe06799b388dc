# SPDX-License-Identifier: BSD-3-Clause
"""Make the file that a browser shows (`pages.packed`). Times and row numbers are stored as differences, which compress
best. Values that may exceed 32 bits take two columns."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from analysis.pages import packed
from analysis.pages.timeline import Timeline
from analysis.pages.timeline.segments import NO_FLOW
from analysis.taps.aired import NONE
from analysis.tcp.senders import NO_SSTHRESH, Phase
from analysis.traces.remarks import LIMITS, NAMES
from analysis.traces.trace import CATEGORIES, Array, Kind, Outcome

HERE = Path(__file__).parent
FILES = ("window.css", "style.css", "times.js", "pen.js", "gestures.js", "scale.js", "bars.js", "run.js", "query.js",
         "derive.js", "draw.js", "lanes.js", "tcp.js", "pane.js", "main.js")  # fmt: skip
NOBODY = 255


def page(made: Timeline) -> str:
    """Return the whole file."""
    return packed.page(HERE, made.title, FILES, pack(made))


def pack(made: Timeline) -> bytes:
    """Return the data of a timeline."""
    of, flows = made.frames, [made.tcp[name] for name, _, _ in made.flows if name in made.tcp]
    rows = np.arange(of.start.size)
    columns: dict[str, Array] = {
        **_wide("start", np.diff(of.start, prepend=0)), "took": of.took.astype("<u4"), "kind": of.kind.astype("u1"),
        **{name: np.where(column < 0, NOBODY, column).astype("u1")
           for name, column in (("from", of.station), ("to", of.receiver))},
        "outcome": of.outcome.astype("u1"), "culprit": _back(rows, of.culprit), "before": _back(rows, of.before),
        "attempt": of.attempt.astype("u1"), "given_up": of.given_up.astype("u1"),
        **_wide("queued", of.queued + 1), **_wide("waited", of.waited + 1),
        "length": of.length.astype("<u2"), "rate": of.rate.astype("<u2"), "freq": of.freq.astype("<u2"),
        "mode": of.mode.astype("u1"), "place": of.place.astype("u1"), "more": of.more.astype("u1"),
        "part": of.part.astype("<u4"), "part_took": of.part_took.astype("<u4"), "acked": of.acked.astype("<u2"),
        "short": of.short.astype("u1"), "control": of.control.astype("<u2"), "duration": of.duration.astype("<u2"),
        "sequence": of.sequence.astype("<u2"), "category": of.category.astype("u1"), "flow": of.flow.astype("u1"),
        "back": of.back.astype("u1"), "seq": of.seq.astype("<u4"), "ack": of.ack.astype("<u4"),
        "payload": of.payload.astype("<u2"), "flags": of.flags.astype("u1"), "sensed": of.sensed.astype("<u4"),
        "received": of.received.astype("<u4"), "mask": made.masks.ravel().astype("u1"),
        "tcp_time": _all(flow.time_ns[:-1] for flow in flows).astype("<f8"),
        "tcp_cwnd": _all(flow.cwnd for flow in flows).astype("<u4"),
        "tcp_ssthresh": _all(flow.ssthresh for flow in flows).astype("<u4"),
        "tcp_flight": _all(flow.in_flight.clip(min=0) for flow in flows).astype("<u4"),
        "tcp_srtt": _all(flow.srtt_us for flow in flows).astype("<u4"),
        "tcp_phase": _all(flow.phase for flow in flows).astype("u1"),
        "rto": _all(flow.rtos_ns for flow in flows).astype("<f8"),
        "fast": _all(flow.fast_retransmits_ns for flow in flows).astype("<f8"),
    }  # fmt: skip
    head = {
        "title": made.title, "took_all": made.took_ns, "stations": list(made.stations), "views": made.views,
        "flows": [
            {"name": name, "source": source, "destination": destination, **_sizes(made, name)}
            for name, source, destination in made.flows
        ],
        "mac": dict(made.mac), "delay": made.delay_ns, "mask_bytes": int(made.masks.shape[1]),
        "modes": list(made.modes),
        "kinds": NAMES[: len(Kind)], "outcomes": [outcome.name for outcome in Outcome],
        "limits": {int(reason): said for reason, said in LIMITS.items()}, "categories": CATEGORIES,
        "phases": [phase.name for phase in Phase], "nobody": NOBODY, "no_flow": NO_FLOW, "no_ssthresh": NO_SSTHRESH,
    }  # fmt: skip
    return packed.pack(head, columns)


def _sizes(made: Timeline, name: str) -> dict[str, int]:
    """Return how many rows of TCP's columns belong to a flow."""
    flow = made.tcp.get(name)
    if flow is None:
        return {"steps": 0, "rtos": 0, "fasts": 0, "end": 0}
    return {"steps": flow.cwnd.size, "rtos": flow.rtos_ns.size, "fasts": flow.fast_retransmits_ns.size,
            "end": int(flow.time_ns[-1])}  # fmt: skip


def _wide(name: str, values: Array) -> dict[str, Array]:
    """Split a column of numbers below 2^48 into two."""
    return {name: (values & 0xFFFFFFFF).astype("<u4"), f"{name}_high": (values >> 32).astype("<u2")}


def _back(rows: Array, to: Array) -> Array:
    """Return the distance back to another row; negative if it lies ahead, 0 for none."""
    return np.where(to == NONE, 0, rows - to).astype("<i4")


def _all(parts: Iterable[Array]) -> Array:
    return np.concatenate([np.zeros(0), *parts])
