# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates as wmediumd computes them if it has no table."""

from __future__ import annotations

import math

PERFECT_DB = 100.0  # no bit errors
# For each rate: bits per symbol (1: BPSK), and the free distance of its code: 10, 6 and 5 for rates 1/2, 2/3 and 3/4.
# DSSS and CCK use the nearest OFDM rates.
CODED = (
    (1, 10), (1, 10), (1, 10), (2, 10),
    (1, 10), (1, 5), (2, 10), (2, 5), (4, 10), (4, 5), (6, 6), (6, 5),
)  # fmt: skip


class Formula:
    """wmediumd's computation: bit errors of BPSK and QAM in white noise, the code's first error event, and independent
    bits of the frame."""

    def error(self, snr_db: float, rate: int, length: int) -> float:
        """Return the packet error rate of a frame with this many bytes."""
        bits, distance = CODED[rate]
        wrong = _first_event(_bit_error(bits, 10 ** (min(snr_db, PERFECT_DB) / 10)), distance)
        return 1.0 - (1.0 - wrong) ** (8 * length) if wrong < 1 else 1.0


def _bit_error(bits: int, snr: float) -> float:
    """Return the bit error rate of BPSK, QPSK or M-QAM, Gray coded (Proakis, Digital Communications, 5.2)."""
    if bits == 1:
        return 0.5 * math.erfc(math.sqrt(snr))
    m = 2**bits
    return min(0.5, 2 / bits * (1 - 1 / math.sqrt(m)) * math.erfc(math.sqrt(1.5 * snr / (m - 1))))


def _first_event(p: float, distance: int) -> float:
    """Return the probability, for hard decisions, that a path of the free distance is taken for the right one."""
    half = sum(
        math.comb(distance, k) * p**k * (1 - p) ** (distance - k) for k in range(distance // 2 + 1, distance + 1)
    )
    if distance % 2 == 0:
        k = distance // 2
        half += 0.5 * math.comb(distance, k) * (p * (1 - p)) ** k
    return min(1.0, half)
