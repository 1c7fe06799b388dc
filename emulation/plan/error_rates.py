# SPDX-License-Identifier: BSD-3-Clause
"""Bit error rates of the legacy 802.11 rates, as tables for the air.

The air uses lambda = -ln(1 - BER), which can be added up: a frame that consists of chunks with constant SINR survives
with probability exp(-sum of bits x lambda). It is an integer in units of 2^-40, tabulated by SINR on one grid for all
rates. The OFDM equations are those of L. E. Miller, "Validation of 802.11a/UWB Coexistence Simulation", NIST, 2003. G.
Pei and T. R. Henderson compared them with hardware in "Validation of OFDM error rate model in ns-3", Boeing, 2010.

The model `table` uses results of link simulations for OFDM instead: an ideal receiver with soft decisions.

SINR is the ratio of powers within the channel. B below is its bandwidth: 22 MHz (DSSS), 20 MHz (OFDM).
"""

import itertools
import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from emulation.plan.link_simulations import BCC, LDPC, Curve, lambdas
from emulation.plan.link_simulations import OFDM as SIMULATED
from emulation.specification.per import PerTable
from emulation.specification.propagation import Floats
from emulation.specification.radio import RATES

FIRST_MDB, STEP_MDB, POINTS = -10_000, 250, 201  # -10 dB to 40 dB
Q40 = 2.0**40

DSSS_BANDWIDTH, CHIP_RATE = 22e6, 11e6

# Weight spectra of the convolutional code (133, 171) and its punctured forms: the free distance, the step between
# distances, and the number of wrong bits on all paths of each distance (17.3.5.6; D. Haccoun and G. Begin, IEEE Trans.
# Comm. 37(11), 1989). Key: information bits in a puncturing period.
SPECTRA: dict[int, tuple[int, int, tuple[int, ...]]] = {
    1: (10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911)),
    2: (6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123)),
    3: (5, 1, (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675)),
}

# OFDM rates in 100 kb/s: constellation size, information bits of the puncturing period (table 17-4).
OFDM = {60: (2, 1), 90: (2, 3), 120: (4, 1), 180: (4, 3), 240: (16, 1), 360: (16, 3), 480: (64, 2), 540: (64, 3)}

# Which of the four phases are summed in each of CCK's eight chips, and the chip's sign (equation 16-1).
CCK_SUMS = np.array(
    [[1, 1, 1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]]
)
CCK_SIGNS = np.array([1, 1, 1, -1, 1, 1, -1, 1])

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _q(x: Floats) -> Floats:
    return np.asarray(0.5 * _erfc(x / math.sqrt(2)))


def dbpsk(sinr: Floats) -> Floats:
    """Return the BER of 1 Mb/s, differentially coherent: exp(-Eb/N0) / 2, Eb/N0 = SINR B / 1 Mb/s (Proakis, 5.2)."""
    return np.asarray(0.5 * np.exp(-sinr * DSSS_BANDWIDTH / 1e6))


def dqpsk(sinr: Floats) -> Floats:
    """Return the exact BER of 2 Mb/s, Gray coded: mean over theta of (1 - z^2) / (2 r) x exp(-(1 + sqrt(1/2)) r Eb/N0).

    r = 1 + 2 z sin theta + z^2, z = sqrt 2 - 1, theta over a full turn, Eb/N0 = SINR B / 2 Mb/s (M. K. Simon and M.-S.
    Alouini, "Digital Communication over Fading Channels", section 8.1.5).
    """
    z = math.sqrt(2) - 1
    r = 1 + 2 * z * np.sin(2 * np.pi * np.arange(512) / 512) + z * z
    exponent = (1 + math.sqrt(0.5)) * r * (np.asarray(sinr)[..., None] * DSSS_BANDWIDTH / 2e6)
    return np.asarray(((1 - z * z) / (2 * r) * np.exp(-exponent)).mean(axis=-1))


@cache
def cck_spectrum(bits: int) -> tuple[tuple[float, float], ...]:
    """Return the distance spectrum of CCK's code (16.3.6.6): (squared distance in chip energies, wrong bits).

    It is the same from each code word. The eight chips of a word have sums of four phases, here in quarter turns
    (equation 16-1). At 11 Mb/s (8 bits), each phase carries two bits. The first is Gray coded, the others are binary,
    for which this uses the mean over both ends. At 5.5 Mb/s (4 bits), the first phase carries two bits, the second and
    fourth one each, the third none.
    """
    phases: list[tuple[int, ...]]
    if bits == 8:
        phases, values = [(0, 1, 2, 3)] * 4, [(0, 1, 2, 1), *[(0, 1.5, 1, 1.5)] * 3]
    else:
        phases, values = [(0, 1, 2, 3), (1, 3), (0,), (0, 2)], [(0, 1, 2, 1), *[(0, 0, 1, 0)] * 3]
    turns = np.array(list(itertools.product(*phases)))
    words = 1j ** (turns @ CCK_SUMS) * CCK_SIGNS
    distance = np.rint((np.abs(words - words[0]) ** 2).sum(axis=1))
    wrong = sum(np.array(values[i])[(turns[:, i] - turns[0, i]) % 4] for i in range(4))
    return tuple((float(d), float(wrong[distance == d].sum())) for d in np.unique(distance) if d)


def cck(bits: int, sinr: Floats) -> Floats:
    """Return the BER of 5.5 (4 bits) or 11 Mb/s (8 bits): the union bound, sum of w / bits x Q(sqrt(d^2 Ec / (2 N0))).

    The receiver detects whole code words coherently. `cck_spectrum` has d^2 and w; Ec/N0 = SINR B / 11 Mchip/s
    (Proakis, section 5.2).
    """
    chip = sinr * DSSS_BANDWIDTH / CHIP_RATE
    terms = [wrong / bits * _q(np.sqrt(square * chip / 2)) for square, wrong in cck_spectrum(bits)]
    return np.asarray(np.sum(terms, axis=0))


def ofdm(points: int, period: int, sinr: Floats) -> Floats:
    """Return the BER of 6 to 54 Mb/s: the code's union bound for the constellation's uncoded BER p.

    s is the SINR of a subcarrier. BPSK: p = Q(sqrt(2 s)). M-QAM, Gray coded: p = 4 / log2 M x (1 - 1 / sqrt M) x
    Q(sqrt(3 s / (M - 1))). With hard decisions, BER <= 1 / (2 k) x sum of c_d D^d, D = sqrt(4 p (1 - p)); SPECTRA has k
    and c_d.
    """
    if points == 2:
        p = _q(np.sqrt(2 * sinr))
    else:
        p = 4 / math.log2(points) * (1 - 1 / math.sqrt(points)) * _q(np.sqrt(3 * sinr / (points - 1)))
    free, step, weights = SPECTRA[period]
    d = np.sqrt(4 * p * (1 - p))
    terms = [weight * d ** (free + step * i) for i, weight in enumerate(weights)]
    return np.asarray(np.sum(terms, axis=0) / (2 * period))


BIT_ERROR_RATES: dict[int, Callable[[Floats], Floats]] = {
    10: dbpsk,
    20: dqpsk,
    55: partial(cck, 4),
    110: partial(cck, 8),
    **{rate: partial(ofdm, *of) for rate, of in OFDM.items()},
}


def bit_error_rate(rate: int, sinr_db: Floats) -> Floats:
    """Return the BER of a rate (100 kb/s) by SINR in dB, at most 1/2. Raises KeyError if the rate is unknown."""
    with np.errstate(divide="ignore"):
        return np.minimum(BIT_ERROR_RATES[rate](10 ** (np.asarray(sinr_db) / 10)), 0.5)


@cache
def lambda_q40(rate: int, model: str = "nist") -> tuple[int, ...]:
    """Return lambda x 2^40 of a rate on the grid, as integers that never rise with the SINR. `model` is for OFDM:
    `nist` for the equations, `table` for the link simulations."""
    grid = (FIRST_MDB + STEP_MDB * np.arange(POINTS)) / 1000
    simulated = model == "table" and rate in SIMULATED
    values = lambdas(SIMULATED[rate], grid) if simulated else -np.log1p(-bit_error_rate(rate, grid))
    return tuple(round(value * Q40) for value in values)


@cache
def measured_q40(rate: int, per: PerTable) -> tuple[int, ...]:
    """Return lambda x 2^40 of a rate on the grid, from packet error rates: lambda = -ln(1 - PER) / bits, at most ln 2.

    Between rows its logarithm is interpolated, or itself if the next value is 0. Below the first row it is constant. It
    is 0 from a dB above the last row.
    """
    column = np.array([row[[round(10 * each) for each in RATES].index(rate)] for row in per.rows])
    with np.errstate(divide="ignore"):
        rows = np.minimum(-np.log1p(-column) / (8 * per.frame), math.log(2))
    rows = np.append(np.maximum.accumulate(rows[::-1])[::-1], 0.0)  # it never rises with the SINR
    where = np.clip((FIRST_MDB + STEP_MDB * np.arange(POINTS)) / 1000 - per.first_db, 0, len(rows) - 1)
    low = np.minimum(where.astype(int), len(rows) - 2)
    here, there, part = rows[low], rows[low + 1], where - low
    with np.errstate(divide="ignore", invalid="ignore"):
        between = here ** (1 - part) * there**part
    values = np.where(there > 0, between, here * (1 - part))
    return tuple(round(value * Q40) for value in values)


def error_table(
    rates: list[int], model: str = "nist", per: PerTable | None = None, by_mcs: bool = False
) -> dict[str, object]:
    """Return `error_table` of the plan for these rates (100 kb/s), and with `by_mcs` for all MCS by link simulations.
    Outside the grid, the air uses its end values."""
    table = {str(rate): list(measured_q40(rate, per) if per else lambda_q40(rate, model)) for rate in rates}
    later = {"bcc_q40": by_mcs_q40(BCC), "ldpc_q40": by_mcs_q40(LDPC)}
    return {"first_mdb": FIRST_MDB, "step_mdb": STEP_MDB, "lambda_q40": table, **(later if by_mcs else {})}


def by_mcs_q40(curves: dict[int, Curve]) -> list[list[int]]:
    """Return lambda x 2^40 on the grid of each MCS."""
    grid = (FIRST_MDB + STEP_MDB * np.arange(POINTS)) / 1000
    return [[round(value * Q40) for value in lambdas(curves[mcs], grid)] for mcs in sorted(curves)]
