# SPDX-License-Identifier: BSD-3-Clause
"""Queries on sorted columns give the same as looking at each row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.traces.columns import around, begins, ends

EVENTS = st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 20)), max_size=12)


def test_runs() -> None:
    """By hand; without rows there are no runs."""
    column = np.array([7, 7, 8, 7])
    assert begins(column).tolist() == [True, False, True, True]
    assert ends(column).tolist() == [False, True, True, True]
    assert begins(column[:0]).size == ends(column[:0]).size == 0


@given(EVENTS, EVENTS, st.sampled_from([0, 10**15]))
def test_around(events: list[tuple[int, int]], asked: list[tuple[int, int]], origin: int) -> None:
    """The event before and the one from then on, of this station only; -1 where there is none. -1 is no station, and
    has no events."""
    events = sorted((event for event in events if event[0] >= 0), key=lambda event: event[1])
    station, time = np.array(events, np.int64).reshape(-1, 2).T
    at, when = np.array(asked, np.int64).reshape(-1, 2).T
    before, after = around(np.arange(len(events)), station, time + origin, at, when + origin)
    for row, (s, t) in enumerate(asked):
        earlier = [n for n, event in enumerate(events) if event[0] == s and event[1] < t]
        later = [n for n, event in enumerate(events) if event[0] == s and event[1] >= t]
        assert before[row] == max(earlier, default=-1) and after[row] == min(later, default=-1)
