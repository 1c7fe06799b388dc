# SPDX-License-Identifier: BSD-3-Clause
"""Questions asked of sorted columns: where a run of equal values begins and ends, and what lies next to a time.

Rows sorted by station and then time make one order of all stations' events, so that numpy can look for many at once.
"""

from collections.abc import Iterable

import numpy as np

from analysis.traces.trace import Array


def begins(column: Array) -> Array:
    """For each row, whether its value differs from that of the row before."""
    return np.append(True, column[1:] != column[:-1])[: column.size]


def ends(column: Array) -> Array:
    """For each row, whether its value differs from that of the row after."""
    return np.append(column[1:] != column[:-1], True)[: column.size]


def one_of(column: Array, values: Iterable[int]) -> Array:
    """For each row, whether its value is one of these few. np.isin would sort them, and load numpy.ma."""
    found: Array = np.logical_or.reduce([column == value for value in values])
    return found


def around(row: Array, station: Array, time: Array, at: Array, when: Array) -> tuple[Array, Array]:
    """Of some events, each a `row` of the columns `station` and `time` (ns) and in order of time: at each station `at`
    the last one before `when`, and the first from then on. -1: there is none."""
    if not when.size:
        return row[:0], row[:0]
    row = row[np.argsort(station[row], kind="stable")]
    station, time = station[row], time[row]
    times = np.append(time, when)
    origin, span = times.min(), np.ptp(times) + 1  # a station's times end before the next one's begin
    place = np.searchsorted(station * span + (time - origin), at * span + (when - origin))
    row, station = (np.pad(column, 1, constant_values=-1) for column in (row, station))
    before, after = (np.where(station[near] == at, row[near], -1) for near in (place, place + 1))
    return before, after
