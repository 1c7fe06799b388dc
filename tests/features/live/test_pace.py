# SPDX-License-Identifier: BSD-3-Clause
"""The pace of the network's time: exact in the long run, and no faster than the lane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emulation.features.live.pace import FASTEST, FIRST_PER_S, FRAME_S, LONGEST_S, SLOWEST, Pace


def played(pace: Pace, frames: int, per_s: float) -> tuple[int, float]:
    """Play frames with a lane of this speed in ns per second of wall time. Return the time that passed, and how long it
    took."""
    now_s = passed_ns = 0.0
    for _ in range(frames):
        now_s += pace.due_s(now_s)
        stride = pace.stride(now_s)
        pace.record(stride, stride / per_s)
        now_s += stride / per_s
        passed_ns += stride
    return int(passed_ns), now_s


@given(st.floats(SLOWEST, 20))
def test_a_lane_that_can_goes_at_its_pace(asked: float) -> None:
    """To the nanosecond, except for the rest below 1 ns, even if a stride is shorter."""
    passed_ns, took_s = played(Pace(asked), 3000, 40e9)
    assert abs(passed_ns - asked * 1e9 * took_s) <= 2 * FRAME_S * asked * 1e9 + 2


def test_a_lane_that_cannot_is_never_asked_for_more_than_a_moment_of_it() -> None:
    for per_s in (2e9, 1e8, 2e11):
        pace = Pace(FASTEST)
        played(pace, 50, per_s)
        stride = pace.stride(1e6)
        assert stride < 1.1 * LONGEST_S * per_s and stride > 0.9 * LONGEST_S * min(per_s, FIRST_PER_S)


def test_slow_motion_says_nothing_of_what_the_lane_can() -> None:
    pace = Pace(SLOWEST)
    for _ in range(100):
        pace.record(333, 0.003)
    pace.pace = 1.0
    assert pace.stride(1e6) > 0.03 * 1e9


def test_what_was_missed_is_not_made_up_for() -> None:
    """After a slow lane, or a pause."""
    pace = Pace(1.0)
    played(pace, 100, 40e9)
    assert pace.stride((pace.last_s or 0) + 60) < 0.2e9
    pace.halt()
    assert pace.due_s(1e9) == 0 and pace.stride(1e9) <= FRAME_S * 1e9 + 1
