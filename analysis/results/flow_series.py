# SPDX-License-Identifier: BSD-3-Clause
"""Flows over time, from `flows.csv`: samples at fixed intervals, of flows of all kinds (docs/file-formats.md).
`analysis.tcp.senders` has every change of a TCP sender instead.
"""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from analysis.traces.trace import Array
from emulation.files.foreign import LONGEST_NS, reading

FILE = "flows.csv"
Series = dict[str, Array]  # by column name, including `time_s`; nan: no value


def read(path: Path) -> dict[str, Series]:
    """Return each flow's columns, by its name. Raises OSError if the file cannot be read, Damaged if it is
    malformed."""
    with open(path, newline="") as file, reading(path):
        return parse(file)


def parse(lines: Iterable[str]) -> dict[str, Series]:
    """Return the columns of these lines. Raises ValueError if they are malformed."""
    try:
        return _of(csv.DictReader(lines))
    except csv.Error as error:
        raise ValueError(error) from None


def _of(table: "csv.DictReader[str]") -> dict[str, Series]:
    if table.fieldnames is None or not {"flow", "time_s"} <= set(table.fieldnames):
        raise ValueError(f"these are not samples of flows: {table.fieldnames}")
    rows: dict[str, list[dict[str, str]]] = {}
    for row in table:
        rows.setdefault(row["flow"], []).append(row)
    columns = [name for name in table.fieldnames if name != "flow"]
    found = {
        flow: {name: np.array([float(row[name] or math.nan) for row in of]) for name in columns}
        for flow, of in rows.items()
    }
    if not all(((series["time_s"] >= 0) & (series["time_s"] <= LONGEST_NS / 1e9)).all() for series in found.values()):
        raise ValueError("a sample at an impossible time")
    return found
