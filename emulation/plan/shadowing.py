# SPDX-License-Identifier: BSD-3-Clause
"""Log-normal shadowing: how many dB more or less arrive between two places than the propagation model predicts.

Both directions share one Gaussian number per pair. If shadowing is correlated over distance, they share the value of a
Gaussian field at the two places. The field has Gudmundson's correlation at both ends: exp(-(displacement of one end +
displacement of the other) / correlation). The field is a sum of waves with random directions, lengths and phases, whose
spectrum is that correlation's (Cauchy's in three dimensions). So it is a function of the two places only. A moving
station meets what a standing one would meet there, and other stations change nothing.

M. Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27(23), 1991. For two
ends: Z. Wang, E. K. Tameh, A. R. Nix, "Joint shadowing process in urban peer-to-peer radio channels", IEEE Trans. Veh.
Technol. 57(1), 2008. As a sum of waves: X. Cai, G. B. Giannakis, "A two-dimensional channel simulation model for
shadowing processes", IEEE Trans. Veh. Technol. 52(6), 2003.
"""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from emulation.specification.channel import Shadowing
from emulation.specification.propagation import distances

Floats = NDArray[np.float64]

WAVES = 2000
PAIR, DIRECTION, FIELD = range(3)  # purposes of a random stream


def shadow_db(shadowing: Shadowing | None, run_seed: int, positions: Floats) -> Floats:
    """Return the shadowing between stations at these (N, 3) positions (m): dB, as [transmitter][receiver]."""
    count = len(positions)
    if shadowing is None:
        return np.zeros((count, count))
    seed = run_seed if shadowing.seed is None else shadowing.seed
    if shadowing.correlation:
        shared = _field(seed, positions / shadowing.correlation)
    else:
        shared = np.tril(_draws(seed, PAIR, count), -1)
        shared = shared + shared.T
    own = shadowing.asymmetry * _draws(seed, DIRECTION, count) if shadowing.asymmetry else 0
    return np.asarray(shadowing.sigma * shared + own)


@cache
def _draws(seed: int, what: int, count: int) -> Floats:
    """Return a Gaussian number for each ordered pair. More stations do not change those of the first ones."""
    found = np.zeros((count, count))
    for last in range(1, count):
        drawn = np.random.default_rng([seed, what, last]).standard_normal(2 * last)
        found[last, :last], found[:last, last] = drawn[:last], drawn[last:]
    return found


@cache
def _waves(seed: int) -> tuple[Floats, Floats, Floats]:
    """Return wave vectors for each end, in units of 1 / correlation distance, and phases."""
    random = np.random.default_rng([seed, FIELD])
    here, there = (
        random.standard_normal((3, WAVES)) / np.abs(random.standard_normal(WAVES)) for _ in ("here", "there")
    )
    return here, there, random.uniform(0, 2 * math.pi, WAVES)


def _field(seed: int, at: Floats) -> Floats:
    """Return the field between places in units of the correlation distance; it is symmetric."""
    here, there, phase = _waves(seed)
    one_way = np.sqrt(2 / WAVES) * (np.exp(1j * (at @ here + phase)) @ np.exp(1j * (at @ there)).T).real
    alike = np.exp(-distances(at))  # correlation of the two directions
    return np.asarray((one_way + one_way.T) / np.sqrt(2 * (1 + alike**2)))
