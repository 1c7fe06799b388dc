# SPDX-License-Identifier: BSD-3-Clause
"""Moving stations: power and delay are those of the propagation model when a transmission begins; and the cost depends
on the neighbours, not on all stations."""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from dcf import US, Core, Point, Reach, Table, tcp
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from emulation.lane.air import attowatts
from emulation.plan.distance import table
from emulation.specification.propagation import Disc, FreeSpace, LogDistance, Propagation, TwoRayGround, delay_ns

GROUP = b"\xff" * 6
S = 1_000_000  # us
FLOOR_DBM = -90.0
MODELS = (TwoRayGround(), FreeSpace(), LogDistance(), LogDistance(exponent=6.0), Disc())
DISC_AW = attowatts(20_000)


@cache
def planned(model: Propagation, stronger_db: tuple[float, ...]) -> dict[str, Any]:
    found = table(model, np.array(stronger_db), FLOOR_DBM)
    assert found
    return found.planned


def moving(model: Propagation, ways: list[list[tuple[int, int, int, int]]], *, stronger: tuple[float, ...] = (),
           **options: Any) -> Core:  # fmt: skip
    """Return an air with stations on these paths; all possible receivers get the frames."""
    n = len(ways)
    usual = {"rx": attowatts(-80_000), "cs": attowatts(-80_000), "noise": attowatts(-94_000), "reception": 1}
    air = Core([[0] * n] * n, **{**usual, **options})
    air.by_distance(planned(model, stronger or (0.0,) * n))
    assert all(air.move(station, *way) for station, way in enumerate(ways))
    return air


def here(way: list[tuple[int, int, int, int]], us: float) -> np.ndarray[Any, Any]:
    """Return positions in metres, in floating point."""
    times = [at for at, *_ in way]
    return np.array([np.interp(us, times, [point[i] for point in way]) for i in (1, 2, 3)]) / 1000


def test_a_station_that_leaves_the_disc_is_heard_up_to_its_edge() -> None:
    """At 1000 m/s it moves a millimetre each microsecond; after one second it is on the edge."""
    way = [(0, 249_000, 0, 0), (2 * S, 251_000, 0, 0)]
    for at, heard in ((S * US, True), (S * US + 124 * US, True), (S * US + 126 * US, False), (2 * S * US, False)):
        air = moving(Disc(), [[(0, 0, 0, 0)], way], rx=DISC_AW, cs=DISC_AW)
        air.send(0, GROUP, tcp(0), at=at)
        air.run(at + 10**7)
        assert air.tx[0].start == at
        assert [(rx.station, rx.start - at) for rx in air.rx] == [(1, 834)] * heard, at


def test_the_power_and_the_delay_of_an_instant() -> None:
    """A frame begins at the start, halfway and after the end of a leg, and 50 us later over the same link."""
    way = [(S, 100_000, 0, 0), (3 * S, 300_000, 0, 0)]
    for at_us, metres in ((S // 2, 100), (S, 100), (2 * S, 200), (2 * S + S // 2, 250), (3 * S, 300), (9 * S, 300)):
        air = moving(TwoRayGround(), [[(0, 0, 0, 0)], way])
        air.send(0, GROUP, tcp(0), at=at_us * US)
        air.run(at_us * US + 10**7)
        (rx,) = air.rx
        assert rx.start == at_us * US + round(metres / 0.299792458)
        assert abs(rx.power_mdbm - 1000 * TwoRayGround().received_dbm(np.array([float(metres)]))[0]) < 2


@given(st.integers(0, 2**32), st.sampled_from(MODELS), st.booleans())
@examples(60)
def test_every_transmission_is_heard_as_the_formula_says(seed: int, model: Propagation, own_power: bool) -> None:
    """Within 0.01 dB and a nanosecond; stations that hear it are within the same of a threshold, or on the right side
    of it."""
    random, n = Random(seed), 6
    side = 1000 * random.choice([60, 400, 900, 20_000_000 // 1000])
    ways = [walk(random, side) for _ in range(n)]
    stronger = tuple(random.choice([0.0, -3.0, 7.5]) if own_power else 0.0 for _ in range(n))
    air = moving(model, ways, stronger=stronger, rx=attowatts(-82_000), cs=attowatts(-82_000), seed=seed)
    for number in range(40):
        air.send(random.randrange(n), GROUP, tcp(100), at=(number + 1) * 250_000 * US)
    air.run(60 * S * US)
    heard = {(rx.id, rx.station): rx for rx in air.rx}
    assert len(air.tx) == 40
    ends = [(rx.start + air.tx[rx.id - 1].end - air.tx[rx.id - 1].start) for rx in air.rx]
    assert ends == sorted(ends)  # nearest first
    for tx in air.tx:
        for station in range(n):
            metres = float(np.linalg.norm(here(ways[tx.station], tx.start / US) - here(ways[station], tx.start / US)))
            if station == tx.station or metres < 1:  # a millimetre in a metre is 0.01 dB
                continue
            dbm = float(model.received_dbm(np.array([metres]))[0]) + stronger[tx.station]
            rx = heard.get((tx.id, station))
            if rx is None:
                on_edge = isinstance(model, Disc) and metres > model.radius_m - 0.002
                assert dbm < -82 + 0.01 or on_edge, (metres, dbm)
                continue
            if not (isinstance(model, Disc) and abs(metres - model.radius_m) < 0.002):
                assert abs(rx.power_mdbm / 1000 - dbm) <= 0.01, (metres, dbm)
            assert abs(rx.start - tx.start - metres / 0.299792458) <= 1


def walk(random: Random, side: int) -> list[tuple[int, int, int, int]]:
    """One leg or ten, over about a second each, some of them pauses, anywhere around the origin."""
    at, way = random.randrange(S), []
    x, y, z = (random.randint(-side, side) for _ in range(3))
    for _ in range(random.choice([2, 11])):
        way.append((at, x, y, z))
        at += random.randrange(1, 2 * S)
        if random.random() < 0.8:
            most = (at - way[-1][0]) // 2
            x, y, z = (max(-side, min(side, at_axis + random.randint(-most, most))) for at_axis in (x, y, z))
    return way


def test_pairs_that_stand_keep_the_power_they_were_given() -> None:
    air = Core([[0, 500, 500], [500, 0, 500], [500, 500, 0]], [[7] * 3] * 3, reception=1)
    air.by_distance(planned(Disc(), (0.0,) * 3))
    for station, way in enumerate([[(0, 0, 0, 0)], [(0, 1000, 0, 0)], [(0, 0, 0, 0), (S, 1000, 0, 0)]]):
        assert air.move(station, *way)
    assert [air.link_now(0, j).power_aw for j in range(3)] == [0, 500, DISC_AW]
    assert [air.link_now(2, j).power_aw for j in range(3)] == [DISC_AW, DISC_AW, 0]
    assert (air.link_now(1, 0).delay_ns, air.link_now(1, 2).delay_ns) == (7, 3)
    assert air.move(2)  # its position is unknown: the power that it was given
    assert air.link_now(0, 2).power_aw == 500


def test_who_is_put_elsewhere_while_a_signal_is_on_its_way() -> None:
    """The signal stays as it began; the next one, sent before the first has passed all, has the new places."""
    far = (0, 9_000_000, 0, 0)
    everywhere = Disc(radius_m=9_500.0)
    air = moving(everywhere, [[(0, 0, 0, 0)], [(0, 3000, 0, 0)], [far, (S, 9_000_000, 0, 0)]], rx=DISC_AW, cs=DISC_AW)
    air.send(0, 1, tcp(100), at=100 * US, cts_to_self=True, rate=540)
    air.run(115 * US)
    assert air.move(2, (0, -3000, 0, 0), (S, -3000, 0, 0))
    air.run(10**9)
    cts, data = (tx.id for tx in air.tx[:2])
    came = {(rx.id, rx.station): rx for rx in air.rx}
    first, later = (came[number, 2].start - air.tx[number - 1].start for number in (cts, data))
    assert (first, later) == (30_021, 10)


@pytest.mark.parametrize("speed", [1, 100, 1000])
def test_who_comes_running_is_heard_as_soon_as_it_is_there(speed: int) -> None:
    """After the transmitter has listed its neighbours, a station arrives from just beyond, or both move."""
    us = 2_000 * S // speed
    for fast, slow in ((2, 0), (1, 1)):
        there, here = (252_000, 252_000 - fast * 1_000_000), (0, slow * 1_000_000)
        air = moving(
            Disc(radius_m=200.0), [[(0, x, 0, 0), (us, y, 0, 0)] for x, y in (here, there)], rx=DISC_AW, cs=DISC_AW
        )
        for metres in (2, 50, 51, 51.9, 52.1, 60):
            air.send(0, GROUP, tcp(0), at=int(metres * S * US) // speed)
        air.run(10**12)
        assert [rx.id for rx in air.rx] == [5, 6]


@pytest.mark.slow
def test_work_grows_with_those_around() -> None:
    """Four times the stations on four times the area: each has as many neighbours, and a frame costs as many
    distances."""
    cost = {}
    for n in (50, 200):
        random, side = Random(7), math.sqrt(n) * 150_000
        ways = []
        for _ in range(n):
            x, y, turn = random.uniform(0, side), random.uniform(0, side), random.uniform(0, math.tau)
            there = (x + 100_000 * math.cos(turn), y + 100_000 * math.sin(turn))
            ways.append([(0, int(x), int(y), 0), (20 * S, *map(int, there), 0)])  # 5 m/s
        air = moving(Disc(radius_m=200.0), ways, rx=DISC_AW, cs=DISC_AW, reception=0)
        for number in range(100 * n):
            air.send(number % n, GROUP, tcp(0), at=1 + number * 5 * S * US // (100 * n), rate=540)
        air.run(6 * S * US)
        assert len(air.tx) == 100 * n
        cost[n] = air.lib.dcf_evaluations(air.memory) / len(air.tx)
    around = math.pi * 200**2 / 150**2
    assert cost[200] / 2 < cost[50] < 2 * around
    assert cost[200] < 2.5 * around < 200 / 10


@pytest.mark.parametrize(
    "way",
    [
        [(5, 0, 0, 0), (5, 0, 0, 0)],
        [(5, 0, 0, 0), (4, 0, 0, 0)],
        [(0, 100_000_001, 0, 0)],
        [(0, 0, 0, -100_000_001)],
        [(0, 0, 0, 0), (S, 1_000_010, 0, 0)],
        [(0, 0, 0, 0), (2**32, 1, 0, 0)],
    ],
    ids=["at once", "backwards", "too far", "too deep", "too fast", "too slow"],
)
def test_a_way_that_cannot_be_is_refused_and_the_one_before_holds(way: list[tuple[int, int, int, int]]) -> None:
    air = moving(Disc(), [[(0, 0, 0, 0)], [(0, 100_000, 0, 0), (S, 100_000, 0, 0)]])
    assert not air.move(1, *way)
    assert air.link_now(0, 1).delay_ns == 334


def test_the_farthest_corners() -> None:
    """100 km from the origin on each axis, at the highest speed: nothing overflows."""
    corner, other = (100_000_000,) * 3, (-100_000_000,) * 3
    us = math.ceil(math.dist(corner, other))
    air = moving(Disc(radius_m=9_000.0), [[(0, *corner)], [(0, *other), (us, *corner), (2**40, *corner)]])
    assert air.link_now(0, 1).power_aw == 0
    air.run((us - 8_999_000) * US)
    assert air.link_now(0, 1).power_aw == DISC_AW
    assert abs(air.link_now(1, 0).delay_ns - 8999 / 0.299792458) < 2
    air.run((us + 1) * US)
    assert air.link_now(0, 1).delay_ns == 0
    assert delay_ns(np.array([0.0]))[0] == 0


@pytest.mark.parametrize("reach", [(120_000_000_000_000_001, 1 << 63, 0), (1, (1 << 63) + 1, 0), (1, 1, 1_000_001)])
def test_a_reach_that_cannot_be_is_refused(reach: tuple[int, int, int]) -> None:
    air = moving(Disc(), [[(0, 0, 0, 0)], [(0, 1000, 0, 0), (S, 1000, 0, 0)]])
    assert not air.lib.dcf_set_reach(air.memory, 0, Reach(*reach))
    assert air.link_now(0, 1).power_aw == DISC_AW


def test_a_table_that_cannot_be_is_refused() -> None:
    air = moving(Disc(), [[(0, 0, 0, 0)], [(0, 1000, 0, 0), (S, 1000, 0, 0)]])
    fine = Point(1000, -60_000, 0)
    for points, first, bits in (
        ([fine] * 2, 12, 0), ([fine] * 2, 3, 4), ([fine] * 2, 12, 13), ([fine] * 99, 62, 6),
        ([fine, Point(10**19 + 1, 0, 0)], 12, 6), ([fine, Point(1, 1_000_001, 0)], 12, 6),
        ([fine, Point(1, 0, 31_999 << 16)], 12, 6),
    ):  # fmt: skip
        array = (Point * len(points))(*points)
        assert not air.lib.dcf_set_table(air.memory, Table(array, len(points), first, bits))
    assert air.link_now(0, 1).power_aw == DISC_AW
