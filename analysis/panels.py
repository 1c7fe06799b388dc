# SPDX-License-Identifier: BSD-3-Clause
"""Where the panels of a figure lie: one above the other, as large as what is written around them leaves.

That is measured once. matplotlib's own layout ("constrained") measures twice, all that is drawn inside the panels, too,
and lets each drawing place the names of axes anew: of figures like ours that is more than half of the work.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.ticker import FixedLocator

DPI = 150
PAD, BETWEEN = 0.05, 0.12  # inches: around all, and from panel to panel
FIRST = {"left": 0.08, "right": 0.98, "bottom": 0.1, "top": 0.96, "hspace": 0.15}  # about so, while it is measured
NOTE_POINTS, COLUMNS = 6.5, 18  # of the note: its size, and how many letters are an inch
INCH_POINTS = 72
LEADING = 1.2  # from line to line, of a letter's size


def panels(size: tuple[float, float], heights: Sequence[float], note: str) -> tuple[Figure, list[Axes]]:
    """A figure of panels of these heights, which share the x axis, above the note. Sizes are in inches."""
    said = fill(note, round(COLUMNS * size[0]))
    figure = Figure(figsize=size, dpi=DPI, layout=Column(heights, said.count("\n") + 1 if said else 0))
    FigureCanvasAgg(figure)
    column: Any = figure.subplots(len(heights), sharex=True, squeeze=False, gridspec_kw=FIRST, height_ratios=heights)
    for axes in column.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", linewidth=0.4, alpha=0.5)
        axes.set_axisbelow(True)
    figure.text(0.01, PAD / size[1], said, va="bottom", fontsize=NOTE_POINTS, color="grey")
    return figure, list(column.flat)


class Column(LayoutEngine):
    """Of panels of these heights, in proportion, above a note of so many lines."""

    _adjust_compatible = _colorbar_gridspec = False

    def __init__(self, heights: Sequence[float], lines: int) -> None:
        super().__init__()
        self.heights, self.note = heights, lines * LEADING * NOTE_POINTS / INCH_POINTS + PAD * bool(lines)

    def execute(self, fig: Figure) -> None:
        """Measure what is around the panels, and place them and the names of their axes."""
        dpi, (width, height) = fig.dpi, fig.get_size_inches()
        was = [axes.bbox.frozen() for axes in fig.axes]
        boxes = [axes.get_tightbbox(bbox_extra_artists=around(axes), for_layout_only=True) for axes in fig.axes]
        around_in = [
            ((inner.x0 - box.x0) / dpi, (inner.y0 - box.y0) / dpi, (box.x1 - inner.x1) / dpi, (box.y1 - inner.y1) / dpi)
            for inner, box in zip(was, boxes, strict=True) if box
        ]  # fmt: skip
        left, below, right, above = zip(*around_in, strict=True)
        for axes in fig.axes:
            axes.yaxis.set_major_locator(FixedLocator(list(axes.yaxis.get_majorticklocs())))  # those that were measured
        x, wide = PAD + max(left), width - 2 * PAD - max(left) - max(right)
        high = height - self.note - 2 * PAD - sum(below) - sum(above) - BETWEEN * (len(was) - 1)
        top = height - PAD
        for axes, inner, share, under, over in zip(fig.axes, was, self.heights, below, above, strict=True):
            tall = max(high * share / sum(self.heights), PAD)
            top -= over + tall
            axes.set_position((x / width, top / height, max(wide, PAD) / width, tall / height))
            top -= under + BETWEEN
            (_, y_px), (x_px, _) = axes.xaxis.label.get_position(), axes.yaxis.label.get_position()
            axes.xaxis.set_label_coords(0.5, (y_px - inner.y0) / dpi / tall)
            axes.yaxis.set_label_coords((x_px - inner.x0) / dpi / max(wide, PAD), 0.5)


def around(axes: Axes) -> list[Any]:
    """What may stand outside a panel, besides its axes and its title."""
    legend = axes.get_legend()
    return [*([legend] if legend else []), *axes.texts, *(line for line in axes.lines if not line.get_clip_on())]
