# SPDX-License-Identifier: BSD-3-Clause
"""A run in real time is valid, or names the limits that it exceeded."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.results.timing import timing

IN_TIME = {"count": 1000, "p50": 5_000, "p99": 900_000, "max": 19_000_000}


def lane(**changes: Any) -> dict[str, Any]:
    found = {"air_s": 10.0, "steal_s": 0.1, "late": IN_TIME, "lag": IN_TIME, **changes}
    return {**found, "air": {"late_ns": found["late"], "lag_ns": found["lag"]}}


def test_what_keeps_time_is_valid() -> None:
    found = timing(lane(), real=True, waited_s=0.05)
    assert found and found.valid and not found.invalid
    assert found.clock == "real" and found.stolen_s == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"late": {**IN_TIME, "p99": 1_100_000}}, "1 % of timers fired 1.1 ms late or more, not at most 1"),
        ({"late": {**IN_TIME, "max": 21_000_000}}, "some timers fired 21 ms late or more, not at most 20"),
        ({"lag": {**IN_TIME, "p99": 4_000_000}}, "1 % of frames were taken 4 ms late or more, not at most 1"),
        ({"steal_s": 0.5}, "the lane waited 5 % of the time for a CPU, not at most 2 %"),
    ],
)
def test_what_is_beyond_a_limit_is_reported(changes: dict[str, Any], said: str) -> None:
    found = timing(lane(**changes), real=True)
    assert found and not found.valid and found.invalid == [said]


def test_virtual_time_is_always_kept() -> None:
    found = timing(lane(late={**IN_TIME, "max": 10**9}), real=False)
    assert found and found.valid and found.clock == "virtual"


def test_a_medium_that_reports_no_times_has_no_timing() -> None:
    assert timing({"air_s": 1.0, "air": {"counted": False}}, real=True) is None
    assert timing({"air_s": 1.0, "air": None}, real=True) is None  # only wires
