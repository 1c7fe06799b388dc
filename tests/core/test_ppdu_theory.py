# SPDX-License-Identifier: BSD-3-Clause
"""Aggregates in saturation: Bianchi's model with an A-MPDU as payload, one sender by hand, and ns-3 side by side."""

from __future__ import annotations

import ctypes as c
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dcf import US, Core, Edca, Errors, Limits, Phy, mutual
from test_modes import BY_HAND, VHT80L
from test_modes import made as mode_of
from test_ppdus import FIRST, FREQ, OFDM
from test_theory import bianchi
from txtime import Mode as Formula
from txtime import txtime_us

from benchmarks.compare import build_peer, output

NEAR = 1000
SLOW = Formula("ht", 1, 1, 20, 800)  # 13 Mb/s: four MPDUs take 3.8 ms, beside which a slot weighs little
MPDU = 1460 + 8 + 20 + 8 + 26 + 4
MOST = {"ht": 65_535, "vht": 1_048_575, "he": 6_500_631}


def saturated(n: int, mode: Formula, mpdus: int, seconds: float, *, rts: bool = False, window: int = 64,
              phy: Phy = OFDM, loop: bool = True, curves: dict[int, Errors] | None = None,
              **options: Any) -> tuple[Core, int]:  # fmt: skip
    """Each of n stations always has more for the next than one PPDU takes; how many MPDUs were acknowledged."""
    air = Core(mutual(n, {}, NEAR), phy=phy, modes=[mode_of(mode)[1]], freq=FREQ, queue=3 * mpdus, **options)
    for curve, errors in (curves or {}).items():
        assert air.lib.dcf_set_curve(air.memory, curve, errors)
    acked, senders = 0, range(n) if loop else range(1)
    waiting = dict.fromkeys(senders, 0)

    def done(station: int, reason: str) -> None:
        nonlocal acked
        waiting[station] -= 1
        acked += reason == "ACKED"

    air.on_done = done
    for station in senders:
        air.agree(
            station, (station + 1) % n, window=window, tries=255, limits=Limits(MOST[mode.format], 5_484_000, mpdus, 0)
        )
        if options.get("edca"):
            assert air.lib.dcf_set_edca(air.memory, station, 2, Edca(15, 1023, 0, 3))
    while air.now <= seconds * 1e9:
        for station in senders:
            while waiting[station] < 2 * mpdus:
                waiting[station] += 1
                air.send_mpdu(station, (station + 1) % n, MPDU, air.now, mode=FIRST, freq=FREQ, rts=rts)
        air.now = air.lib.dcf_next(air.memory)
        air.lib.dcf_run(air.memory, air.now)
    return air, acked


@pytest.mark.slow
@pytest.mark.parametrize("rts", [False, True], ids=["basic", "rts"])
@pytest.mark.parametrize("n", [2, 5, 10, 20, 50])
def test_bianchi(n: int, rts: bool) -> None:
    """Saturation throughput within 1.5 %: a success takes the PPDU, a SIFS, the block ACK and AIFS. With EDCA, which
    all stations of 802.11n have, a slot counts as the model has it (test_theory.py: the slot after a busy period)."""
    mpdus, seconds, sifs, aifs = 4, 60, 16, 43
    rts_us, cts, answer = 36, 32, 44  # at 12 Mb/s, the reference rate of QPSK 1/2
    data = float(txtime_us(SLOW, mpdus * (MPDU + 6) - 2))
    _, acked = saturated(n, SLOW, mpdus, seconds, rts=rts, edca=True, eifs=0, short=255, long=255, trace=False)
    request = rts_us if rts else data
    success = request + (sifs + cts + sifs + data if rts else 0) + sifs + answer + aifs
    model = bianchi(n, 16, 6, 9, success, request + aifs)
    assert acked / seconds == pytest.approx(mpdus * model, rel=0.015)


@pytest.mark.slow
@BY_HAND
def test_one_sender(mode: Formula, mpdus: int, us: float, goodput_mbps: float) -> None:
    """Best effort, AIFSN 3, CW 15: each PPDU is full and lasts as by hand; the backoffs have their mean, within four
    standard deviations."""
    air, acked = saturated(2, mode, mpdus, 0.4, edca=True, loop=False, window=256 if mpdus > 64 else 64)
    data = [t for t in air.tx if t.station == 0]
    answers = [t for t in air.tx if t.station == 1]
    answer = 32 if mpdus <= 64 else 40
    assert {t.end - t.start for t in data} == {us * US} and {t.end - t.start for t in answers} == {answer * US}
    assert all(b.start == a.end + 16 * US for a, b in zip(data, answers, strict=False))
    backoffs = [(b.start - a.end) / US - 43 for a, b in zip(answers, data[1:], strict=False)]
    assert all(t / 9 in range(16) for t in backoffs)
    mean = sum(backoffs) / len(backoffs)
    assert abs(mean - 67.5) < 4 * 9 * (255 / 12) ** 0.5 / len(backoffs) ** 0.5
    cycle = 43 + us + 16 + answer
    assert 8 * 1460 * mpdus / (cycle + mean) == pytest.approx(8 * 1460 * acked / air.now * 1000, rel=0.02)
    assert round(8 * 1460 * mpdus / (cycle + 67.5), 1) == goodput_mbps


def rounds(p: float, window: int, mpdus: int) -> float:
    """How many PPDUs an originator that always sends all of its window needs until so many MPDUs have come. Each
    is lost with probability p. An MPDU enters when all that lie a window before it have gone; then it takes a
    geometric number of PPDUs."""
    needed = np.random.default_rng(1).geometric(1 - p, mpdus)
    gone = [0] * mpdus  # by then all up to it have been acknowledged
    latest = 0
    for i in range(mpdus):
        entered = gone[i - window] if i >= window else 0
        latest = max(latest, entered + int(needed[i]))
        gone[i] = latest
    return latest


@pytest.mark.slow
@pytest.mark.parametrize(("p", "window"), [(0.05, 16), (0.2, 16), (0.05, 64), (0.2, 64), (0.5, 64)])
def test_losses(p: float, window: int) -> None:
    """The window closes behind what is lost, so that PPDUs are shorter than it: within 2 % of the model, whose time is
    that of all PPDUs' overhead and of all transmissions. That some MPDU of a PPDU arrives, as it assumes, is nearly
    sure here: else no block ACK comes, and CW doubles."""
    mode, seconds = VHT80L, 3.0
    bits = 8 * (MPDU + 4)
    errors = Errors(-10_000, 50_000, 2, (c.c_uint64 * 256)(*[round(-log(1 - p) / bits * 2**40)] * 2))
    air, acked = saturated(2, mode, 64, seconds, window=window, edca=True, loop=False, reception=1, trace=False,
                           curves={12 + mode.mcs: errors})  # fmt: skip
    mpdus = 200_000
    overhead = 43 + 67.5 + float(mode.preamble_us) + 2 + 16 + 32  # and half a symbol
    time = rounds(p, window, mpdus) * overhead + mpdus / (1 - p) * 8 * (MPDU + 6) / mode.n_dbps * 4
    assert acked / seconds == pytest.approx(mpdus / time * 1e6, rel=0.02)
    assert acked > 1000 and air.now >= seconds * 1e9


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_ns3_agrees(tmp_path: Path) -> None:
    """Five saturated stations, MPDUs of 1526 bytes, of each format one mode: within 3 %. One run of ns-3 of 16 s is as
    far as that from another, so it is the mean of three."""
    peer, seconds = build_peer(tmp_path, "aggregates"), 16
    he = Formula("he", 3, 1, 40, 800, 2, ldpc=True)
    for mode in (Formula("ht", 7, 1, 20, 800), Formula("vht", 1, 1, 80, 800), he):
        _, acked = saturated(5, mode, 64, seconds, edca=True, reception=1, trace=False)
        interval = round(5 * 8 * MPDU / float(mode.n_dbps / mode.symbol_us) * 1000 / 2)
        words = {"format": mode.format, "mcs": mode.mcs, "width": mode.width, "interval": interval, "seconds": seconds}
        options = [f"--{name}={value}" for name, value in words.items()]
        theirs = [float(output(peer, *options, f"--seed={seed}")) for seed in (1, 2, 3)]
        assert acked / seconds == pytest.approx(sum(theirs) / 3, rel=0.03), (mode, theirs)
