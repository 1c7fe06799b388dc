# SPDX-License-Identifier: BSD-3-Clause
"""Aggregates in saturation: Bianchi's model with an A-MPDU as payload, one sender by hand, and ns-3 side by side.

Where nothing but throughput is asked for, `benchmarks/aggregates.c` plays the core, as it does beside ns-3.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dcf import US, Core, Edca, Limits, mutual
from peers import core, peer
from test_modes import BY_HAND, VHT80L
from test_modes import made as mode_of
from test_ppdus import FIRST, FREQ, OFDM
from test_theory import bianchi, refined
from txtime import Mode as Formula
from txtime import txtime_us

from benchmarks.aggregates import Scenario, played
from benchmarks.compare import output

NEAR = 1000
SLOW = Formula("ht", 1, 1, 20, 800)  # 13 Mb/s: four MPDUs take 3.8 ms, beside which a slot weighs little
MPDU = 1460 + 8 + 20 + 8 + 26 + 4
MOST = {"ht": 65_535, "vht": 1_048_575, "he": 6_500_631}


@pytest.fixture(scope="session")
def play() -> Callable[..., float]:
    """MPDUs acknowledged a second in the core, by the options of aggregates.c."""
    return lambda **words: float(output(core("aggregates"), *(f"--{name}={value}" for name, value in words.items())))


def of_bianchi(n: int, rts: bool, ifs: int) -> tuple[int, float, float, float]:
    """SLOW's MPDUs a PPDU; slot, a success and a collision in us: a success takes the PPDU, SIFS, block ACK and IFS."""
    mpdus, sifs = 4, 16
    rts_us, cts, answer = 36, 32, 44  # at 12 Mb/s, the reference rate of QPSK 1/2
    data = float(txtime_us(SLOW, mpdus * (MPDU + 6) - 2))
    request = rts_us if rts else data
    return mpdus, 9, request + (sifs + cts + sifs + data if rts else 0) + sifs + answer + ifs, request + ifs


@pytest.mark.slow
@pytest.mark.parametrize("rts", [False, True], ids=["basic", "rts"])
@pytest.mark.parametrize("n", [2, 5, 10, 20, 50])
def test_bianchi(play: Callable[..., float], n: int, rts: bool) -> None:
    """Saturation throughput within 1.5 % of the model whose counter counts as the access does. That of EDCA, which all
    stations of 802.11n have, counts at each boundary, as Bianchi's. That of the DCF stands while the medium is busy
    (10.3.4.3): test_theory.py's refined model. Nothing else departs from Bianchi's assumptions: there is no EIFS, no
    retry limit ends a backoff stage, and in a collision all frames have one length."""
    words = {
        "format": "ht",
        "mcs": 1,
        "stations": n,
        "mpdus": 4,
        "rts": int(rts),
        "eifs": 0,
        "seconds": 20 if rts else 60,
    }
    mpdus, *edca = of_bianchi(n, rts, 43)
    assert play(**words) == pytest.approx(mpdus * bianchi(n, 16, 6, *edca), rel=0.015)
    _, *dcf = of_bianchi(n, rts, 34)
    got = play(**words, access="dcf")
    assert got == pytest.approx(mpdus * refined(n, 16, 6, *dcf), rel=0.015)
    assert rts or n < 20 or got > 1.015 * mpdus * bianchi(n, 16, 6, *dcf)  # it is the counter that matters


def one_saturated(mode: Formula, mpdus: int, seconds: float, window: int) -> tuple[Core, int]:
    """Station 0 always has more for 1 than one PPDU takes; how many MPDUs were acknowledged."""
    air = Core(mutual(2, {}, NEAR), phy=OFDM, modes=[mode_of(mode)[1]], freq=FREQ, queue=3 * mpdus, edca=True)
    acked = waiting = 0

    def done(station: int, reason: str) -> None:
        nonlocal acked, waiting
        waiting -= 1
        acked += reason == "ACKED"

    air.on_done = done
    air.agree(0, 1, window=window, tries=255, limits=Limits(MOST[mode.format], 5_484_000, mpdus, 0))
    assert air.lib.dcf_set_edca(air.memory, 0, 2, Edca(15, 1023, 0, 3))
    while air.now <= seconds * 1e9:
        while waiting < 2 * mpdus:
            waiting += 1
            air.send_mpdu(0, 1, MPDU, air.now, mode=FIRST, freq=FREQ)
        air.now = air.lib.dcf_next(air.memory)
        air.lib.dcf_run(air.memory, air.now)
    return air, acked


@pytest.mark.slow
@BY_HAND
def test_one_sender(mode: Formula, mpdus: int, us: float, goodput_mbps: float) -> None:
    """Best effort, AIFSN 3, CW 15: each PPDU is full and lasts as by hand; the backoffs have their mean, within four
    standard deviations."""
    air, acked = one_saturated(mode, mpdus, 0.4, 256 if mpdus > 64 else 64)
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
    """How many PPDUs an originator that always sends all of its window needs until this many MPDUs have arrived. Each
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
def test_losses(play: Callable[..., float], p: float, window: int) -> None:
    """The window closes behind what is lost, so that PPDUs are shorter than it: within 2 % of the model, whose time is
    that of all PPDUs' overhead and of all transmissions. That some MPDU of a PPDU arrives, as it assumes, is nearly
    sure here: else no block ACK comes, and CW doubles."""
    mode, mpdus = VHT80L, 200_000
    got = play(format="vht", mcs=9, streams=2, width=80, stations=1, window=window, loss=p, seconds=3)
    overhead = 43 + 67.5 + float(mode.preamble_us) + 2 + 16 + 32  # and half a symbol
    time = rounds(p, window, mpdus) * overhead + mpdus / (1 - p) * 8 * (MPDU + 6) / mode.n_dbps * 4
    assert got == pytest.approx(mpdus / time * 1e6, rel=0.02)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/include/ns3").is_dir(), reason="ns-3 is not installed")
def test_ns3_agrees(play: Callable[..., float]) -> None:
    """Of each format one mode with five saturated stations; and one station, of whose MPDUs a fifth is lost: within
    3 %. `./dcflab bench aggregates` has the whole table."""
    for scenario in (
        Scenario("ht", 7, 20, 5, 8), Scenario("vht", 4, 80, 5, 4), Scenario("he", 5, 80, 5, 2),
        Scenario("he", 11, 80, seconds=1, streams=2, loss=0.2),
    ):  # fmt: skip
        theirs = played(peer("aggregates"), scenario, 1)
        ours = play(**{**scenario._asdict(), "seconds": 5 * scenario.seconds}, rules="ns3")
        assert ours == pytest.approx(theirs, rel=0.03), scenario
