# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates: files, wmediumd's own formula, and the tables of the air that are made of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.wmediumd.inside.formula import Formula
from emulation.lane.errors import Misuse
from emulation.lane.per_tables import Table, parse, read
from emulation.plan.error_rates import FIRST_MDB, STEP_MDB, error_table, measured_q40
from emulation.specification.per import FRAME, of_table, one_curve, sinr_of
from emulation.specification.radio import RATES

ROWS = [(1.0,) * 12, (0.5,) * 11 + (1.0,), (0.01,) * 11 + (0.5,), (0.0,) * 11 + (0.01,)]
TEXT = "# RSSI\n" + "\n".join(f"{-90 + i}\t" + "\t".join(map(str, row)) for i, row in enumerate(ROWS)) + "\n\n"


def lost(rate: int, snr_db: float, table: Table, length: int = FRAME) -> float:
    """The share of frames that the air loses at an SNR that is on its grid."""
    values = measured_q40(rate, of_table(table, "it"))
    return -math.expm1(-8 * length * values[round((snr_db * 1000 - FIRST_MDB) / STEP_MDB)] / 2**40)


def test_a_table_is_read_as_wmediumd_reads_it() -> None:
    table = parse(TEXT)
    assert (table.first_dbm, list(table.rows)) == (-90, ROWS)
    assert [table.error(snr, 0) for snr in (-50, 0.9, 1, 2, 2.9, 3, 4, 5, 50)] == [1, 1, 1, 0.5, 0.5, 0.01, 0, 0, 0]
    assert [table.error(snr, 11) for snr in (1, 2, 3, 4, 5)] == [1, 1, 0.5, 0.01, 0]


def test_the_air_loses_as_many_frames_of_that_length() -> None:
    """And fewer of shorter ones."""
    table = parse(TEXT)
    assert [lost(10, snr, table) for snr in (1, 2, 3, 4, 5)] == pytest.approx([1, 0.5, 0.01, 0, 0], abs=1e-6)
    assert [lost(540, snr, table) for snr in (2, 3, 4, 5)] == pytest.approx([1, 0.5, 0.01, 0], abs=1e-6)
    assert lost(10, 2, table, 100) == pytest.approx(1 - 0.5 ** (100 / FRAME), rel=1e-6)
    assert error_table([10], "nist", of_table(table, "it")) != error_table([10], "nist")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from(RATES))
def test_the_airs_table_never_rises_with_the_sinr(column: list[float], rate: float) -> None:
    values = measured_q40(round(rate * 10), of_table(Table(-95, tuple((error,) * 12 for error in column)), "it"))
    assert list(values) == sorted(values, reverse=True) and min(values) >= 0 and max(values) < 2**40


@pytest.mark.parametrize("loss", [0.0, 0.0001, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_probability_has_a_sinr_at_which_as_much_is_lost(loss: float) -> None:
    """The air's tables have a point each quarter of a dB, with straight lines between the logarithms."""
    sinr = sinr_of(loss)
    assert sinr is not None
    grid = [-10 + 0.25 * i for i in range(201)]
    logs = [math.log(max(value, 1e-9)) for value in measured_q40(540, one_curve())]
    below = max(i for i, at in enumerate(grid) if at <= sinr)
    found = logs[below] + (logs[below + 1] - logs[below]) * (sinr - grid[below]) / 0.25
    assert -math.expm1(-8 * FRAME * math.exp(found) / 2**40) == pytest.approx(loss, rel=0.01, abs=1e-6)


def test_what_is_lost_always_is_not_heard() -> None:
    assert sinr_of(1.0) is None


@given(st.one_of(st.floats(-20, 40), st.floats(-1e10, 1e10)), st.integers(0, 11), st.integers(1, 2000))
def test_the_formula_gives_probabilities(snr: float, rate: int, length: int) -> None:
    found = Formula().error(snr, rate, length)
    assert 0 <= found <= 1
    assert Formula().error(snr + 1, rate, length) <= found + 1e-12
    assert found <= Formula().error(snr, rate, length + 100) + 1e-12


def test_the_formula_knows_bpsk() -> None:
    """p = Q(sqrt(2 SNR)). Where errors are rare, the code's 11 paths at distance 10 and its 38 at distance 12 make
    nearly all of them, at each of 800 bits."""

    def closer(p: float, d: int) -> float:
        return sum(
            math.comb(d, k) * p**k * (1 - p) ** (d - k) * (0.5 if 2 * k == d else 1) for k in range(d // 2, d + 1)
        )

    p = 0.5 * math.erfc(math.sqrt(10**0.5))
    assert Formula().error(5.0, 4, 100) == pytest.approx(800 * (11 * closer(p, 10) + 38 * closer(p, 12)), rel=0.02)


HALF_DB = (2.44, 2.44, 2.44, 5.42, 2.44, 5.32, 5.42, 8.33, 11.73, 14.98, 19.62, 20.89)


@pytest.mark.parametrize(("rate", "snr"), [*enumerate(HALF_DB)])
def test_half_of_long_frames_are_lost_where_wmediumd_loses_them(rate: int, snr: float) -> None:
    """With 1400 bytes, by wmediumd's own computation in C. Measured at wmediumd 0.3.1: 2.5 dB at 6 Mb/s, 5.5 at 12,
    12 at 24, 15 at 36, 21 at 54."""
    assert Formula().error(snr - 0.01, rate, 1400) > 0.5 > Formula().error(snr + 0.01, rate, 1400)


def test_nothing_arrives_at_the_power_of_the_noise() -> None:
    assert Formula().error(0.0, 0, 24) == 1 > Formula().error(0.1, 0, 24)


def test_a_table_may_be_named_without_its_ax(tmp_path: Path) -> None:
    (tmp_path / "signal_table_ieee80211ax").write_text(TEXT)
    assert read(str(tmp_path / "signal_table_ieee80211")) == parse(TEXT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it:1: there is no row: a power in dBm and 12 packet error rates"),
        ("-90 1 1", "it:1: a row has a power in dBm and 12 packet error rates, not 2 rates"),
        ("# x\n-90 a" + " 1" * 11, "it:2: a power in dBm and 12 packet error rates must be numbers, not '-90 a"),
        ("-90" + " 2" * 12, "it:1: a packet error rate is between 0 and 1"),
        ("-90.5" + " 1" * 12, "it:1: a power is in whole dBm, not -90.5"),
        ("-90" + " 1" * 12 + "\n-88" + " 1" * 12, "it:2: after -90 dBm comes -89, not -88"),
    ],
)
def test_a_broken_table_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse(text, "it")
    assert str(refused.value).startswith(said)


@given(st.text(alphabet="0123456789.-e# \n\t", max_size=80))
def test_any_table_is_read_or_refused(text: str) -> None:
    try:
        parse(text, "it")
    except Misuse as error:
        assert str(error).startswith("it:")
