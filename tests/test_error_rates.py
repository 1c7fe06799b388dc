# SPDX-License-Identifier: BSD-3-Clause
"""Error tables: their form, their constants derived again, and known points of their curves."""

import itertools
import math

import numpy as np
import pytest

from emulation.plan import error_rates

RATES = sorted(error_rates.BIT_ERROR_RATES)
OFDM = sorted(error_rates.OFDM)
# Which of the two output bits of each step are sent (17.3.5.6, figures 17-9 and 17-10).
PUNCTURING = {1: [(1, 1)], 2: [(1, 1), (1, 0)], 3: [(1, 1), (1, 0), (0, 1)]}


@pytest.mark.parametrize("model", ["nist", "table"])
@pytest.mark.parametrize("rate", RATES)
def test_tables_are_integers_that_never_rise(rate, model):
    table = error_rates.lambda_q40(rate, model)
    assert len(table) == error_rates.POINTS <= 256
    assert all(isinstance(value, int) and 0 <= value < 2**63 for value in table)
    assert list(table) == sorted(table, reverse=True)
    assert table[0] > 2**40 * 0.05  # at -10 dB no frame survives
    assert table[-1] == 0  # at 40 dB every frame does


def lost(rate, sinr_db, octets, model="nist"):
    """Return the share of lost frames of this size."""
    grid = list(error_rates.lambda_q40(rate, model))
    at = round((sinr_db * 1000 - error_rates.FIRST_MDB) / error_rates.STEP_MDB)
    return -math.expm1(-8 * octets * grid[at] / 2**40)


@pytest.mark.parametrize(
    ("rate", "sinr_db", "octets", "published"),
    [
        (60, 0.5, 1458, 0.2908), (120, 4.0, 1458, 0.0728), (180, 5.5, 1458, 0.7578), (240, 9.5, 1458, 0.1419),
        (360, 13.5, 1458, 0.011), (480, 17.0, 1458, 0.1058), (540, 18.0, 1458, 0.2091),
        (60, -2.0, 32, 0.8259), (540, 15.5, 32, 0.463),
    ],
)  # fmt: skip
def test_the_table_is_what_was_published(rate, sinr_db, octets, published):
    """Points of ns-3's AwgnErrorTableBcc1458 and AwgnErrorTableBcc32."""
    assert lost(rate, sinr_db, octets, "table") == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize(
    ("coding", "mcs", "sinr_db", "published"),
    [
        ("bcc", 0, 0.5, 0.2908), ("bcc", 7, 19.5, 0.1234), ("bcc", 8, 23.0, 0.3525), ("bcc", 9, 25.0, 0.1248),
        ("ldpc", 0, -0.75, 0.1705), ("ldpc", 4, 10.75, 0.2472), ("ldpc", 9, 23.25, 0.2719), ("ldpc", 11, 29.0, 0.0515),
    ],
)  # fmt: skip
def test_the_table_by_mcs_is_what_was_published(coding, mcs, sinr_db, published):
    """Points of ns-3's AwgnErrorTableBcc1458 and AwgnErrorTableLdpc1458."""
    table = error_rates.error_table([60], by_mcs=True)
    at = round((sinr_db * 1000 - table["first_mdb"]) / table["step_mdb"])
    assert -math.expm1(-8 * 1458 * table[f"{coding}_q40"][mcs][at] / 2**40) == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize(("coding", "count"), [("bcc", 10), ("ldpc", 12)])
def test_each_mcs_needs_a_higher_sinr(coding, count):
    curves = error_rates.error_table([60], by_mcs=True)[f"{coding}_q40"]
    assert len(curves) == count and all(curve == sorted(curve, reverse=True) for curve in curves)
    assert all(2**40 * 0.05 < curve[0] < 2**40 and curve[-1] == 0 for curve in curves)
    needed = [np.argmax(np.array(curve) * 8 * 1458 < 0.1 * 2**40) for curve in curves]
    assert all(lower < higher for lower, higher in itertools.pairwise(needed))


def test_bpsk_is_qpsk_at_half_the_sinr():
    """No table has 9 Mb/s: each of QPSK's two bits has half of a symbol's energy. 6 and 12 Mb/s, which tables have,
    agree."""
    assert lost(90, 3.25, 1000, "table") == pytest.approx(lost(180, 6.25, 1000, "table"))
    for step in range(6):
        six, twelve = (lost(rate, first + step / 2, 1000, "table") for rate, first in ((60, -0.5), (120, 2.5)))
        assert six == pytest.approx(twelve, rel=0.2)


@pytest.mark.parametrize("rate", OFDM)
def test_soft_decisions_are_three_to_four_db_better(rate):
    needed = [
        next(db / 4 for db in range(-40, 160) if lost(rate, db / 4, 1024, model) < 0.1) for model in ("nist", "table")
    ]
    assert 2.75 <= needed[0] - needed[1] <= 4.25


def test_the_choice_is_of_ofdm_only():
    for rate in (10, 20, 55, 110):
        assert error_rates.lambda_q40(rate, "table") == error_rates.lambda_q40(rate, "nist")


@pytest.mark.parametrize("rate", RATES)
def test_bit_error_rates_stay_between_zero_and_a_half(rate):
    rates = error_rates.bit_error_rate(rate, np.linspace(-100, 100, 2001))
    assert np.isfinite(rates).all()
    assert (rates >= 0).all()
    assert (rates <= 0.5).all()


def test_faster_rates_of_one_modulation_need_more():
    for rates in ((10, 20), (55, 110), (60, 90, 120, 180, 240, 360, 480, 540)):
        needed = [np.argmax(np.array(error_rates.lambda_q40(rate)) * 8000 < 0.1 * 2**40) for rate in rates]
        assert needed == sorted(set(needed))


def test_dbpsk_is_its_closed_form():
    assert error_rates.bit_error_rate(10, np.array([-10.0]))[0] == pytest.approx(0.5 * math.exp(-2.2))


def test_dqpsk_is_what_a_differential_receiver_gets():
    """Against a simulated receiver: the phase between two noisy symbols, rounded to a quarter turn."""
    noise = np.random.default_rng(1).normal(size=(4, 2_000_000))
    for g in (1.0, 3.0):  # Eb/N0; a symbol has two bits, and N0 / 2 in each component
        deviation = math.sqrt(1 / (4 * g))
        before, after = (1 + deviation * (noise[i] + 1j * noise[i + 1]) for i in (0, 2))
        turn = after * before.conj() * np.exp(0.25j * np.pi)  # Gray: one bit is the sign of each component
        wrong = ((turn.real < 0).mean() + (turn.imag < 0).mean()) / 2
        assert error_rates.dqpsk(np.array(g * 2e6 / 22e6)) == pytest.approx(wrong, rel=0.02)


def test_dqpsk_approaches_its_asymptote():
    """G. Ferrari and G. E. Corazza, Electronics Letters 40(20), 2004."""
    g, root = 80.0, math.sqrt(2)
    asymptote = (1 + root) / math.sqrt(8 * math.pi * root * g) * math.exp(-(2 - root) * g)
    assert error_rates.dqpsk(np.array(g * 2e6 / 22e6)) == pytest.approx(asymptote, rel=0.01, abs=0)


@pytest.mark.parametrize("period", PUNCTURING)
def test_weight_spectra_follow_from_the_code(period):
    free, step, weights = error_rates.SPECTRA[period]
    distances = [free + step * i for i in range(5)]
    spectrum = wrong_bits(PUNCTURING[period], distances[-1])
    assert np.flatnonzero(spectrum)[0] == free
    assert [int(spectrum[d]) for d in distances] == list(weights[:5])


def wrong_bits(pattern, most):
    """Count wrong bits by distance, on all paths that leave the code's zero state at any step of the pattern and
    return."""
    total = np.zeros(most + 1)
    for start in range(len(pattern)):
        paths, bits = np.zeros((64, most + 1)), np.zeros((64, most + 1))
        for step in itertools.count():
            new_paths, new_bits = np.zeros_like(paths), np.zeros_like(bits)
            for state, bit in [(0, 1)] if step == 0 else itertools.product(range(1, 64), (0, 1)):
                register = bit << 6 | state
                out = [(register & generator).bit_count() & 1 for generator in (0o133, 0o171)]
                d = sum(o for o, sent in zip(out, pattern[(start + step) % len(pattern)], strict=True) if sent)
                old = (np.eye(1, most + 1)[0], np.zeros(most + 1)) if step == 0 else (paths[state], bits[state])
                new_paths[register >> 1, d:] += old[0][: most + 1 - d]
                new_bits[register >> 1, d:] += (old[1] + bit * old[0])[: most + 1 - d]
            paths, bits = new_paths, new_bits
            total += bits[0]
            paths[0] = bits[0] = 0
            if not paths.any():
                break
    return total


@pytest.mark.parametrize(("bits", "words"), [(4, 16), (8, 256)])
def test_cck_words_are_many_and_far_apart(bits, words):
    spectrum = dict(error_rates.cck_spectrum(bits))
    assert min(spectrum) == {4: 16, 8: 8}[bits]
    assert spectrum[32] == 2  # the word turned by half a turn: both bits of the first phase
    assert sum(spectrum.values()) == pytest.approx(words * bits / 2)  # half of all bits differ on average


def test_the_plans_table_names_its_grid():
    table = error_rates.error_table([10, 540], "nist")
    assert table != error_rates.error_table([10, 540], "table")
    assert (table["first_mdb"], table["step_mdb"]) == (-10_000, 250)
    assert set(table["lambda_q40"]) == {"10", "540"}
