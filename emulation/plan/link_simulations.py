# SPDX-License-Identifier: BSD-3-Clause
"""Bit errors of OFDM and of the MCS of 802.11n, ac and ax in link simulations: an ideal receiver with soft decisions.

The source is the packet error rates in white noise of ns-3's TableBasedErrorRateModel (error-rate-tables.h), which come
from simulations with MATLAB's WLAN Toolbox: of the binary convolutional code for packets of 32 B and 1458 B, of LDPC
for 1458 B. lambda = -ln(1 - PER) / bits, for packets of 1458 B where less than 98 % of them are lost, else of 32 B.
Both sizes give the same lambda where both are known.

Two streams have the SINR of one: the receiver separates them, and has an antenna for each.
"""

import math

import numpy as np

from emulation.specification.propagation import Floats

Curve = tuple[float, float, tuple[float, ...]]  # SINR of the first point, dB; step, dB; lambda per bit at each point

# By rate in 100 kb/s.
OFDM: dict[int, Curve] = {
    60: (-3.0, 0.5, (2.07e-2, 1.10e-2, 6.83e-3, 3.48e-3, 1.44e-3, 5.23e-4, 1.46e-4, 2.95e-5, 5.88e-6, 9.66e-7, 1.29e-7,
                1.29e-8, 8.57e-10)),
    120: (0.0, 0.5, (1.89e-2, 1.33e-2, 7.04e-3, 3.46e-3, 1.49e-3, 4.91e-4, 1.36e-4, 3.07e-5, 6.48e-6, 1.04e-6, 1.29e-7,
                1.97e-8)),
    180: (2.5, 0.5, (2.00e-2, 1.25e-2, 7.44e-3, 3.57e-3, 1.46e-3, 4.86e-4, 1.22e-4, 3.07e-5, 6.00e-6, 1.05e-6, 1.97e-7,
                3.00e-8, 3.43e-9)),
    240: (4.5, 0.5, (2.70e-2, 2.43e-2, 1.36e-2, 8.42e-3, 5.28e-3, 2.44e-3, 1.16e-3, 4.46e-4, 1.57e-4, 4.88e-5, 1.31e-5,
                3.27e-6, 7.41e-7, 1.63e-7, 3.09e-8, 4.29e-9)),
    360: (8.5, 0.5, (2.70e-2, 1.15e-2, 6.27e-3, 3.50e-3, 1.61e-3, 6.68e-4, 2.24e-4, 6.18e-5, 1.73e-5, 4.08e-6, 9.48e-7,
                2.23e-7, 3.52e-8, 8.57e-9)),
    480: (12.0, 0.5, (2.43e-2, 1.31e-2, 8.88e-3, 5.12e-3, 2.91e-3, 1.43e-3, 6.69e-4, 2.53e-4, 9.31e-5, 3.03e-5, 9.59e-6,
                 2.91e-6, 7.84e-7, 1.97e-7, 5.49e-8, 1.46e-8, 1.71e-9)),
    540: (13.5, 0.5, (1.80e-2, 1.28e-2, 7.15e-3, 4.53e-3, 2.43e-3, 1.13e-3, 4.75e-4, 1.81e-4, 6.18e-5, 2.01e-5, 5.66e-6,
                 1.61e-6, 3.95e-7, 1.12e-7, 1.97e-8, 1.71e-9)),
}  # fmt: skip
# BPSK at 3/4 is not in these tables. It is QPSK at 3/4 with half the SINR.
OFDM[90] = (OFDM[180][0] - 3.0, *OFDM[180][1:])

# By MCS: modulations and code rates up to 6 are those of OFDM.
BCC: dict[int, Curve] = {
    **dict(enumerate(OFDM[rate] for rate in (60, 120, 180, 240, 360, 480, 540))),
    7: (14.5, 0.5, (2.27e-2, 1.60e-2, 1.12e-2, 7.37e-3, 3.93e-3, 2.25e-3, 9.84e-4, 3.29e-4, 1.15e-4, 3.53e-5,
        1.13e-5, 3.10e-6, 8.62e-7, 2.32e-7, 4.29e-8, 7.72e-9, 8.57e-10)),
    8: (18.0, 0.5, (2.16e-2, 1.54e-2, 1.03e-2, 6.75e-3, 4.39e-3, 2.27e-3, 1.21e-3, 5.61e-4, 2.41e-4, 9.53e-5,
        3.73e-5, 1.27e-5, 4.17e-6, 1.33e-6, 4.47e-7, 1.29e-7, 3.09e-8, 6.00e-9)),
    9: (19.5, 0.5, (2.43e-2, 1.77e-2, 1.25e-2, 8.12e-3, 5.14e-3, 2.83e-3, 1.41e-3, 6.46e-4, 2.58e-4, 9.90e-5,
        3.38e-5, 1.14e-5, 3.58e-6, 1.12e-6, 3.09e-7, 7.03e-8, 8.57e-9, 1.71e-9, 8.57e-10)),
}  # fmt: skip
LDPC: dict[int, Curve] = {
    0: (-1.25, 0.25, (3.33e-4, 7.96e-5, 1.60e-5, 2.89e-6, 4.56e-7, 7.29e-8, 1.89e-8, 3.43e-9)),
    1: (1.75, 0.25, (3.15e-4, 8.37e-5, 1.76e-5, 2.97e-6, 4.73e-7, 7.12e-8, 1.29e-8, 2.57e-9)),
    2: (4.25, 0.25, (3.74e-4, 8.42e-5, 1.47e-5, 1.81e-6, 2.15e-7, 2.92e-8, 2.57e-9)),
    3: (7.0, 0.25, (5.33e-4, 2.46e-4, 7.41e-5, 1.98e-5, 4.25e-6, 8.01e-7, 1.54e-7, 3.43e-8, 9.43e-9, 1.71e-9)),
    4: (10.25, 0.25, (4.27e-4, 1.06e-4, 2.43e-5, 4.13e-6, 5.07e-7, 7.81e-8, 1.37e-8, 2.57e-9)),
    5: (14.25, 0.25, (4.98e-4, 2.15e-4, 6.62e-5, 1.56e-5, 3.22e-6, 5.59e-7, 8.58e-8, 2.66e-8, 4.29e-9)),
    6: (15.75, 0.25, (3.42e-4, 1.15e-4, 3.45e-5, 7.29e-6, 1.40e-6, 2.32e-7, 4.46e-8, 4.29e-9, 2.57e-9)),
    7: (17.25, 0.25, (3.25e-4, 1.15e-4, 3.46e-5, 8.69e-6, 1.89e-6, 4.04e-7, 7.46e-8, 1.54e-8, 2.57e-9)),
    8: (20.75, 0.25, (4.54e-4, 1.95e-4, 7.09e-5, 2.01e-5, 4.94e-6, 1.01e-6, 2.15e-7, 3.26e-8, 1.11e-8, 3.43e-9,
        8.57e-10)),
    9: (22.5, 0.25, (5.92e-4, 2.42e-4, 8.66e-5, 2.72e-5, 7.80e-6, 1.92e-6, 4.30e-7, 9.44e-8, 2.74e-8, 3.43e-9)),
    10: (26.0, 0.25, (2.56e-4, 9.95e-5, 3.43e-5, 1.06e-5, 3.00e-6, 7.58e-7, 1.80e-7, 4.63e-8, 7.72e-9, 1.71e-9)),
    11: (28.0, 0.25, (2.55e-4, 1.20e-4, 4.41e-5, 1.52e-5, 4.53e-6, 1.13e-6, 3.09e-7, 8.58e-8, 1.89e-8, 5.14e-9)),
}  # fmt: skip


def lambdas(curve: Curve, sinr_db: Floats) -> Floats:
    """Return lambda by SINR in dB, interpolating its logarithm. Below the first point it continues with the first
    slope, up to a BER of 1/2. Above the last point it is 0."""
    first, step, values = curve
    at, logs = first + step * np.arange(len(values)), np.log(values)
    before = logs[0] + (np.asarray(sinr_db) - first) * (logs[1] - logs[0]) / step
    found = np.where(sinr_db < first, before, np.interp(sinr_db, at, logs))
    return np.where(sinr_db > at[-1], 0.0, np.exp(np.minimum(found, math.log(math.log(2)))))
