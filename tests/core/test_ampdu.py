# SPDX-License-Identifier: BSD-3-Clause
"""A-MPDUs: where each MPDU lies, what lies between, and how many fit."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

import pytest
from dcf import Ampdu, Limits, Mode, library
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from test_modes import HE80, HT20, VHT80S, made
from txtime import Mode as Formula
from txtime import all_modes, txtime_us

FREE = Limits(6_500_631, 5_484_000, 256, 0)


def laid_out(mode: Formula, lengths: list[int], spacing_ns: int) -> list[int]:
    """Each MPDU's offset, its delimiter first, one subframe after the other: 9.7, 10.12.3."""
    offsets, at = [], 0
    for length in lengths:
        at += -at % 4
        while offsets and (at - offsets[-1]) * 8 * mode.symbol_us * 1000 < spacing_ns * mode.n_dbps:
            at += 4  # a delimiter of no MPDU
        offsets.append(at)
        at += 4 + length
    return offsets


def filled(mode: Mode, lengths: list[int], spacing_ns: int) -> list[Ampdu]:
    """Return the core's A-MPDU after each MPDU."""
    found = [Ampdu()]
    for length in lengths:
        found.append(library().ampdu_with(found[-1], mode, spacing_ns, length))
    return found[1:]


lengths = st.lists(st.integers(30, 11_454), min_size=1, max_size=40)
spacings = st.sampled_from([0, 250, 500, 1000, 2000, 4000, 8000, 16_000])


@given(st.sampled_from(all_modes()), lengths | st.lists(st.integers(30, 300), min_size=1, max_size=40), spacings)
@examples(300)
def test_layout(mode: Formula, lengths: list[int], spacing_ns: int) -> None:
    core = made(mode)[1]
    ours = filled(core, lengths, spacing_ns)
    offsets = laid_out(mode, lengths, spacing_ns)
    assert [a.start for a in ours] == offsets
    assert [a.len for a in ours] == [at + 4 + length for at, length in zip(offsets, lengths, strict=True)]
    for a, b in pairwise(offsets):
        assert a % 4 == b % 4 == 0
        assert 8 * (b - a) * mode.symbol_us * 1000 >= spacing_ns * mode.n_dbps
    alone = library().ampdu_psdu_len(ours[0], core)
    assert alone == lengths[0] + (0 if mode.format == "ht" else 4)


@given(st.sampled_from(all_modes()), lengths, spacings, st.integers(1, 40), st.integers(100, 7_000_000),
       st.integers(40_000, 5_484_000), st.integers(40_000, 5_484_000))  # fmt: skip
@examples(300)
def test_limits(
    mode: Formula, lengths: list[int], spacing_ns: int, mpdus: int, most: int, ppdu: int, txop: int
) -> None:
    """As many MPDUs fit as the smallest of the limits on number, bytes and time allows; nothing else keeps one out."""
    core = made(mode)[1]
    limits = Limits(most, ppdu, mpdus, spacing_ns)
    for a in filled(core, lengths, spacing_ns):
        psdu = a.len - 4 if a.n == 1 and mode.format == "ht" else a.len
        time = txtime_us(mode, psdu) * 1000
        wanted = a.n <= mpdus and a.len <= most and time <= min(ppdu, txop)
        assert library().ampdu_fits(a, core, limits, txop) == wanted


@pytest.mark.parametrize(
    ("mode", "spacing_ns", "small", "apart"),
    [  # TCP ACKs of 76 bytes and 26 of QoS header, HT20 at 144.4 Mb/s: 8 us are 144.4 bytes
        (HT20, 8000, 102, 148), (HT20, 4000, 102, 108), (HT20, 0, 102, 108),
        (VHT80S, 8000, 102, 868), (HE80, 16_000, 102, 2404),
    ],
)  # fmt: skip
def test_start_spacing_by_hand(mode: Formula, spacing_ns: int, small: int, apart: int) -> None:
    first, second = filled(made(mode)[1], [small, small], spacing_ns)
    assert second.start - first.start == apart
    assert apart >= ceil(spacing_ns / 1000 * float(mode.n_dbps / mode.symbol_us) / 8)


@pytest.mark.parametrize(
    ("mode", "limit", "mpdus"), [(HT20, 65_535, 42), (VHT80S, 1_048_575, 256), (HE80, 6_500_631, 256)]
)
def test_how_many_full_frames_fit(mode: Formula, limit: int, mpdus: int) -> None:
    """1526 bytes each; of HT 65,535 bytes are 42 of them."""
    core = made(mode)[1]
    fitting = [
        a.n
        for a in filled(core, [1526] * 300, 0)
        if library().ampdu_fits(a, core, Limits(limit, 5_484_000, 256, 0), 10**9)
    ]
    assert fitting == list(range(1, mpdus + 1))
