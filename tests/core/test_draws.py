# SPDX-License-Identifier: BSD-3-Clause
"""Exponential draws in integers, by their distribution function."""

from __future__ import annotations

import ctypes as c
import math

import numpy as np
import pytest
from dcf import library


@pytest.mark.parametrize("mean", [1000, 25_000, 1_000_000])
def test_exponential_draws(mean: int) -> None:
    """Within the Kolmogorov-Smirnov limit at 0.1 %, and never more than 16 times the mean."""
    state, count = c.c_uint64(7), 20_000
    drawn = np.sort([library().dcf_draw_exponential(state, mean) for _ in range(count)])
    expected = 1 - np.exp(-drawn / mean)
    seen = np.arange(1, count + 1) / count
    assert np.abs(expected - seen).max() < 1.95 / math.sqrt(count)
    assert drawn[-1] <= 16 * mean
