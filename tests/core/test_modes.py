# SPDX-License-Identifier: BSD-3-Clause
"""Modes of 802.11n, ac and ax: how long each PPDU takes, and which modes are invalid."""

from __future__ import annotations

import subprocess
from fractions import Fraction as F
from itertools import product
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from dcf import FORMATS, Mode, TxVector, library
from hypothesis import given
from hypothesis import strategies as st
from peers import peer
from properties import examples
from txtime import N_LTF, all_modes, txtime_us
from txtime import Mode as Formula

from analysis.traces import modes
from emulation.specification.modes import LTF, refuse_link, refuse_mode

LETTER = {"ht": "n", "vht": "ac", "he": "ax"}


def made(m: Formula) -> tuple[int, Mode]:
    """Return the core's mode, or why it is invalid."""
    mode = Mode()
    vector = TxVector(FORMATS.index(m.format), m.mcs, m.streams, m.ltf, m.width, m.guard_ns, m.ldpc, m.padding_us)
    return library().mode_make(mode, vector), mode


def ns(m: Formula, length: int) -> int:
    refused, mode = made(m)
    assert not refused
    return int(library().mode_txtime_ns(mode, length, False))


HT20, HT40 = (Formula("ht", 7, 2, width, 400) for width in (20, 40))
VHT80L, VHT80S = (Formula("vht", 9, 2, 80, guard) for guard in (800, 400))
HE80 = Formula("he", 11, 2, 80, 800, 2, ldpc=True)
MPDU = 1460 + 8 + 20 + 8 + 26 + 4  # UDP payload and header, IP, LLC/SNAP, QoS header, FCS
SUBFRAME = 4 + MPDU + 2  # delimiter and padding
BY_HAND = pytest.mark.parametrize(
    ("mode", "mpdus", "us", "goodput_mbps"),
    [
        (HT20, 42, 3604, 130.4), (HT40, 42, 1760, 255.7), (VHT80L, 64, 1052, 617.5), (VHT80S, 64, 952, 673.1),
        (HE80, 64, 716.8, 854.0), (HE80, 256, 2675.2, 1052.2),
    ],
    ids=["ht20", "ht40", "vht80", "vht80-sgi", "he80", "he80-256"],
)  # fmt: skip


@BY_HAND
def test_aggregates_by_hand(mode: Formula, mpdus: int, us: float, goodput_mbps: float) -> None:
    """Saturated UDP by one sender in best effort: AIFSN 3, CW 15, block ACK at 24 Mb/s, 64 or 256 frames."""
    length = mpdus * SUBFRAME - 2
    assert ns(mode, length) == us * 1000
    bits = 16 + 8 * length + (0 if mode.ldpc else 6 * mode.n_es)
    symbols = ceil(ceil(bits / mode.n_dbps) * mode.symbol_us / 4) * 4 if mode.format != "he" else None
    assert symbols is None or mode.preamble_us + symbols == us
    cycle = 16 + 3 * 9 + 7.5 * 9 + us + 16 + (32 if mpdus <= 64 else 40)
    assert round(8 * 1460 * mpdus / cycle, 1) == goodput_mbps


@given(st.sampled_from(all_modes()), st.integers(1, 12_000) | st.integers(1, 6_500_631), st.sampled_from([0, 8, 16]))
@examples(500)
def test_each_mode_against_the_formulas(mode: Formula, length: int, padding_us: int) -> None:
    if mode.format == "he":
        mode = Formula(**{**vars(mode), "padding_us": padding_us})
    assert ns(mode, length) == min(txtime_us(mode, length) * 1000, 2**32 - 1)


@pytest.mark.slow
def test_the_taps_have_the_same_durations() -> None:
    """The taps compute it independently, from the mode's number in the trace."""
    for formula in all_modes():
        _, mode = made(formula)
        lengths = np.array([1, 14, 32, 1530, 4000, 30_001, 65_535, 1_048_575])
        theirs = modes.ppdu_ns(np.full(lengths.size, mode.code), lengths)
        assert theirs.tolist() == [int(txtime_us(formula, length) * 1000) for length in lengths.tolist()], formula
        assert modes.Modes.of(np.array([mode.code])).rate.tolist() == [mode.rate]


@pytest.mark.parametrize("lengths", [range(1, 200, 11), range(1500, 1600, 17), (65_535, 262_143, 1_048_575)], ids=str)
@pytest.mark.slow
def test_all_modes_against_the_formulas(lengths: range) -> None:
    for mode in all_modes():
        for length in lengths:
            assert ns(mode, length) == txtime_us(mode, length) * 1000, (mode, length)


def test_ldpc_takes_another_symbol_at_times() -> None:
    """19.3.11.7.5, by hand: 40 bytes at MCS 0, 20 MHz. 336 bits of payload fill 13 symbols of 52 coded bits, 676. One
    code word of 1296 bits has 648 data bits, of which 312 are left out; of the 648 parity bits 308 find no room, and
    that is more than 0.3 of them."""
    ldpc = Formula("ht", 0, 1, 20, 800, ldpc=True)
    assert ns(ldpc, 40) == (36 + 4 * 14) * 1000
    assert txtime_us(ldpc, 40, ldpc_extra=False) == 36 + 4 * 13


@pytest.mark.parametrize(
    ("mode", "mbps"),
    [  # IEEE 802.11-2020, tables of 19.5 and 21.5; 802.11ax-2021, 27.5
        (Formula("ht", 0, 1, 20, 800), 6.5), (Formula("ht", 7, 2, 20, 400), 144.4), (Formula("ht", 7, 4, 40, 400), 600),
        (Formula("vht", 8, 1, 20, 400), 86.7), (Formula("vht", 9, 3, 20, 800), 260),
        (Formula("vht", 9, 2, 80, 400), 866.7), (Formula("vht", 9, 4, 160, 400), 3466.7),
        (Formula("he", 0, 1, 20, 3200, 4), 7.3),
        (Formula("he", 11, 2, 80, 800, 2, True), 1201), (Formula("he", 11, 4, 160, 800, 2, True), 4803.9),
    ],
)  # fmt: skip
def test_rates(mode: Formula, mbps: float) -> None:
    assert made(mode)[1].rate == pytest.approx(10 * mbps, abs=0.5)


def test_packet_extension() -> None:
    """27.3.13: the receiver gets a quarter of a symbol or more after the last bit."""
    full, last = 234 // 2, 60 // 2  # data bits of a symbol at MCS 0, 20 MHz, and of its quarter
    for a, wanted in ((1, (0, 4)), (2, (0, 8)), (3, (4, 12)), (4, (8, 16))):
        bits = 10 * full + (a - 1) * last + 8
        length = ceil((bits - 22) / 8)
        usual = ns(Formula("he", 0, 1, 20, 800, 2), length)
        for padding, more in zip((8, 16), wanted, strict=True):
            assert ns(Formula("he", 0, 1, 20, 800, 2, padding_us=padding), length) == usual + more * 1000


REQUESTS = product(
    LETTER, range(-1, 13), range(6), (10, 20, 40, 80, 160), (400, 800, 1600, 3200), (False, True), range(5), (0, 9)
)


@pytest.mark.slow
def test_core_and_specification_refuse_the_same() -> None:
    there = {Formula(**{**vars(mode), "padding_us": 0}) for mode in all_modes()}
    seen = set()
    for form, mcs, streams, width, guard, ldpc, ltf, padding in REQUESTS:
        if mcs < 0:
            continue
        mode = Formula(form, mcs, streams, width, guard, ltf, ldpc, padding)
        refused = made(mode)[0]
        said = refuse_mode(LETTER[form], mcs, streams, width, guard, ldpc=ldpc, ltf=ltf, padding_us=padding)
        assert bool(refused) == bool(said), mode
        if not refused and not padding:
            seen.add(mode)
        assert said is None or (said[0].isalnum() and len(said.split()) <= 25)
    assert seen == there


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (refuse_mode("ac", 9, 1, 20, 400, ldpc=False),
         "802.11ac has no MCS 9 for one stream at 20 MHz (IEEE 802.11-2020, 21.5)"),
        (refuse_mode("n", 15, 2, 20, 400, ldpc=False),
         "802.11n has MCS 0 to 7 for each number of streams, not 15"),
        (refuse_mode("n", 7, 1, 80, 400, ldpc=False), "802.11n is 20 or 40 MHz wide, not 80"),
        (refuse_mode("ax", 11, 1, 80, 400, ldpc=True), "the guard interval of 802.11ax is 0.8, 1.6 or 3.2 us, not 0.4"),
        (refuse_link("ax", "adhoc", 5, 36, 20),
         "an independent BSS cannot be of 802.11ax: mac80211 has HE for access points, their stations and meshes"),
        (refuse_link("ac", "mesh", 2, 6, 20), "802.11ac is at 5 GHz only, and channel 6 is at 2.4"),
        (refuse_link("ac", "infrastructure", 5, 36, 160),
         "160 MHz around channel 36 take channels 36 to 64, and from 52 on they need radar detection, which is not "
         "modelled"),
        (refuse_link("ac", "infrastructure", 5, 100, 160), "channel 100 is in no block of 160 MHz"),
        (refuse_link("n", "mesh", 5, 165, 40), "channel 165 is in no block of 40 MHz"),
        (refuse_link("ax", "mesh", 2, 6, 80), "there are no 80 MHz at 2.4 GHz"),
    ],
)  # fmt: skip
def test_refusals_are_sentences(refusal: str | None, sentence: str) -> None:
    assert refusal == sentence


@pytest.mark.parametrize(
    ("mode", "channel", "width"), [("n", 48, 40), ("ac", 161, 80), ("ax", 36, 80), ("ac", 149, 160), ("n", 1, 20)]
)
def test_what_there_is_is_not_refused(mode: str, channel: int, width: int) -> None:
    assert refuse_link(mode, "infrastructure", 5 if channel > 14 else 2, channel, width) is None
    assert all(
        refuse_mode("ax", 5, 1, 20, guard, ldpc=True, ltf=size) is None
        for guard, sizes in LTF.items()
        for size in sizes
    )


def departed_us(mode: Formula, length: int) -> F:
    """Return ns-3.37's duration. Its VHT-SIG-B takes no time, a short guard interval is not rounded up, HE-LTFs are 8
    us each, and everything has a tail as for BCC: no extra symbol of LDPC, and no packet extension."""
    symbols = ceil(F(16 + 8 * length + 6 * mode.n_es, mode.n_dbps)) * mode.symbol_us
    if mode.format == "he":
        return 36 + 8 * N_LTF[mode.streams] + symbols
    return mode.preamble_us - (4 if mode.format == "vht" else 0) + symbols


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_ns3_agrees_but_for_what_it_leaves_out(tmp_path: Path) -> None:
    modes = {m for m in all_modes() if not m.ldpc or m.format == "he"}
    asked = [(m, length) for m in sorted(modes, key=str) for length in (40, 1530, 15_000, 65_000)]
    lines = [f"{m.format} {m.mcs} {m.streams} {m.width} {m.guard_ns} {length}" for m, length in asked]
    (tmp_path / "ppdus").write_text("\n".join(lines))
    with (tmp_path / "ppdus").open() as ppdus:
        ran = subprocess.run([peer("txtime")], stdin=ppdus, check=True, capture_output=True, text=True)
    wrong = [
        (m, length, int(ns3) / 1000, float(departed_us(m, length)))
        for (m, length), ns3 in zip(asked, ran.stdout.split(), strict=True) if int(ns3) != departed_us(m, length) * 1000
    ]  # fmt: skip
    assert wrong == []
