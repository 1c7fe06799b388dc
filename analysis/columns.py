# SPDX-License-Identifier: BSD-3-Clause
"""Questions asked of sorted columns: where a run of equal values begins and ends, and what lies next to a time.

Rows sorted by station and then time make one order of all stations' events, so that numpy can look for many at once.
"""

import numpy as np

from analysis.trace import Array


def begins(column: Array) -> Array:
    """For each row, whether its value differs from that of the row before."""
    return np.append(True, column[1:] != column[:-1])[: column.size]


def ends(column: Array) -> Array:
    """For each row, whether its value differs from that of the row after."""
    return np.append(column[1:] != column[:-1], True)[: column.size]
