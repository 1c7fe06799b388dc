# SPDX-License-Identifier: BSD-3-Clause
"""Figures of a study, as PNG: segments in flight over time, goodput, collisions by kind.

Strategies have the same colour in every figure. What a publication has is shown hollow beside what was measured;
bars of several seeds carry their 95 % confidence interval.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import statistics
from analysis.flight import Flight
from analysis.table import Published, by_strategy, value
from emulation.result import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0b6e99", "#d9822b", "#4b8b3b", "#8b4b8b", "#777777")
KINDS = {"rtscts": ("RTS/CTS", "#0b6e99"), "data": ("TCP DATA", "#d9822b"), "ack": ("TCP ACK", "#4b8b3b")}
Names = Mapping[str, str]


def in_flight(path: Path, flights: Mapping[str, Flight], names: Names | None = None, samples: int = 101) -> None:
    """Segments in flight over time, one line a strategy: the running average over `samples` events (seed 000,
    figure 1), above the raw counts. Raises OSError."""
    figure, axes = _figure((8, 4.2))
    for colour, (rts, flight) in zip(COLOURS, flights.items(), strict=False):
        series = flight.total
        axes.step(series.time_s, series.count, where="post", color=colour, alpha=0.15, linewidth=0.4, rasterized=True)
        label = f"{(names or {}).get(rts, rts)}: mean {series.mean:.1f}"
        axes.plot(series.time_s, series.running_average(samples), color=colour, linewidth=1.3, label=label)
    axes.set(xlabel="time, s", ylabel="TCP segments in flight, DATA and ACK")
    axes.set_title(f"Segments in flight ({samples}-sample running average)", loc="left")
    axes.set_xlim(0, max((f.total.air_s for f in flights.values()), default=1))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=len(flights))
    _save(figure, path)


def goodput(path: Path, runs: Sequence[Run], published: Published | None = None, names: Names | None = None) -> None:
    """Goodput in segments, one bar a strategy, and a publication's hollow beside it. Raises OSError."""
    groups = by_strategy(runs)
    figure, axes = _figure((6, 4.2))
    for at, (colour, (rts, group)) in enumerate(zip(COLOURS, groups.items(), strict=False)):
        measured = statistics.mean([value(run, "goodput_segments") for run in group])
        error = None if len(group) < 2 else measured.half_width
        bars = axes.bar(at - 0.2, measured.mean, 0.38, color=colour, yerr=error, capsize=4)
        axes.bar_label(bars, fmt="{:,.0f}", label_type="center", color="white")
        theirs = (published or {}).get(rts, {}).get("goodput_segments")
        if theirs is not None:
            bars = axes.bar(at + 0.2, theirs, 0.38, fill=False, edgecolor=colour, hatch="//", linewidth=1.2)
            axes.bar_label(bars, fmt="{:,.0f}", padding=2)
    _strategies(axes, groups, names)
    axes.set_ylabel("goodput, segments")
    axes.set_title("Goodput" + ("; hatched: published" if published else ""), loc="left")
    _save(figure, path)


def collisions(path: Path, runs: Sequence[Run], names: Names | None = None, anywhere: bool = False) -> None:
    """Collisions by kind of frame, stacked, one bar a strategy: mean over seeds. `anywhere`: COL_ANY, at every station
    within range; else at the addressed receiver. Raises OSError."""
    groups = by_strategy(runs)
    figure, axes = _figure((6, 4.2))
    bottom = [0.0] * len(groups)
    for kind, (label, colour) in KINDS.items():
        path_of = f"col.any.{kind}" if anywhere else f"col.{kind}"
        height = [statistics.mean([value(run, path_of) for run in group]).mean for group in groups.values()]
        axes.bar(range(len(groups)), height, 0.55, bottom=bottom, color=colour, label=label)
        bottom = [low + more for low, more in zip(bottom, height, strict=True)]
    for at, total in enumerate(bottom):
        axes.annotate(f"{total:,.0f}", (at, total), (0, 3), textcoords="offset points", ha="center")
    _strategies(axes, groups, names)
    axes.set_ylabel("frames")
    where = "at any station within range" if anywhere else "at the addressed receiver"
    axes.set_title(f"Frames lost to collisions {where}", loc="left")
    axes.margins(y=0.1)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _save(figure, path)


def _figure(size: tuple[float, float]) -> "tuple[Figure, Axes]":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    return figure, axes


def _strategies(axes: "Axes", groups: Mapping[str, Any], names: Names | None) -> None:
    axes.set_xticks(range(len(groups)), [(names or {}).get(rts, rts) for rts in groups])


def _save(figure: "Figure", path: Path) -> None:
    """Without date and version, so that one result gives one file."""
    figure.savefig(path, metadata={"Software": None})
