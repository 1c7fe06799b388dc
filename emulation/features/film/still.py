# SPDX-License-Identifier: BSD-3-Clause
"""A still picture of a film, for print: positions at a moment, ranges, links, and the path of each flow's packets."""

from itertools import pairwise
from pathlib import Path

from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from analysis.figures.figures import COLOURS, figure_of, save
from emulation.features.film import Film
from topologies.network import Position

MANY = 12  # stations: with more, ranges would cover everything
WIDTH, HEIGHT = 8.0, (2.5, 8.0)  # inches; OUTSIDE is the height above and below the stations
OUTSIDE = 1.4
MARGIN = 0.08  # of the area


def still(path: Path, film: Film, at_s: float, ranges: bool | None = None) -> None:
    """Draw it. `ranges`: whether to draw the stations' ranges (None: if they are few). Raises OSError if that fails."""
    positions = film.positions(at_s)
    reach = film.reach_m if (len(positions) <= MANY if ranges is None else ranges) else None
    figure, axes = figure_of((WIDTH, _height(positions, max(reach or [0.0]))), f"{film.title}; at {at_s:g} s")
    for (x, y, _), radius in zip(positions, reach or (), strict=False):
        axes.add_patch(Circle((x, y), radius, fill=False, linewidth=0.5, linestyle=":", color="#999999"))
    links = film.links(at_s)
    for a, b in links:
        thin = {"color": "#dddddd", "linewidth": 0.4} if len(links) > 100 else {"color": "#bbbbbb", "linewidth": 0.8}
        axes.plot([positions[a][0], positions[b][0]], [positions[a][1], positions[b][1]], **thin, zorder=1)  # type: ignore[arg-type]
    legend = []
    for number, flow in enumerate(film.flows):
        colour, route = COLOURS[number % len(COLOURS)], flow.path(at_s)
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 3, "shrinkB": 3}
        for a, b in pairwise(route):
            axes.annotate("", positions[b][:2], positions[a][:2], arrowprops=arrow, zorder=2)
        hops = f"{len(route) - 1} hop{'s' * (len(route) > 2)}" if route else "nothing arrives"
        ends = f"{film.stations[flow.source]} → {film.stations[flow.destination]}"
        legend.append(Line2D([], [], color=colour, linewidth=2, label=f"{flow.name}: {ends}, {hops}"))
    flow_ends = {end for flow in film.flows for end in (flow.source, flow.destination)}
    for number, (x, y, _) in enumerate(positions):
        size, colour = (6.0, "black") if number in flow_ends else (4.0, "#555555")
        style = {"color": colour} if film.is_present(number, at_s) else {"color": "#bbbbbb", "markerfacecolor": "none"}
        axes.plot(x, y, "o", markersize=size, zorder=3, **style)  # type: ignore[arg-type]
        axes.annotate(film.stations[number], (x, y), (4, 4), textcoords="offset points", fontsize=7, zorder=4)
    axes.set(xlabel="m", ylabel="m")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(MARGIN)
    axes.grid(False)
    if legend:
        axes.legend(handles=legend, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=7,
                    ncols=min(3, len(legend)))  # fmt: skip
    save(figure, path)


def _height(positions: list[Position], reach: float) -> float:
    """Return the picture's height in inches, for equal scales in both directions."""
    wide, high = (max(p[axis] for p in positions) - min(p[axis] for p in positions) + 2 * reach for axis in (0, 1))
    least, most = HEIGHT
    return min(max(WIDTH * high / max(wide, 1.0) + OUTSIDE, least), most)
