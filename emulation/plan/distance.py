# SPDX-License-Identifier: BSD-3-Clause
"""The received power by distance, as a table, for moving stations.

The air computes squared distances, in 64ths of a square millimetre. It interpolates linearly in a table with a fixed
number of points per octave (emulation/dcf80211/core/motion.c). This file finds how many points are needed for the
accuracy WITHIN_DB, and the exact reach of each station. There is no table for a model that it cannot represent: one
with jumps, or one whose power rises again beyond the reach.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from emulation.specification import propagation

Floats = NDArray[np.float64]
Received = Callable[[Floats], Floats]  # dBm by metres

FIRST = 12  # 2^12 / 64 mm²: nearer than 8 mm, the power is that at 8 mm
PARTS = 64  # units per square millimetre
BIN_BITS = range(6, 11)  # log2 of points per octave: the first that is accurate enough, from 64 to 1024
WITHIN_DB = 0.005
PROBES = 8  # test points in each bin
FARTHEST_MM = 9_552_000  # the delay of the first point beyond it is less than 31,999 ns with any BIN_BITS


class Table(NamedTuple):
    """`table` of `motion` in docs/interfaces.md, section 1, and whether signals reach beyond FARTHEST_MM."""

    planned: dict[str, Any]
    beyond: bool


def table(model: propagation.Propagation, excess_db: Floats, floor_dbm: float) -> Table | None:
    """Return the table for stations this much stronger than the model (dB); None if no table fits."""
    if not model.by_distance:
        return None
    strongest = float(excess_db.max(initial=0.0))

    def received(metres: Floats) -> Floats:
        return np.asarray(model.received_dbm(metres) + strongest)

    floors = floor_dbm + strongest - excess_db
    reach = {floor: reach_mm2(received, floor) for floor in set(floors.tolist())}
    if not all(_heard_up_to(received, floor, square) for floor, square in reach.items()):
        return None
    farthest = max(reach.values())
    for bits in BIN_BITS:
        if (points := _points(received, farthest, bits)) is not None:
            break
    else:
        return None
    planned = {
        "first": FIRST,
        "bin_bits": bits,
        "power_mdbm": points,
        "reach_mm2": [reach[floor] for floor in floors.tolist()],
        "weaker_mdb": [round(1000 * (strongest - each)) for each in excess_db.tolist()],
    }
    return Table(planned, farthest >= FARTHEST_MM**2)


def reach_mm2(received: Received, floor_dbm: float) -> int:
    """Return the largest squared distance, in mm², at which at least `floor_dbm` arrives; the power must fall."""
    least, most = 0, FARTHEST_MM**2
    if _power(received, most) >= floor_dbm:
        return most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if _power(received, middle) >= floor_dbm else (least, middle)
    return least


def _power(received: Received, square_mm2: int) -> float:
    return float(received(np.array([square_mm2**0.5 / 1000]))[0])


def _metres(squares: Floats) -> Floats:
    return np.asarray(np.sqrt(squares / PARTS) / 1000)


def _squares(bits: int, upto_mm2: int) -> Floats:
    """Return the table's squared distances, up to the first one beyond `upto_mm2`."""
    octaves = np.arange(FIRST, int(upto_mm2 * PARTS).bit_length() + 1)
    found = (2.0 ** octaves[:, None] * (1 + np.arange(2**bits) / 2**bits)).ravel()
    return np.asarray(found[: int(np.searchsorted(found, upto_mm2 * PARTS, "right")) + 1])


def _heard_up_to(received: Received, floor_dbm: float, reach_mm2: int) -> bool:
    """Return whether the power is above the floor everywhere within the reach, and nowhere beyond."""
    squares = _squares(BIN_BITS[-1], FARTHEST_MM**2)
    near = squares <= reach_mm2 * PARTS
    return bool(((received(_metres(squares)) >= floor_dbm) == near)[squares <= FARTHEST_MM**2 * PARTS].all())


def _points(received: Received, reach_mm2: int, bits: int) -> list[int] | None:
    """Return the table's powers in mdBm; None if this many points per octave are too few."""
    squares = _squares(bits, reach_mm2)
    power = received(_metres(squares))
    if not np.isfinite(power[-1]):  # beyond the reach: the power at the reach
        power[-1] = _power(received, reach_mm2)
    points = np.rint(power * 1000)
    at = (squares[:-1, None] + np.diff(squares)[:, None] * (np.arange(PROBES) + 0.5) / PROBES).ravel()
    at = np.append(at[at <= reach_mm2 * PARTS], reach_mm2 * PARTS)
    true, linear = received(_metres(at)), np.interp(at, squares, 10 ** (points / 10_000))
    off = np.maximum(abs(10 * np.log10(linear) - true), abs(np.interp(at, squares, points) / 1000 - true))
    return [int(point) for point in points] if off.max() <= WITHIN_DB else None
