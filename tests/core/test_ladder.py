# SPDX-License-Identifier: BSD-3-Clause
"""The rate control for HE: which MCS it uses over channels on which each MCS has an error rate of its own."""

from __future__ import annotations

import ctypes as c
from random import Random

import pytest
from dcf import library

LIB = library()
STEPS, ALL = 12, 4096
RATES = (3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50)
MPDUS = 32


class Ladder(c.Structure):
    _fields_ = [("share", c.c_uint16 * STEPS), ("best", c.c_uint8), ("mcs", c.c_uint8), ("since", c.c_uint8)]


for name, arguments in (
    ("ladder_begin", [c.POINTER(Ladder)]),
    ("ladder_sent", [c.POINTER(Ladder), c.c_uint8, c.c_uint16, c.c_uint16]),
):
    getattr(LIB, name).argtypes, getattr(LIB, name).restype = arguments, None


def play(ladder: Ladder, share: list[float], random: Random, ppdus: int, collide: float = 0.0) -> tuple[float, float]:
    """Send PPDUs. Returns what came through, as a part of what the best MCS would bring, and how many PPDUs were sent
    at that MCS or beside it."""
    best = max(range(STEPS), key=lambda mcs: RATES[mcs] * share[mcs])
    came = near = 0.0
    for _ in range(ppdus):
        mcs = ladder.mcs
        lost = random.random() < collide
        acked = 0 if lost else sum(random.random() < share[mcs] for _ in range(MPDUS))
        came += RATES[mcs] * acked / MPDUS
        near += abs(mcs - best) <= 1
        LIB.ladder_sent(ladder, mcs, MPDUS, acked)
    return came / ppdus / (RATES[best] * share[best] * (1 - collide)), near / ppdus


def steep(top: int, at_top: float = 1.0) -> list[float]:
    """Below one MCS all is well, and above it nothing."""
    return [1.0] * top + [at_top] + [0.0] * (STEPS - 1 - top)


@pytest.fixture
def ladder() -> Ladder:
    made = Ladder()
    LIB.ladder_begin(made)
    return made


def test_it_begins_at_the_bottom_and_soon_uses_the_best(ladder: Ladder) -> None:
    assert ladder.mcs == 0
    play(ladder, steep(STEPS - 1), Random(1), STEPS)
    assert ladder.mcs == STEPS - 1


@pytest.mark.parametrize("top", range(STEPS))
def test_it_finds_the_best(ladder: Ladder, top: int) -> None:
    play(ladder, steep(top, 0.97), Random(top), 100)
    came, near = play(ladder, steep(top, 0.97), Random(top), 2000)
    assert came > 0.96 and near > 0.99


@pytest.mark.parametrize(("collide", "least"), [(0.1, 0.95), (0.3, 0.85)])
@pytest.mark.parametrize("top", [2, 6, 11])
def test_collisions_do_not_bring_it_down(ladder: Ladder, top: int, collide: float, least: float) -> None:
    play(ladder, steep(top), Random(top), 100, collide)
    came, _ = play(ladder, steep(top), Random(top), 5000, collide)
    assert came > least


def test_it_follows_a_station_that_moves(ladder: Ladder) -> None:
    """Away within a few PPDUs, and back within a few hundred."""
    play(ladder, steep(9), Random(1), 500)
    play(ladder, steep(3), Random(2), 40)
    assert play(ladder, steep(3), Random(3), 100)[0] > 0.9
    play(ladder, steep(9), Random(4), 800)
    assert play(ladder, steep(9), Random(5), 500)[0] > 0.9
