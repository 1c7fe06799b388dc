# SPDX-License-Identifier: BSD-3-Clause
"""Columns: read from records of one size; where runs of equal values begin and end, and which rows are next to a time.

Sorting by station and time puts the events of all stations into one order, so numpy can search for many at once.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from analysis.traces.trace import Array
from emulation.files.foreign import Damaged


def records_of(
    data: bytes | bytearray, record: np.dtype[Any], what: str, wrong: Callable[[Array], Iterable[tuple[Array, str]]]
) -> Array:
    """Return the records of these bytes, all of one size. `wrong` yields which of them are malformed, and how. Raises
    Damaged for the first, or for the rest of a record; its message begins with `what`."""
    whole = len(data) // record.itemsize * record.itemsize
    found = np.frombuffer(data[:whole], record)
    of_size = found["size"] != record.itemsize, f"a record that does not have {record.itemsize} bytes"
    for bad, how in (of_size, *wrong(found)):
        if bad.any():
            raise Damaged(f"{what} is corrupt: at byte {int(bad.argmax()) * record.itemsize}: {how}")
    if left := len(data) - whole:
        raise Damaged(f"{what} is truncated: at byte {whole}: {left} bytes are left of the last record")
    return found


def begins(column: Array) -> Array:
    """Return for each row whether its value differs from that of the row before."""
    return np.append(True, column[1:] != column[:-1])[: column.size]


def ends(column: Array) -> Array:
    """Return for each row whether its value differs from that of the row after."""
    return np.append(column[1:] != column[:-1], True)[: column.size]


def one_of(column: Array, values: Iterable[int]) -> Array:
    """Return for each row whether its value is one of these few. np.isin would sort them, and load numpy.ma."""
    found: Array = np.logical_or.reduce([column == value for value in values])
    return found


def places(known: Array, wanted: Array) -> Array:
    """Return for each wanted value its place in `known`, the first of several; -1 if it is not there."""
    order = np.argsort(known, kind="stable")
    place = np.append(order, -1)[np.searchsorted(known, wanted, sorter=order)]
    return np.where(known[place] == wanted, place, -1)


def spans(time: Array, which: Array) -> Array:
    """Return the spans in which `which` holds, as rows of start and end. Its values last from each time to the next."""
    edge = np.flatnonzero(np.diff(which, prepend=False, append=False))
    found: Array = time[edge].reshape(-1, 2)
    return found


def around(row: Array, station: Array, time: Array, at: Array, when: Array) -> tuple[Array, Array]:
    """Return for each station `at` its last event before `when`, and its first from then on; -1 if there is none.
    Events are given as `row` numbers of the columns `station` and `time` (ns), in order of time."""
    if not when.size:
        return row[:0], row[:0]
    row = row[np.argsort(station[row], kind="stable")]
    station, time = station[row], time[row]
    times = np.append(time, when)
    origin, span = times.min(), np.ptp(times) + 1  # keeps the times of different stations apart
    place = np.searchsorted(station * span + (time - origin), at * span + (when - origin))
    row, station = (np.pad(column, 1, constant_values=-1) for column in (row, station))
    before, after = (np.where(station[near] == at, row[near], -1) for near in (place, place + 1))
    return before, after
