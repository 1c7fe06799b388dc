# SPDX-License-Identifier: BSD-3-Clause
"""What a report draws over time: segments in flight, TCP senders, samples of flows, and routes.

A chart of kind "time" has lines, each of which names its two columns, and may have marks above them. A chart of kind
"spans" has a row per flow, with the times that it spent in each of some states. `curves.js` draws both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from analysis.figures.figures import LOSSES, OVER_TIME, PHASES, as_shown
from analysis.tables import statistics
from analysis.tcp.in_flight import Series as Counts
from analysis.tcp.senders import NO_SSTHRESH
from analysis.tcp.senders import Flow as TcpFlow
from analysis.traces.trace import Array

if TYPE_CHECKING:
    from analysis.results.flow_series import Series
    from analysis.routes.paths import Paths
    from analysis.routes.routes import Routes

POINTS = 961  # points of an average over time
A_SECOND = 120  # steps of a rate per second
MOST_FLOWS = 12  # flows in one figure
LIFTED = 0.08  # hops: vertical shift of each flow's dots from those of the flow before
SIDES = {"cwnd": "cwnd, segments", "ssthresh": "ssthresh, segments", "in_flight": "in flight, segments",
         "srtt": "SRTT, ms"}  # fmt: skip
EXACT = ("cwnd", "srtt_ms")  # quantities of which the records of TCP senders have every change
Chart = dict[str, Any]
Columns = dict[str, Array]
Of = TypeVar("Of")


@dataclass(frozen=True)
class OverTime:
    """What can be drawn over time. For each variant: segments in flight, one per seed. For the first seed, by the name
    of the flow: the TCP sender, samples, routes and paths of packets (None: unknown). Also the times at which control
    packets were sent (s), by kind or by run."""

    flights: Mapping[str, Sequence[Counts]] = field(default_factory=dict)
    flows: Mapping[str, TcpFlow] = field(default_factory=dict)
    samples: "Mapping[str, Series]" = field(default_factory=dict)
    routes: "Mapping[str, tuple[Routes, Paths | None]]" = field(default_factory=dict)
    control_s: Mapping[str, Array] = field(default_factory=dict)
    air_s: float = 0.0  # duration of the first seed's runs


NOTHING = OverTime()


def some(flows: Mapping[str, Of]) -> dict[str, Of]:
    """Return the first flows, as many as fit into one figure."""
    return dict(list(flows.items())[:MOST_FLOWS])


def curves(seen: OverTime, names: Mapping[str, str], columns: Columns) -> Iterator[Chart]:
    """Yield the charts, and add their columns to `columns`. `names` are those of variants."""
    yield from _in_flight(seen, names, columns)
    yield from _tcp(seen, columns)
    yield from _samples(seen, columns)
    yield from _routes(seen, columns)


def _in_flight(seen: OverTime, names: Mapping[str, str], columns: Columns) -> Iterator[Chart]:
    """Yield the chart of segments in flight: the moving average over a sixtieth of the time; with one seed also the
    counts, with several the interval of the mean."""
    lines = []
    for at, (variant, flights) in enumerate(seen.flights.items()):
        air_s = min(flight.air_s for flight in flights)
        at_s = np.linspace(0, air_s, POINTS)
        averages = np.array([flight.average(at_s, air_s / 60) for flight in flights])
        name, key = names.get(variant, variant), f"flight{at}"
        line: Chart = {"name": name, "x": f"{key}_t", "y": key, "of": at}
        if len(flights) == 1:
            [raw] = flights
            lines.append(_line(f"{name}, each", f"raw{at}", at, raw.time_s, raw.count, columns) | {"faint": True})
        else:
            half = np.array([statistics.mean(each).half_width for each in averages.T])
            mean = averages.mean(axis=0)
            line["band"] = [f"{key}_low", f"{key}_high"]
            columns[f"{key}_low"], columns[f"{key}_high"] = _floats((mean - half).clip(min=0), mean + half)
        columns[f"{key}_t"], columns[key] = _floats(at_s, averages.mean(axis=0))
        lines.append(line)
    if lines:
        yield {"kind": "time", "title": "Segments in flight, DATA and ACK", "unit": "segments", "lines": lines}


def _tcp(seen: OverTime, columns: Columns) -> Iterator[Chart]:
    """Yield the charts of TCP senders: the window with losses marked above it, their other state, and their phases."""
    flows = some(seen.flows)
    for side, said in SIDES.items() if flows else ():
        lines, marks = [], []
        for at, (name, flow) in enumerate(flows.items()):
            lines.append(_line(name, f"{side}{at}", at, flow.time_ns / 1e9, _side(flow, side), columns))
            times = (flow.fast_retransmits_ns, flow.rtos_ns) if side == "cwnd" else ()
            for (what, sign, _), times_ns in zip(LOSSES, times, strict=False):
                if times_ns.size:
                    key = f"{what}{at}"
                    [columns[key]] = _floats(times_ns / 1e9)
                    marks.append({"what": what, "sign": sign, "x": key, "of": at})
        title, _, unit = said.partition(", ")
        yield {"kind": "time", "title": f"TCP: {title}", "unit": unit, "lines": lines, "marks": marks}
    states = [name for name, _ in PHASES.values()]
    spans = {name: [flow.spans(phase) for phase in PHASES] for name, flow in flows.items()}
    if spans:
        yield _spans("TCP: phases", "phase", states, spans, columns)


def _side(flow: TcpFlow, side: str) -> Array:
    if side == "srtt":
        return np.where(flow.srtt_us > 0, flow.srtt_us / 1000, np.nan)
    if side == "ssthresh":
        return np.where(flow.ssthresh == NO_SSTHRESH, np.nan, flow.ssthresh)
    values: Array = getattr(flow, side)
    return values


def _samples(seen: OverTime, columns: Columns) -> Iterator[Chart]:
    """Yield the charts of samples, one for each quantity that a flow has and that is not drawn above."""
    flows = some(seen.samples)
    for quantity, label in OVER_TIME:
        lines = []
        for at, (name, of) in enumerate(flows.items()):
            if not np.isnan(of[quantity]).all() and not (seen.flows and quantity in EXACT):
                key = f"{quantity}{at}"
                columns[f"{key}_t"], columns[key] = _floats(of["time_s"], of[quantity])
                lines.append({"name": name, "x": f"{key}_t", "y": key, "of": at})
        if lines:
            title, _, unit = label.partition(", ")
            yield {"kind": "time", "title": f"Flows: {title}", "unit": unit or "segments", "lines": lines}


def _routes(seen: OverTime, columns: Columns) -> Iterator[Chart]:
    """Yield the charts of routes: the length that sources knew, with a dot for each segment at the number of hops it
    took; the times without a route; and the rate of control packets."""
    flows = some(seen.routes)
    if not flows:
        return
    lines = []
    for at, (name, (known, took)) in enumerate(flows.items()):
        hops = np.where(known.hops > 0, known.hops, np.nan)
        lines.append(_line(name, f"hops{at}", at, known.time_ns / 1e9, hops, columns))
        if took is not None and took.hops.size:
            key = f"took{at}"
            columns[f"{key}_t"], columns[key] = _floats(took.time_ns / 1e9, took.hops + LIFTED * (at + 1))
            lines.append({"name": f"{name}, segments", "x": f"{key}_t", "y": key, "of": at, "dots": True})
    yield {"kind": "time", "title": "Routes: length", "unit": "hops", "lines": lines}
    spans = {name: [known.without() / 1e9] for name, (known, _) in flows.items()}
    yield _spans("Routes: without one", "without", ["without a route"], spans, columns)
    edges = np.linspace(0, seen.air_s, A_SECOND + 1)
    rates = []
    for at, (name, times_s) in enumerate(some(seen.control_s).items()):
        a_second = np.histogram(times_s, edges)[0] / np.diff(edges)
        rates.append(_line(name, f"control{at}", at, edges, a_second, columns))
    if rates:
        yield {"kind": "time", "title": "Routing: control packets", "unit": "1/s", "lines": rates}


def _line(name: str, key: str, of: int, edges: Array, values: Array, columns: Columns) -> Chart:
    """Add a line of steps; each value holds from its edge to the next."""
    steps = np.append(values.astype(float), values[-1:])[: edges.size]
    columns[f"{key}_t"], columns[key] = _floats(*as_shown(edges, steps))
    return {"name": name, "x": f"{key}_t", "y": key, "steps": True, "of": of}


def _spans(title: str, key: str, states: Sequence[str], rows: Mapping[str, Sequence[Array]], columns: Columns) -> Chart:
    """Return a chart with a row per flow. `rows` has for each state the spans in it, as pairs of start and end (s)."""
    made: list[Chart] = []
    for at, (name, of) in enumerate(rows.items()):
        state = np.repeat(np.arange(len(of)), [len(spans) for spans in of])
        begin, end = np.concatenate([*of, np.zeros((0, 2))]).T
        order = np.argsort(begin, kind="stable")
        names = [f"{key}{at}_{what}" for what in ("begin", "end", "state")]
        columns[names[0]], columns[names[1]] = _floats(begin[order], end[order])
        columns[names[2]] = state[order].astype("u1")
        made.append({"name": name, "begin": names[0], "end": names[1], "state": names[2], "of": at})
    return {"kind": "spans", "title": title, "states": list(states), "rows": made}


def _floats(*columns: Array) -> list[Array]:
    return [column.astype("<f4") for column in columns]
