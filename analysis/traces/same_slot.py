# SPDX-License-Identifier: BSD-3-Clause
"""Collisions of frames that began in the same slot, so neither station could sense the other.

This is how DCF loses frames where all stations are in range (paper 004, equation 1), and RTS does not prevent it. The
other collisions are those of hidden terminals. Frames of two hidden stations may begin within a slot by chance; they
count here too.
"""

import numpy as np

from analysis.traces.columns import one_of
from analysis.traces.trace import Array, Kind, Outcome

APART = (Kind.ACK, Kind.ROUTING, Kind.MANAGEMENT)  # these are in no total of collisions


def same_slot(tx: Array, rx: Array, row: Array, slot_ns: int) -> int:
    """Return how many frames collided at their addressed receivers with a frame that began less than a slot before or
    after.

    `tx` and `rx` are records of a trace, `tx` sorted by time; `row` is the row in `tx` of each arrival.
    """
    collided = (rx["addressed"] != 0) & one_of(rx["outcome"], (Outcome.COLLISION, Outcome.OWN_TX))
    at = np.flatnonzero(collided)
    at = at[~one_of(tx["kind"][row[at]], APART)] if at.size else at
    if not at.size:
        return 0
    own = rx["outcome"][at] == Outcome.OWN_TX
    other = np.where(own, rx["station"][at], rx["other"][at]).astype(np.int64)
    start = tx["start_ns"][row[at]].astype(np.int64)
    station, begun = tx["station"].astype(np.int64), tx["start_ns"].astype(np.int64)
    order = np.argsort(tx["station"], kind="stable")  # for each station by time
    key = station[order] << 48 | (begun[order] - int(begun[0]))
    place = np.searchsorted(key, other << 48 | (start - int(begun[0]) + slot_ns - 1).clip(min=0), "right") - 1
    last = order[place.clip(min=0)]
    near = (place >= 0) & (station[last] == other) & (np.abs(begun[last] - start) < slot_ns)
    return int(near.sum())
