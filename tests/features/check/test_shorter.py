# SPDX-License-Identifier: BSD-3-Clause
"""What is said of windows on a path that becomes shorter, and after pauses."""

from __future__ import annotations

import pytest

from emulation.features.check.inside import shorter


@pytest.mark.parametrize(("window", "small"), [(2, True), (3, False), (30, False)])
def test_a_window_that_leaves_most_of_a_path_unused_is_too_small(window, small):
    assert shorter.too_small(window, holds=10) == small


@pytest.mark.parametrize(
    ("windows", "grown"), [((78, 60), False), ((78, 80), False), ((10, 25), False), ((78, 142), True), ((10, 40), True)]
)
def test_a_window_grows_no_more_after_a_long_pause(windows, grown):
    assert shorter.grew(windows) == grown
