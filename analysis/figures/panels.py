# SPDX-License-Identifier: BSD-3-Clause
"""The layout of a figure: panels above each other, as large as the text around them leaves room for.

This layout measures the text once. matplotlib's "constrained" layout measures twice, includes what is drawn inside the
panels, and lets each drawing place the axis labels again. For figures like these, that is more than half of the work.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import LayoutEngine
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

DPI = 150
PAD, BETWEEN = 0.05, 0.12  # inches: around everything, and between panels
FIRST = {"left": 0.08, "right": 0.98, "bottom": 0.1, "top": 0.96, "hspace": 0.15}  # a first guess, used while measuring
NOTE_POINTS, COLUMNS = 6.5, 18  # the note's font size, and letters per inch
INCH_POINTS = 72
LEADING = 1.2  # line height, as a multiple of the font size
matplotlib.rcParams["text.parse_math"] = False  # a dollar sign in a name is a dollar sign


def panels(size: tuple[float, float], heights: Sequence[float], note: str) -> tuple[Figure, list[Axes]]:
    """Return a figure whose panels share the x axis, above the note. `heights` are relative, sizes in inches."""
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
    """Layout of panels with these relative heights, above a note of `lines` lines."""

    _adjust_compatible = _colorbar_gridspec = False

    def __init__(self, heights: Sequence[float], lines: int) -> None:
        super().__init__()
        self.heights, self.note = heights, lines * LEADING * NOTE_POINTS / INCH_POINTS + PAD * bool(lines)

    def execute(self, fig: Figure) -> None:
        """Measure what is around the panels, then place the panels and their axis labels."""
        dpi, (width, height) = fig.dpi, fig.get_size_inches()
        was = [axes.bbox.frozen() for axes in fig.axes]
        boxes = [written(axes, axes is fig.axes[-1]) for axes in fig.axes]
        around_in = [
            ((inner.x0 - box.x0) / dpi, (inner.y0 - box.y0) / dpi, (box.x1 - inner.x1) / dpi, (box.y1 - inner.y1) / dpi)
            for inner, box in zip(was, boxes, strict=True)
        ]  # fmt: skip
        left, below, right, above = zip(*around_in, strict=True)
        names = [(place(axes.yaxis.label)[0], place(axes.xaxis.label)[1]) for axes in fig.axes]
        for axes in fig.axes:
            axes.yaxis.set_major_locator(FixedLocator(list(axes.yaxis.get_majorticklocs())))  # keep the measured ones
        x, wide = PAD + max(left), width - 2 * PAD - max(left) - max(right)
        high = height - self.note - 2 * PAD - sum(below) - sum(above) - BETWEEN * (len(was) - 1)
        top = height - PAD
        placed = zip(fig.axes, was, names, self.heights, below, above, strict=True)
        for axes, inner, (beside_px, below_px), share, under, over in placed:
            tall = max(high * share / sum(self.heights), PAD)
            top -= over + tall
            axes.set_position((x / width, top / height, max(wide, PAD) / width, tall / height))
            top -= under + BETWEEN
            axes.xaxis.set_label_coords(0.5, (below_px - inner.y0) / dpi / tall)
            axes.yaxis.set_label_coords((beside_px - inner.x0) / dpi / max(wide, PAD), 0.5)


def place(text: Text) -> Any:
    """Return the text's position in pixels, across and up."""
    return text.get_transform().transform(text.get_position())


def written(axes: Axes, last: bool) -> Bbox:
    """Return the box of a panel with the text around it. A legend on its right may reach down beside the next panel."""
    more = [*axes.texts, *(line for line in axes.lines if not line.get_clip_on())]  # other than axes and title
    box, inner = axes.get_tightbbox(bbox_extra_artists=more, for_layout_only=True), axes.bbox
    assert box
    if legend := axes.get_legend():
        extent = legend.get_window_extent()
        beside = extent.x0 >= inner.x1 and not last
        box = Bbox.union([box, Bbox.from_extents(inner.x0, inner.y0, extent.x1, inner.y1) if beside else extent])
    return box
