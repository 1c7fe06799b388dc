# SPDX-License-Identifier: BSD-3-Clause
"""Figures: segments in flight, goodput, collisions by kind, any quantity over cases, TCP over time, routes.

A variant has the same colour in every figure. Values that a paper publishes are hollow, beside the measured ones. With
several seeds, a figure shows the mean and its 95 % confidence interval, as a bar or band. `note` stands below the
figure and names its conditions. The suffix of the path selects the format: .png, .svg or .pdf. The functions take
numbers (`analysis.tables.table.values`) and curves rather than runs, so a process that draws loads nothing else.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures import png
from analysis.figures.places import to_scale
from analysis.tables import statistics
from analysis.tcp.in_flight import Series as Counts
from analysis.tcp.senders import NO_SSTHRESH, Phase
from analysis.tcp.senders import Flow as TcpFlow
from analysis.traces.columns import begins, ends
from analysis.traces.trace import Array
from emulation import files

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from analysis.results.flow_series import Series
    from analysis.routes.paths import Paths
    from analysis.routes.routes import Routes

COLOURS = ("#0b6e99", "#d9822b", "#4b8b3b", "#8b4b8b", "#777777")
KINDS = {
    "rtscts": ("RTS/CTS", "#0b6e99"), "data": ("TCP DATA", "#d9822b"), "ack": ("TCP ACK", "#4b8b3b"),
    "udp": ("UDP", "#c9a227"), "other": ("other data", "#777777"), "encrypted": ("encrypted", "#7d7340"),
}  # fmt: skip
PHASES = {
    Phase.SLOW_START: ("slow start", "#9ecae1"), Phase.CONGESTION_AVOIDANCE: ("congestion avoidance", "#dddddd"),
    Phase.RECOVERY: ("fast recovery", "#f2c14e"), Phase.RTO: ("waiting for the RTO", "#c0392b"),
}  # fmt: skip
LOSSES = (("fast retransmit", "|", 5), ("retransmission timeout", "v", 6))  # marker, marker size
OVER_TIME = (
    ("goodput_kbps", "goodput, kb/s"), ("srtt_ms", "SRTT, ms"), ("cwnd", "cwnd, segments"),
    ("retransmits", "retransmitted"), ("delay_ms", "delay, ms"), ("jitter_ms", "jitter, ms"),
)  # fmt: skip
LINE: dict[str, Any] = {"linewidth": 1}
POINTS = 481  # points of a line over time
COLUMNS = 1200  # pixel columns: about the width of a figure
ROW = 0.13  # inches: height of a row of marks above a panel
ASIDE = 0.05  # inches: distance between intervals
LETTERS = 9  # letters per inch of the figure's width below an axis; longer names are slanted
BAR = 0.38  # width of one of two adjacent bars; variants are 1 apart
Names = Mapping[str, str]
Values = Mapping[str, Sequence[float]]  # of a quantity, by variant: one value per seed


def in_flight(path: Path, flights: Mapping[str, Sequence[Counts]], names: Names | None = None, note: str = "") -> None:
    """Draw the segments in flight over time, one line per variant; `flights` has one flight per seed. Each line is a
    moving average over a sixtieth of the time (paper 000's figure 1 averages over 101 events). With a single seed the
    raw counts are drawn too, faintly. Raises OSError if the file cannot be written."""
    figure, axes = figure_of((8, 4.2), note)
    air_s, most = max((flight.air_s for of in flights.values() for flight in of), default=1.0), 1.0
    for colour, (variant, of) in zip(_colours(len(flights)), flights.items(), strict=True):
        at_s = np.linspace(0, min(flight.air_s for flight in of), POINTS)
        if len(of) == 1:
            [raw] = of
            most = max(most, raw.count.max(initial=0))
            _stairs(axes, raw.time_s, raw.count, color=colour, alpha=0.15, linewidth=0.4, rasterized=True)
        means = [statistics.mean(each) for each in zip(*(one.average(at_s, air_s / 60) for one in of), strict=True)]
        middle, half = (np.array([getattr(mean, what) for mean in means]) for what in ("mean", "half_width"))
        label = f"{(names or {}).get(variant, variant)}: mean {statistics.mean([one.mean for one in of]).mean:.1f}"
        axes.plot(at_s, middle, color=colour, linewidth=1.3, label=label)
        most = max(most, 1.5 * middle.max())  # with few seeds, an interval may be many times the mean
        if len(of) > 1:
            axes.fill_between(at_s, (middle - half).clip(min=0), middle + half, color=colour, alpha=0.2, linewidth=0)
    axes.set(xlabel="time, s", ylabel="TCP segments in flight, DATA and ACK")
    axes.set_title(f"Segments in flight (average over {air_s / 60:.3g} s)", loc="left")
    axes.set_xlim(0, air_s)
    axes.set_ylim(0, 1.05 * most)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(flights))
    save(figure, path)


def goodput(
    path: Path, values: Values, published: Mapping[str, float] | None = None, names: Names | None = None, note: str = ""
) -> None:
    """Draw goodput in segments, one bar per variant, with the published value hollow beside it. Raises OSError if the
    file cannot be written."""
    figure, axes = figure_of((6, 4.2), note)
    for at, (colour, (variant, found)) in enumerate(zip(_colours(len(values)), values.items(), strict=True)):
        measured = statistics.mean(found)
        bars = axes.bar(at - 0.2, measured.mean, BAR, color=colour, yerr=_error(measured), capsize=4)
        axes.bar_label(bars, fmt="{:,.0f}", label_type="center", color="white")
        theirs = (published or {}).get(variant)
        if theirs is not None:
            bars = axes.bar(at + 0.2, theirs, BAR, fill=False, edgecolor=colour, hatch="//", linewidth=1.2)
            axes.bar_label(bars, fmt="{:,.0f}", padding=2)
    _name(axes, [(names or {}).get(variant, variant) for variant in values])
    axes.set_ylabel("goodput, segments")
    axes.set_title("Goodput" + ("; hatched: published" if published else ""), loc="left")
    save(figure, path)


def collisions(
    path: Path, values: Mapping[str, Values], names: Names | None = None, anywhere: bool = False, note: str = ""
) -> None:
    """Draw the collisions by kind of frame, stacked, one bar per variant: means over seeds, and the interval of the
    total. The keys of `values` are keys of KINDS, and "total". With `anywhere`, the values are COL_ANY, at every
    station within range; otherwise they are at the addressed receiver. Raises OSError if the file cannot be written."""
    figure, axes = figure_of((6, 4.2), note)
    totals = [statistics.mean(found) for found in values["total"].values()]
    bottom = [0.0] * len(totals)
    for kind, (label, colour) in KINDS.items():
        height = [statistics.mean(found).mean for found in values.get(kind, {}).values()]
        if not any(height):
            continue
        axes.bar(range(len(height)), height, 0.55, bottom=bottom, color=colour, label=label)
        bottom = [low + more for low, more in zip(bottom, height, strict=True)]
    for at, total in enumerate(totals):
        axes.errorbar(at, total.mean, _error(total), color="black", capsize=4, linewidth=1)
        top = total.mean + (_error(total) or 0)
        axes.annotate(f"{total.mean:,.0f}", (at, top), (0, 3), textcoords="offset points", ha="center")
    _name(axes, [(names or {}).get(variant, variant) for variant in values["total"]])
    axes.set_ylabel("frames")
    where = "at any station within range" if anywhere else "at the addressed receiver"
    axes.set_title(f"RTS, CTS and data lost to collisions {where}", loc="left")
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
    if any(bottom):
        axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def over_cases(
    path: Path, values: Mapping[str, Values], label: str, rows: str, names: Names,
    published: Mapping[str, Mapping[str, float]] | None = None, note: str = "",
) -> None:  # fmt: skip
    """Draw a quantity over a study's cases, one colour per variant, published values hollow. If there are more variants
    than colours, the variants are on the x axis and each case has a colour. Cases that differ in a number are on an
    axis to scale, joined by lines; others have a place each, with a dot per colour. `values` and `published` are by
    case; `rows` says what the cases are. Raises OSError if the file cannot be written."""
    variants = list(dict.fromkeys(variant for of_case in values.values() for variant in of_case))
    by_colour = {v: {case: found[v] for case, found in values.items() if v in found} for v in variants}
    places, across, legend = list(values), rows, ""
    if len(variants) > len(COLOURS):
        by_colour, places, across, legend = {case: dict(of) for case, of in values.items()}, variants, "", rows
    figure, axes = figure_of((8, 4.8), note)
    x, joined = _places(axes, [names.get(place, place) for place in places], across)
    dot, hollow, most = *((3, 4) if joined else (5, 7)), 0.0
    for row, (colour, (name, points)) in enumerate(zip(_colours(len(by_colour)), by_colour.items(), strict=True)):
        aside, bars = _beside(axes, row, len(by_colour), joined)
        at = sorted((x[place], places[place]) for place in range(len(places)) if places[place] in points)
        where, means = [place + aside for place, _ in at], [statistics.mean(points[place]) for _, place in at]
        middle, half = ([getattr(mean, what) for mean in means] for what in ("mean", "half_width"))
        axes.plot(where, middle, "-o" if joined else "o", color=colour, markersize=dot, linewidth=1.2,
                  label=names.get(name, name))  # fmt: skip
        axes.errorbar(where, middle, half, fmt="none", ecolor=colour, elinewidth=1.2, capsize=2, **bars)
        theirs = [(published or {}).get(place, {}).get(name, float("nan")) for _, place in at]
        axes.plot(where, theirs, ":o" if joined else "o", color=colour, markersize=hollow, markerfacecolor="none",
                  linewidth=0.8)  # fmt: skip
        most = np.nanmax([most, *middle, *np.add(middle, half), *theirs])
    axes.set_ylabel(label)
    axes.set_ylim(0, 1.05 * most or 1)
    legend = legend or ("hollow: published" if published else "")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), title=legend)
    save(figure, path)


def _places(axes: "Axes", names: Sequence[str], called: str) -> tuple[Sequence[float], bool]:
    """Place these names on the x axis. Return their positions, and whether lines may join them."""
    numbers, what = to_scale(names, called) or (None, called)
    axes.set_xlabel(what)
    if numbers:
        axes.locator_params(axis="x", integer=all(number.is_integer() for number in numbers))
        axes.grid(axis="x", linewidth=0.4, alpha=0.5)
        return numbers, True
    _name(axes, names)
    for between in range(len(names) - 1):
        axes.axvline(between + 0.5, color="grey", linewidth=0.4, alpha=0.5)
    return range(len(names)), False


def _beside(axes: "Axes", row: int, rows: int, joined: bool) -> tuple[float, dict[str, Any]]:
    """Return the offset of a row's dots from their place, and how to draw its intervals, so that several rows stand
    side by side. A joined line keeps its place, so that its values can be read off; only its intervals are shifted."""
    from matplotlib.transforms import ScaledTranslation

    middle = row - (rows - 1) / 2
    if not joined:
        return middle * min(0.2, 0.8 / rows), {}
    shift = ScaledTranslation(middle * min(ASIDE, 4 * ASIDE / rows), 0, axes.figure.dpi_scale_trans)
    return 0.0, {"transform": axes.transData + shift}


def tcp_flows(path: Path, flows: Mapping[str, TcpFlow], note: str = "") -> None:
    """Draw the senders of some flows over time: window and threshold, smoothed RTT, segments in flight, phases. Raises
    OSError if the file cannot be written."""
    figure, panels = _panels((10, 6.4 + 0.25 * len(flows)), [3, 1.6, 1.6, 0.25 + 0.25 * len(flows)], note)
    window, rtt, flight, band = panels
    for row, (colour, (name, flow)) in enumerate(zip(_colours(len(flows)), flows.items(), strict=True)):
        time_s = flow.time_ns / 1e9
        _draw_window(window, flow, name, colour)
        _mark_losses(window, flow, row, colour)
        _stairs(rtt, time_s, np.where(flow.srtt_us > 0, flow.srtt_us / 1000, np.nan), color=colour, **LINE)
        _stairs(flight, time_s, flow.in_flight, color=colour, **LINE)
        for phase, (_, shade) in PHASES.items():
            spans = [(begin, end - begin) for begin, end in flow.spans(phase)]
            band.broken_barh(spans, (-row - 0.4, 0.8), color=shade, linewidth=0)
    window.set_ylabel("cwnd, segments")
    rtt.set_ylabel("SRTT, ms")
    flight.set_ylabel("in flight")
    band.set(xlabel="time, s", yticks=[-row for row in range(len(flows))], yticklabels=list(flows))
    band.set_xlim(0, max((flow.time_ns[-1] / 1e9 for flow in flows.values()), default=1))
    band.grid(False)
    for axes in (window, rtt, flight):
        axes.set_ylim(bottom=0)
    _explain(window, band)
    save(figure, path)


def flows(path: Path, series: "Mapping[str, Series]", note: str = "") -> None:
    """Draw samples of flows of any kind over time, one panel for each quantity that at least one flow has. Raises
    OSError if the file cannot be written."""
    shown = [(name, label) for name, label in OVER_TIME if any(~np.isnan(one[name]).all() for one in series.values())]
    figure, panels = _panels((10, 1.4 + 1.7 * len(shown)), [1.0] * len(shown), note)
    for axes, (name, label) in zip(panels, shown, strict=True):
        for colour, (flow, of) in zip(_colours(len(series)), series.items(), strict=True):
            axes.plot(of["time_s"], of[name], color=colour, **LINE, label=flow)
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
    panels[-1].set_xlabel("time, s")
    panels[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def _draw_window(axes: "Axes", flow: TcpFlow, name: str, colour: Any) -> None:
    """Draw a flow's congestion window, and its slow-start threshold dashed, where it has one."""
    time_s = flow.time_ns / 1e9
    threshold = np.where(flow.ssthresh == NO_SSTHRESH, np.nan, flow.ssthresh)
    _stairs(axes, time_s, flow.cwnd, color=colour, **LINE, label=name)
    _stairs(axes, time_s, threshold, color=colour, **LINE | {"linewidth": 0.7}, linestyle="--", alpha=0.7)


def _stairs(axes: "Axes", edges: Array, values: Array, **how: Any) -> None:
    """Draw values that hold from each edge to the next, as a line. matplotlib's own `stairs` makes a patch and computes
    its bounds corner by corner as for a curve, which takes longer than the rest of the figure."""
    axes.plot(*as_shown(edges, np.append(values, values[-1:])[: edges.size]), drawstyle="steps-post", **how)


def as_shown(time_s: Array, values: Array) -> tuple[Array, Array]:
    """Reduce steps to what a figure can show: the first, least, greatest and last of each pixel column (M4: Jugel et
    al., VLDB 2014). Drawing thousands of points that nobody can tell apart takes longer than the rest of the figure."""
    if time_s.size <= 4 * COLUMNS:
        return time_s, values
    column = (COLUMNS * (time_s - time_s[0]) / (np.ptp(time_s) or 1)).astype(np.int64)
    first, last = np.flatnonzero(begins(column)), np.flatnonzero(ends(column))
    low, high = (of.reduceat(values, first) for of in (np.fmin, np.fmax))
    at = np.stack([time_s[first], time_s[last], time_s[last], time_s[last]], axis=1)
    return at.ravel(), np.stack([values[first], low, high, values[last]], axis=1).ravel()


def _mark_losses(axes: "Axes", flow: TcpFlow, row: int, colour: Any) -> None:
    """Draw a flow's fast retransmits and retransmission timeouts, in a row of its own above the panel."""
    from matplotlib.transforms import ScaledTranslation

    above = ScaledTranslation(0, (0.5 + row) * ROW, axes.figure.dpi_scale_trans)
    for times, (_, marker, size) in zip((flow.fast_retransmits_ns, flow.rtos_ns), LOSSES, strict=True):
        if times.size:  # an empty plot would upset the layout
            axes.plot(times / 1e9, [1] * times.size, marker, color=colour, markersize=size, clip_on=False,
                      transform=axes.get_xaxis_transform() + above)  # fmt: skip


def _explain(window: "Axes", band: "Axes") -> None:
    """Add the legends of tcp_flows; what each flow has in its own colour is grey here."""
    window.plot([], [], "--", color="grey", linewidth=0.7, label="ssthresh")
    for name, marker, size in LOSSES:
        window.plot([], [], marker, color="grey", markersize=size, label=name)
    window.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    shades = [band.bar(0, 0, color=shade, label=name) for name, shade in PHASES.values()]
    band.legend(handles=shades, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def routes(
    path: Path, flows: "Mapping[str, tuple[Routes, Paths | None]]", control_s: Mapping[str, Array], air_s: float,
    note: str = "",
) -> None:  # fmt: skip
    """Draw the routes of some flows over time: the length that the source knew, a dot for each segment at the number of
    hops it took, and the times without a route. Also draw the rate of control packets, one line per name; `control_s`
    has the times at which they were sent (s). Raises OSError if the file cannot be written."""
    heights = [3, 0.25 + 0.2 * len(flows), 2]
    figure, (length, band, rate) = _panels((10, 5.5 + 0.2 * len(flows)), heights, note)
    for row, (colour, (name, (known, took))) in enumerate(zip(_colours(len(flows)), flows.items(), strict=True)):
        hops = np.where(known.hops > 0, known.hops, np.nan)
        _stairs(length, known.time_ns / 1e9, hops, color=colour, **LINE, label=name)
        if took is not None and took.hops.size:
            lifted = took.hops + 0.08 * (row + 1)
            length.plot(took.time_ns / 1e9, lifted, ".", color=colour, markersize=1, rasterized=True)
        spans = [(begin / 1e9, (end - begin) / 1e9) for begin, end in known.without().tolist()]
        band.broken_barh(spans, (-row - 0.4, 0.8), color=colour, linewidth=0)
    edges = np.linspace(0, air_s, POINTS // 4)
    for colour, (name, times_s) in zip(_colours(len(control_s)), control_s.items(), strict=True):
        a_second = np.histogram(times_s, edges)[0] / np.diff(edges)
        _stairs(rate, edges, a_second, color=colour, **LINE, label=name)
    length.set_ylabel("hops (dots: of a segment)")
    length.margins(y=0.1)
    length.locator_params(axis="y", integer=True)
    band.set(yticks=[-row for row in range(len(flows))], yticklabels=list(flows))
    band.set_title("without a route", loc="left", fontsize="medium")
    band.grid(False)
    rate.set(xlabel="time, s", ylabel="control packets, 1/s")
    rate.set_xlim(0, air_s)
    for axes, shown in ((length, flows), (rate, control_s)):
        axes.set_ylim(bottom=0)
        if shown:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def _colours(count: int) -> list[Any]:
    """Return the colours of all figures, or a range of shades if there are more variants than colours."""
    import matplotlib

    if count <= len(COLOURS):
        return list(COLOURS[:count])
    return list(matplotlib.colormaps["viridis"](range(0, 256, 256 // count)))[:count]


def _error(mean: statistics.Estimate) -> float | None:
    """Return the half-width of an interval, None without one."""
    return None if mean.samples < 2 else mean.half_width


def figure_of(size: tuple[float, float], note: str) -> "tuple[Figure, Axes]":
    figure, (axes,) = _panels(size, [1], note)
    return figure, axes


def _panels(size: tuple[float, float], heights: Sequence[float], note: str) -> "tuple[Figure, list[Axes]]":
    """Return a figure of stacked panels that share the x axis, above the note."""
    from analysis.figures.panels import panels

    return panels(size, heights, note)


def _name(axes: "Axes", names: Sequence[str]) -> None:
    """Label 0, 1, 2, … on the x axis; slant the names if there is no room for them."""
    slanted: dict[str, Any] = {"rotation": -30, "ha": "left", "rotation_mode": "anchor"}
    crowded = sum(map(len, names)) > LETTERS * axes.figure.bbox.width / axes.figure.dpi
    axes.set_xticks(range(len(names)), names, **slanted if crowded else {})


def save(figure: "Figure", path: Path) -> None:
    """Write the file without date and version, so that the same result gives the same bytes."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if path.suffix == ".png":  # `savefig` would draw it a second time, to find what it can crop
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        files.write(path, png.of(np.asarray(canvas.buffer_rgba())[..., :3], figure.dpi))
        return
    silent = {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}
    text_stays_text: Any = {"svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context({"svg.hashsalt": path.name, **text_stays_text}):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=path.suffix[1:], metadata=dict.fromkeys(silent[path.suffix[1:]]))
    files.write(path, drawn.getvalue())
