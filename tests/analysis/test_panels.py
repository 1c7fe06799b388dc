# SPDX-License-Identifier: BSD-3-Clause
"""Panels of figures: text around them lies inside the figure, and overlaps nothing."""

from itertools import pairwise

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures.panels import panels


def drawn(most: float, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Three panels with values up to `most`, a title, and legends beside them, one of them higher than its panel."""
    figure, axes = panels(size, [2, 1, 0.5], "what it was made under " * 20)
    for number, one in enumerate(axes):
        for line in range(9 - 4 * number):
            one.plot([0, 1], [0, most / 10**number], label=f"what flow {line} did")
        one.set_ylabel("what")
        one.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axes[0].set_title("what came of it", loc="left")
    axes[-1].set_xlabel("time, s")
    figure.draw_without_rendering()
    figure.draw_without_rendering()  # as for a file that is no picture
    return figure, axes


@pytest.mark.parametrize("most", [19, *(pytest.param(most, marks=pytest.mark.slow) for most in (3, 12_345_678))])
@pytest.mark.parametrize("size", [(10, 7.0), (6, 5.0)])
def test_all_is_inside_and_apart(most: float, size: tuple[float, float]) -> None:
    figure, axes = drawn(most, size)
    for one in axes:
        box = one.get_tightbbox()
        assert box and box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
        low, high = one.get_ylim()
        shown = [label for at, label in zip(one.get_yticks(), one.get_yticklabels(), strict=True) if low <= at <= high]
        assert one.yaxis.label.get_window_extent().x1 <= min(label.get_window_extent().x0 for label in shown)
    for upper, lower in pairwise(axes):
        over, under = (one.yaxis.get_tightbbox() for one in (upper, lower))
        assert over and under and over.y0 > under.y1
    [note] = figure.texts
    box = axes[-1].get_tightbbox()
    assert box and note.get_window_extent().y1 < box.y0
    assert len({round(one.get_position().x0, 9) for one in axes}) == 1
