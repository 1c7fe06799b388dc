# SPDX-License-Identifier: BSD-3-Clause
"""Which stations heard each transmission, as masks: rows of bits, one per station. Most transmissions share a mask."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.taps.aired import Aired
from analysis.taps.phy import Medium, Own
from analysis.taps.signals import attowatts
from analysis.traces.capture import Capture
from analysis.traces.trace import Array
from analysis.traces.views import Views

PAIRS = 1 << 19  # pairs of transmission and station, processed together
MOST_PAIRS = 40_000_000  # with more, computing takes too long


def receivers(views: Views, transmissions: int, stations: int) -> Array:
    """Return the mask of the stations that received each transmission correctly."""
    masks = np.zeros((transmissions, -(-stations // 8)), np.uint8)
    for one in range(stations):
        masks[views.row[~views.bad & (views.station == one)], one // 8] |= np.uint8(1 << one % 8)
    return masks


SENSED, RECEIVED = ("cs_threshold_mdbm", "rx_threshold_mdbm"), ("rx_threshold_mdbm",)


def hearing(
    air: Aired, plan: Mapping[str, Any], lane: Mapping[str, Any], medium: Medium, shown: Capture,
    thresholds: Sequence[str] = SENSED,
) -> Array | None:  # fmt: skip
    """Return the mask of stations at which each transmission arrived with at least the lowest of these thresholds: a
    frame that is received is also sensed. Return None if there are too many pairs."""
    stations, size = medium.links.stations, air.station.size
    if size * stations > MOST_PAIRS:
        return None
    changes = lane.get("changes", ())
    found = [Own.of_run(plan, threshold, changes) for threshold in thresholds]
    found = found[:1] + [each for each in found[1:] if each.value.min() < found[0].value.max()]
    needed = [Own(each.station, each.since_ns, attowatts(each.value)) for each in found]
    masks, everybody = np.zeros((size, -(-stations // 8)), np.uint8), np.arange(stations)
    for begin in range(0, size, max(PAIRS // stations, 1)):
        part = slice(begin, begin + max(PAIRS // stations, 1))
        columns = (column[part].repeat(stations) for column in (air.station, air.start_ns, shown.packet_id))
        sender, when, number = columns
        receiver = np.tile(everybody, sender.size // stations)
        power, _ = medium.links.arriving(sender.clip(min=0), receiver, when, number)
        least = np.minimum.reduce([each.at(receiver, when) for each in needed])
        at = (power >= least) & (sender != receiver) & (sender >= 0) & (power > 0)
        masks[part] = np.packbits(at.reshape(-1, stations), axis=1, bitorder="little")
    return masks


def mark(masks: Array, station: Array, which: Array) -> None:
    """Add these stations to the masks of the selected transmissions."""
    row = np.flatnonzero(which)
    masks[row, station[row] // 8] |= (1 << station[row] % 8).astype(np.uint8)


def distinct(*masks: Array) -> tuple[Array, list[Array]]:
    """Return the distinct masks, and for each argument the numbers of its masks."""
    rows = np.concatenate(masks)
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return rows[first], np.split(number, len(masks))
