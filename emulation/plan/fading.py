# SPDX-License-Identifier: BSD-3-Clause
"""Block fading, as a table: quantiles of the ratio of a signal's power to its mean.

For each signal at each receiver, the air draws a uniform number and looks up the ratio
(emulation/dcf80211/core/fading.c). With `coherence_ms`, a pair of stations keeps its ratio for this time, in both
directions, and then draws another. The table has ratios, not decibels. Near 0, the distribution of a faded power is
linear, so the deepest fades are as frequent as they should be, and the table ends at 0 instead of minus infinity.

A direct path has K times the power of all other paths together. Then, for the ratio x, 2(K + 1)x is noncentral
chi-squared with two degrees of freedom and noncentrality 2K (S. O. Rice, "Mathematical analysis of random noise", Bell
System Technical Journal 24, 1945; Simon and Alouini, "Digital Communication over Fading Channels", 2.2). Without a
direct path, x is exponential: the amplitude is Rayleigh's. ns-3's NakagamiPropagationLossModel with m = 1 and INET's
RayleighFading are the same.

Log-normal fading is wmediumd's `fading_coefficient`: a Gaussian number of dB, so the median of x is 1, not its mean.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulation.specification.channel import Fading

Floats = NDArray[np.float64]

FADES = 1024  # intervals of the uniform number, DCF_FADES of the core
GRID, TAIL = 8192, 64  # points of the distribution, and within a tail


def plan_fading(fading: Fading | None) -> dict[str, Any] | None:
    """Return `fading` of the air (docs/interfaces.md, section 1)."""
    if fading is None:
        return None
    quantiles_q32 = np.rint(_quantiles(fading) * 2**32).astype(np.int64).tolist()
    return {"gain_q32": quantiles_q32, "coherence_ns": round((fading.coherence_ms or 0) * 1e6)}


def strongest_db(fading: Fading | None) -> float:
    """Return by how many dB a signal may exceed its mean."""
    return 10 * math.log10(_quantiles(fading)[-1]) if fading else 0.0


def _quantiles(fading: Fading) -> Floats:
    return lognormal(fading.sigma or 1.0) if fading.model == "lognormal" else quantiles(fading.factor)


def cumulative(k: float, x: Floats) -> Floats:
    """Return the probability that the power is at most x times its mean: a Poisson mixture of gamma distributions."""
    y = (k + 1) * x
    most = int(k + 12 * math.sqrt(k)) + 30 if k else 1
    within, below = np.zeros_like(y), np.zeros_like(y)
    for j in range(most):
        log_j = math.lgamma(j + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            below += np.exp(-y + (j * np.log(y) if j else 0) - log_j)  # P(Poisson variable of mean y <= j)
        within += math.exp(-k + (j * math.log(k) if j else 0) - log_j) * (1 - below)
    return within


@cache
def quantiles(k: float) -> Floats:
    """Return the quantiles at 0, 1/FADES, ... 1. Interpolated linearly, their mean is 1. The first and the last are
    chosen so that the tails keep their means; the exact values are 0 and infinity."""
    x = np.linspace(0, (math.sqrt(k) + 4.5) ** 2 / (k + 1), GRID)
    upto = np.maximum.accumulate(cumulative(k, x))

    def at(u: Floats) -> Floats:
        return np.asarray(np.interp(u, upto, x))

    found = at(np.arange(FADES + 1) / FADES)
    tail = (np.arange(TAIL) + 0.5) / TAIL / FADES
    found[0] = max(0.0, 2 * at(tail).mean() - found[1])
    found[-1] = 2 * at(1 - tail).mean() - found[-2]
    return np.asarray(found / ((found[:-1] + found[1:]) / 2).mean())


@cache
def lognormal(sigma: float) -> Floats:
    """Return the quantiles of a power that is Gaussian in dB with this deviation, as wmediumd's; its median is 1."""
    found = _decibels(sigma, np.clip(np.arange(FADES + 1) / FADES, 1e-9, 1 - 1e-9))
    tail = (np.arange(TAIL) + 0.5) / TAIL / FADES
    found[0] = max(0.0, 2 * _decibels(sigma, tail).mean() - found[1])
    found[-1] = 2 * _decibels(sigma, 1 - tail).mean() - found[-2]
    return found


def _decibels(sigma: float, u: Floats) -> Floats:
    from statistics import NormalDist  # it takes long to load

    normal = NormalDist(0, sigma)
    return np.array([10 ** (normal.inv_cdf(float(each)) / 10) for each in u])
