# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates as wmediumd computes them if it has no table."""

import math

PERFECT_DB = 100.0  # no bit errors
# For each rate: bits per symbol (1: BPSK), and the free distance of its code: 10, 6 and 5 for rates 1/2, 2/3 and 3/4.
# DSSS and CCK use the nearest OFDM rates.
CODED = (
    (1, 10), (1, 10), (1, 10), (2, 10),
    (1, 10), (1, 5), (2, 10), (2, 5), (4, 10), (4, 5), (6, 6), (6, 5),
)  # fmt: skip
# By free distance: how many paths are at this distance from the right one, at one more, and so on (Haccoun and Begin,
# High-Rate Punctured Convolutional Codes for Viterbi and Sequential Decoding, IEEE Transactions on Communications 37).
PATHS = {
    10: (11, 0, 38, 0, 193, 0, 1331, 0, 7275, 0),
    6: (1, 16, 48, 158, 642, 2435, 9174, 34701, 131533, 499312),
    5: (8, 31, 160, 892, 4512, 23297, 120976, 624304, 3229885, 16721329),
}


class Formula:
    """wmediumd's computation: bit errors of BPSK and QAM in white noise, the union bound on the code's first error
    event, and independent bits of the frame."""

    def error(self, snr_db: float, rate: int, length: int) -> float:
        """Return the packet error rate of a frame with this many bytes."""
        if snr_db <= 0:
            return 1.0
        bits, distance = CODED[rate]
        wrong = _first_event(_bit_error(bits, 10 ** (min(snr_db, PERFECT_DB) / 10)), distance)
        return 1.0 - (1.0 - wrong) ** (8 * length) if wrong < 1 else 1.0


def _bit_error(bits: int, snr: float) -> float:
    """Return the bit error rate of BPSK, QPSK or M-QAM, Gray coded (Proakis, Digital Communications, 5.2)."""
    if bits == 1:
        return 0.5 * math.erfc(math.sqrt(snr))
    m = 2**bits
    axis = (1 - 1 / math.sqrt(m)) * math.erfc(math.sqrt(1.5 * snr / (m - 1)))
    return (2 * axis - axis**2) / bits


def _first_event(p: float, free: int) -> float:
    """Return a bound on the probability, for hard decisions, that a wrong path is taken for the right one."""
    return min(1.0, sum(paths * _closer(p, free + more) for more, paths in enumerate(PATHS[free]) if paths))


def _closer(p: float, distance: int) -> float:
    """Return the probability that what is received is closer to a path at this distance; a tie counts half."""
    said = sum(
        math.comb(distance, k) * p**k * (1 - p) ** (distance - k) for k in range(distance // 2 + 1, distance + 1)
    )
    if distance % 2 == 0:
        said += 0.5 * math.comb(distance, distance // 2) * (p * (1 - p)) ** (distance // 2)
    return said
