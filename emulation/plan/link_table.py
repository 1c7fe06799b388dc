# SPDX-License-Identifier: BSD-3-Clause
"""Received powers from measured links.

A received power is used as it is, and an SNR is relative to the specification's noise. A delivery ratio becomes the
SINR at which this share of frames of that length survives. It is the solution of exp(-bits x lambda), with the table
that the air uses (`emulation.plan.error_rates`). If a link has ratios at several rates, the one nearest to 1/2 is used,
because ratios of 0 and 1 hold over a wide range of SINR. A ratio of 0 at every rate means no signal. A ratio of 1
counts as SUREST.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from emulation.plan.error_rates import FIRST_MDB, POINTS, Q40, STEP_MDB, lambda_q40, measured_q40
from emulation.specification.per import PerTable
from emulation.specification.propagation import Floats, Table

SUREST = 0.999  # ratios beyond this, or below 1 minus this, are not significant with hundreds of frames


def received_dbm(
    model: Table, names: Sequence[str], noise_dbm: float, bit_errors: str, per: PerTable | None = None
) -> Floats:
    """Return received powers in dBm, as [transmitter][receiver]. Raises ValueError if a station is unknown."""
    index = {name: place for place, name in enumerate(names)}
    links, power = model.file, np.full((len(names), len(names)), -np.inf)
    if strange := next((name for name in links.stations if name not in index), None):
        raise ValueError(f"{links.name} has links of {strange}; there is no such station")
    ratios: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for a, b, value, rate in links.rows:
        if rate is not None:
            ratios.setdefault((a, b), []).append((value, rate))
        else:
            power[index[a], index[b]] = value if links.quantity == "dbm" else noise_dbm + value
    for (a, b), found in ratios.items():
        power[index[a], index[b]] = noise_dbm + sinr_of(found, model.frame, bit_errors, per)
    return power


def sinr_of(
    ratios: Sequence[tuple[float, float]], frame: int, bit_errors: str = "nist", per: PerTable | None = None
) -> float:
    """Return the SINR in dB at which frames of `frame` bytes arrive with these ratios, each at a rate in Mb/s."""
    if not any(ratio for ratio, _ in ratios):
        return -math.inf
    ratio, rate = min(((r, m) for r, m in ratios if r), key=lambda one: (abs(one[0] - 0.5), one[1]))
    wanted = -math.log(min(max(ratio, 1 - SUREST), SUREST)) / (8 * frame)
    lambdas, sinr = _curve(round(rate * 10), bit_errors, per)
    if not lambdas.size:  # no frame is lost
        return FIRST_MDB / 1000
    return float(np.interp(math.log(wanted), lambdas, sinr))


@cache
def _curve(rate: int, bit_errors: str, per: PerTable | None) -> tuple[Floats, Floats]:
    """Return the logarithms of lambda at a rate (100 kb/s), in rising order, and the SINR (dB) of each."""
    values = np.array(measured_q40(rate, per) if per else lambda_q40(rate, bit_errors)) / Q40
    sinr = (FIRST_MDB + STEP_MDB * np.arange(POINTS)) / 1000
    there = values > 0
    return np.log(values[there])[::-1], sinr[there][::-1]
