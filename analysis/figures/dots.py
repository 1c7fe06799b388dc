# SPDX-License-Identifier: BSD-3-Clause
"""Ratios beside the published ones, a row each: a grey bar for the paper's range, and a dot with its interval for each
measurement. An arrow at the edge marks a mean beyond it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from analysis.figures.figures import COLOURS, figure_of, save

ROW, AROUND, WIDTH = 0.21, 1.3, 9.0  # inches: height of a row; of the space above and below; width of the figure
APART = 0.32  # distance between dots, in rows
EDGE = 1.15  # factor beyond the last point
NEAR, FAR = 1.1, 3.0  # least range of the axis; greatest, unless published values exceed it
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100)
BETWEEN = 0.055  # least distance between ticks, of the width


class Row(NamedTuple):
    """A row. `published`: the paper's range. `ours`: by name, a mean and the ends of its interval."""

    label: str
    published: tuple[float, float]
    ours: Mapping[str, tuple[float, float, float]]


def dots(path: Path, rows: Sequence[Row], title: str, note: str = "") -> None:
    """Draw the rows over a logarithmic axis, the first at the top. Raises OSError if the file cannot be written."""
    figure, axes = figure_of((WIDTH, AROUND + ROW * len(rows)), note)
    places = np.arange(len(rows))[::-1]
    for at, row in zip(places, rows, strict=True):
        low, high = row.published
        axes.plot((low, high), (at, at), color="#bbbbbb", linewidth=6, solid_capstyle="butt", zorder=1)
        axes.plot([math.sqrt(low * high)], [at], "D", color="#777777", markersize=3.5, zorder=2)
    who, (least, most) = list(dict.fromkeys(name for row in rows for name in row.ours)), _limits(rows)
    for number, name in enumerate(who):
        there = [(at, row.ours[name]) for at, row in zip(places, rows, strict=True) if name in row.ours]
        y = np.array([at + APART * ((len(who) - 1) / 2 - number) for at, _ in there])
        mean, low, high = np.array([of for _, of in there]).T
        inside, colour = (least <= mean) & (mean <= most), COLOURS[number]
        ends = (mean - low)[inside], (high - mean)[inside]
        axes.errorbar(mean[inside], y[inside], xerr=ends, fmt="o", color=colour, markersize=3.5, elinewidth=1,
                      capsize=2, label=name, zorder=3)  # fmt: skip
        for beyond, edge, marker in ((mean < least, least, "<"), (mean > most, most, ">")):
            if beyond.any():
                axes.plot(np.full(beyond.sum(), edge), y[beyond], marker, color=colour, markersize=4, clip_on=False)
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    axes.axvline(1, color="#999999", linewidth=0.6, zorder=0)
    shown = _apart([tick for tick in TICKS if least < tick < most], math.log(most / least))
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axes.set_xticks([], minor=True)
    axes.set_yticks(places, [row.label for row in rows], fontsize=7)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("ratio; grey: the paper's")
    axes.set_title(title, loc="left")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(who))
    save(figure, path)


def _limits(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the limits of the axis: they include published values, and means up to FAR, but not whole intervals."""
    published = [abs(math.log(end)) for row in rows for end in row.published]
    means = [abs(math.log(mean)) for row in rows for mean, _, _ in row.ours.values()]
    most = EDGE * max(*published, min(max(means), math.log(FAR)), math.log(NEAR))
    return math.exp(-most), math.exp(most)


def _apart(ticks: Sequence[float], width: float) -> list[float]:
    """Return the ticks that have room, those nearest to 1 first."""
    found = [1.0]
    for tick in sorted(ticks, key=lambda tick: abs(math.log(tick))):
        if all(abs(math.log(tick / other)) > BETWEEN * width for other in found):
            found.append(tick)
    return sorted(found)
