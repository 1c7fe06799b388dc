# SPDX-License-Identifier: BSD-3-Clause
"""Log-normal shadowing: by how many decibels more or less arrives between two places than the propagation model says.

What both directions share is one Gaussian number a pair, or, correlated over distance, the value of a Gaussian field
at the two places. The field's correlation is Gudmundson's at either end: exp(-(way of one end + way of the other) /
correlation). It is a sum of waves with random directions, lengths and phases, whose spectrum is that correlation's
(Cauchy's in three dimensions): a function of the two places and nothing else. So a station that moves meets what one
that stands there would, and who else is there changes nothing.

M. Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27(23), 1991; for two
ends Z. Wang, E. K. Tameh, A. R. Nix, "Joint shadowing process in urban peer-to-peer radio channels", IEEE Trans. Veh.
Technol. 57(1), 2008; as a sum of waves X. Cai, G. B. Giannakis, "A two-dimensional channel simulation model for
shadowing processes", IEEE Trans. Veh. Technol. 52(6), 2003.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from emulation.specification.channel import Shadowing
from emulation.specification.propagation import distances

Floats = NDArray[np.float64]

WAVES = 2000
PAIR, DIRECTION, FIELD = range(3)  # what a random stream is for


def shadow_db(shadowing: Shadowing | None, run_seed: int, positions: Floats) -> Floats:
    """Between stations at these (N, 3) places, in metres: dB, [transmitter][receiver]."""
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
    """A Gaussian number for each ordered pair; those of the first stations stay the same when more are added."""
    found = np.zeros((count, count))
    for last in range(1, count):
        drawn = np.random.default_rng([seed, what, last]).standard_normal(2 * last)
        found[last, :last], found[:last, last] = drawn[:last], drawn[last:]
    return found


@cache
def _waves(seed: int) -> tuple[Floats, Floats, Floats]:
    """Wave vectors at either end, over the correlation distance, and phases."""
    random = np.random.default_rng([seed, FIELD])
    here, there = (
        random.standard_normal((3, WAVES)) / np.abs(random.standard_normal(WAVES)) for _ in ("here", "there")
    )
    return here, there, random.uniform(0, 2 * math.pi, WAVES)


def _field(seed: int, at: Floats) -> Floats:
    """The field between places given in correlation distances: the same from either end."""
    here, there, phase = _waves(seed)
    one_way = np.sqrt(2 / WAVES) * (np.exp(1j * (at @ here + phase)) @ np.exp(1j * (at @ there)).T).real
    alike = np.exp(-distances(at))  # the two ends, and so the two ways
    return np.asarray((one_way + one_way.T) / np.sqrt(2 * (1 + alike**2)))
