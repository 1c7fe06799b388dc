# SPDX-License-Identifier: BSD-3-Clause
"""Motion in the plan: waypoints that the air can follow, and a table of the propagation model."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from emulation.lane import air
from emulation.lane.errors import Misuse
from emulation.lane.motion import Trajectory, split_long_legs
from emulation.plan import distance, plan
from emulation.specification import specify
from emulation.specification.propagation import MODELS, Propagation, model
from topologies import Network, Node

WANDER = str(Path(__file__).parent / "plugins" / "mobility" / "wander.py")


def made(topology="string", **options):
    return plan(specify(topology, options))


def test_who_moves_has_waypoints_and_all_have_a_place():
    """In microseconds and millimetres; the table reaches as far as signals are sensed."""
    motion = made(stations=3, seconds=20, motion="line,node=sta3,speed=10", unreachable=True)["motion"]
    assert motion["waypoints"] == {
        "sta1": [(0, 0, 0, 0)],
        "sta2": [(0, 200_000, 0, 0)],
        "sta3": [(0, 400_000, 0, 0), (20_000_000, 600_000, 0, 0)],
    }
    assert motion["steps"] == []
    assert [round(square**0.5 / 1000) for square in motion["table"]["reach_mm2"]] == [550] * 3
    assert made(stations=3)["motion"] is None


def test_a_table_is_as_good_as_the_formula():
    """Within 0.01 dB at any distance, interpolated as the air does, for each model of the distance alone."""
    squares = 10 ** np.random.default_rng(1).uniform(4, 15, 20_000)
    for cls in MODELS.values():
        if not cls.by_distance:
            continue
        found = distance.table(cls(), np.zeros(1), -100.0).planned
        bins = 2 ** found["bin_bits"]
        at = [2.0 ** (found["first"] + i // bins) * (1 + i % bins / bins) for i in range(len(found["power_mdbm"]))]
        near = squares[squares <= found["reach_mm2"][0] * 64]
        dbm = cls().received_dbm(np.sqrt(near / 64) / 1000)
        assert len(near) > 5000 and dbm.min() > -100
        assert abs(np.interp(near, at, np.array(found["power_mdbm"]) / 1000) - dbm).max() < 0.01
        watts = np.interp(near, at, 10 ** (np.array(found["power_mdbm"]) / 10_000))
        assert abs(10 * np.log10(watts) - dbm).max() < 0.01


def test_the_reach_is_exact_and_each_stations_own():
    disc, own = distance.table(MODELS["disc"](radius_m=250.0), np.zeros(2), -100.0), np.array([0.0, -3.0])
    assert disc.planned["reach_mm2"] == [250_000**2] * 2
    falling = MODELS["log-distance"](exponent=3.0)
    found = distance.table(falling, own, -90.0).planned
    assert found["weaker_mdb"] == [0, 3000]
    for square, stronger in zip(found["reach_mm2"], own, strict=True):
        inside, outside = falling.received_dbm(np.sqrt(np.array([square, square + 1.0])) / 1000) + stronger
        assert inside >= -90 > outside


@pytest.mark.parametrize(
    "received",
    [
        lambda metres: np.where(metres < 100, -50.0, -60.0),  # a wall
        lambda metres: np.where(metres < 100, -50.0, np.where(metres < 200, -np.inf, -60.0)),  # comes back
    ],
)
def test_what_no_table_can_say_goes_in_steps(received):
    class Jumps(Propagation):
        by_distance = True

        def received_dbm(self, distance):
            return received(distance)

    assert distance.table(Jumps(), np.zeros(1), -100.0) is None


@pytest.mark.parametrize("reach_m", [9_500, 9_551, 9_580, 20_000])
def test_no_point_of_a_table_is_farther_than_the_air_allows(reach_m):
    """Also the one beyond the reach, for models that need few points and many."""
    for falling in (MODELS["log-distance"](exponent=2.2), MODELS["two-ray"]()):
        floor = float(falling.received_dbm(np.array([reach_m]))[0])
        found = distance.table(falling, np.zeros(1), floor).planned
        assert max(delay for _, _, delay in air.points(found)) < 31_999 << 16


def test_a_model_says_for_itself_that_it_is_of_the_distance_alone():
    @model("two-ray-and-more")
    @dataclass(frozen=True)
    class More(MODELS["two-ray"]):
        pass

    try:
        assert not More.by_distance and MODELS["two-ray"].by_distance and not MODELS["snr"].by_distance
        motion = made(stations=3, seconds=2, motion="line,node=sta3,speed=10", propagation="two-ray-and-more")["motion"]
        assert motion["table"] is None
        assert [motion["steps"][0]["at_s"], motion["steps"][-1]["at_s"], len(motion["steps"])] == [0.1, 2.0, 20]
        heard_by_sta2 = [step["power_mdbm"]["2"][1] for step in motion["steps"]]
        assert heard_by_sta2 == sorted(heard_by_sta2, reverse=True)
        end = made(stations=2, spacing=220)["air"]
        last = motion["steps"][-1]
        assert (last["power_mdbm"]["2"][1], last["delay_ns"]["1"][2]) == (
            end["power_mdbm"][0][1],
            end["delay_ns"][0][1],
        )
        with pytest.raises(Misuse, match="two-ray-and-more motion is planned for at most 3600 s, not 5000"):
            made(stations=2, seconds=5000, motion="line,node=sta2", propagation="two-ray-and-more", unreachable=True)
    finally:
        del MODELS["two-ray-and-more"]


def test_motion_is_the_seeds_whatever_else_is_asked_for():
    """So two TCPs meet the same movement."""
    usual = {"stations": 3, "seconds": 3, "motion": {"model": WANDER}}
    assert made(**usual)["motion"] == made(**usual, tcp="vegas")["motion"] != made(**usual, seed=2)["motion"] != []


def test_motion_that_cannot_be_is_refused():
    with pytest.raises(Misuse, match="there is no node sta9 to move"):
        made(motion="line,node=sta9")
    with pytest.raises(ValueError, match=r"there is no mobility model 'teleport'; there are: .*line"):
        made(motion="teleport")


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ([(0, (0, 0, 0)), (1, (1001, 0, 0))], "motion of b: from 0 s to 1 s it goes at 1001 m/s; the air allows 1000"),
        ([(0, (200_000, 0, 0)), (9, (0, 0, 0))], "motion of b: at 0 s it is 200 km from the origin; .* within 100 km"),
        ([(0, (0, 0, 0)), (600, (20_000, 0, 0))], "stations that hear each other can be 20.0 km apart"),
    ],
)
def test_ways_that_the_air_cannot_follow_are_refused(way, said):
    network = Network(nodes={name: Node() for name in "ab"}, motion={"b": way})
    with pytest.raises(Misuse, match=said):
        plan(specify(network, {"seconds": 600, "propagation": "free-space", "reception": "sinr"}))


def test_a_slow_leg_has_stops_in_between_and_goes_the_same_way():
    """The air takes legs of up to 71 minutes."""
    way = [(0, 0, 0, 0), (10_000_000_000, 1000, -77, 3), (90_000_000_000, 1000, -77, 3)]
    found = split_long_legs(way)
    assert len(found) == 7 and found[-1] == way[-1]
    for at in range(0, 100_000_000_000, 999_999_937):
        apart = zip(Trajectory(way).at(at * 1000), Trajectory(found).at(at * 1000), strict=True)
        assert max(abs(a - b) for a, b in apart) <= 0.001
