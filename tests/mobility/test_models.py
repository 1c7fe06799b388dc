# SPDX-License-Identifier: BSD-3-Clause
"""Mobility models: each moves as its source says, in distribution where it draws, and always within its bounds."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from random import Random

import pytest
from pydantic import ValidationError

from topologies import Network, Node, Waypoint, mobility
from topologies.area import sides
from topologies.mobility import gauss_markov, group, manhattan, random_walk, random_waypoint
from topologies.motion import follow, position_at, stream

DRAWN = ("gauss_markov", "group", "manhattan", "random_walk", "random_waypoint")
MILLI = 0.0011  # rounding error of a distance between two waypoints


def stations(count: int) -> Network:
    return Network(nodes={f"sta{number}": Node() for number in range(1, count + 1)})


@cache
def moved(model: str, count: int = 20, seconds: float = 300, seed: int = 1, **parameters: object) -> Network:
    return mobility.move({"model": model, **parameters}, stations(count), seconds, seed)


def legs(network: Network) -> list[tuple[float, float]]:
    """Return the duration and length of each leg, of all moving nodes."""
    return [
        (b.at_s - a.at_s, math.dist(a.position, b.position))
        for way in network.motion.values()
        for a, b in pairwise(way)
    ]


@pytest.mark.parametrize("model", mobility.names())
def test_each_model_says_what_it_is_and_what_may_be_chosen(model):
    module = mobility.find(model)
    assert module.__doc__ and all(field.description for field in module.Parameters.model_fields.values())


GOLDEN = {
    "gauss_markov": "091b05fc040d584d",
    "group": "2f3f5d872a6d3ad2",
    "manhattan": "2c20aa9ba7888065",
    "random_walk": "8d43510c880112c6",
    "random_waypoint": "8c727c55ca5bfe94",
    "stationary": "12220eda7462409f",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_same_seed_is_the_same_motion_to_the_byte(name):
    parameters = {"model": "random_waypoint", "start": name, "pause": 20} if name == "stationary" else {"model": name}
    found = mobility.move(parameters, stations(5), 100, 7)
    assert hashlib.sha256(json.dumps(found.motion).encode()).hexdigest()[:16] == GOLDEN[name]


@pytest.mark.parametrize("model", DRAWN)
def test_another_seed_is_another_motion(model):
    assert moved(model, seed=1).motion != moved(model, seed=2).motion


@pytest.mark.parametrize("model", DRAWN)
def test_a_nodes_path_does_not_depend_on_how_many_there_are(model):
    few, many = moved(model, count=7).motion, moved(model, count=20).motion
    assert few == {name: many[name] for name in few}


@pytest.mark.parametrize("model", DRAWN)
def test_a_longer_run_begins_as_a_shorter_one(model):
    short, long = moved(model, seconds=60).motion, moved(model, seconds=300).motion
    for name in short:
        assert all(math.dist(position_at(long[name], at), position_at(short[name], at)) < 0.002 for at in range(61))


@pytest.mark.parametrize("model", DRAWN)
@pytest.mark.parametrize("area", ["1500x300", "203.7x411.2"])
def test_nobody_leaves_the_area(model, area):
    width, height = sides(area)
    network = moved(model, area=area)
    assert len(network.motion) == 20
    for way in network.motion.values():
        assert all(0 <= x <= width and 0 <= y <= height and z == 0 for _, (x, y, z) in way)


@pytest.mark.parametrize(
    ("model", "low", "high"), [("random_waypoint", 4.1, 10), ("random_walk", 2, 3), ("manhattan", 5, 15)]
)
def test_speeds_stay_between_their_bounds(model, low, high):
    for seconds, metres in legs(moved(model, vmin=low, vmax=high)):
        assert low * (seconds - 1e-6) - MILLI <= metres <= high * (seconds + 1e-6) + MILLI


# Random waypoint


@cache
def paths(number: int, seconds: float, **parameters: object) -> list[list[Waypoint]]:
    p = random_waypoint.Parameters(**parameters)
    return [follow(random_waypoint.path(p, sides(p.area), stream(1, str(k))), 0.0, seconds) for k in range(number)]


def speed_at(way: list[Waypoint], at_s: float) -> float:
    after = bisect_right([waypoint.at_s for waypoint in way], at_s)
    a, b = way[after - 1], way[after]
    return math.dist(a.position, b.position) / (b.at_s - a.at_s)


def mean_speed(at_s: float, **parameters: object) -> float:
    return statistics.fmean(speed_at(way, at_s) for way in paths(4000, 600, **parameters))


@pytest.mark.parametrize(("vmax", "mean"), [(2, 1.44), (5, 3.34), (10, 6.62), (15, 9.10), (20, 13.78)])
def test_the_seeds_mean_speeds_are_those_of_its_vmin(vmax, mean):
    low, high = random_waypoint.Parameters(vmax=vmax).speeds
    assert 1 / random_waypoint.mean_slowness(low, high) == pytest.approx(mean, abs=0.005)


def test_from_a_uniform_start_the_mean_speed_decays():
    low, high = 1.0, 19.0
    begun, tends_to = (low + high) / 2, (high - low) / math.log(high / low)
    fast = {"area": "300x300", "vmin": low, "vmax": high}
    assert mean_speed(0, **fast) == pytest.approx(begun, abs=0.35)  # four standard errors
    assert mean_speed(500, **fast) == pytest.approx(tends_to, abs=0.35)
    assert begun - tends_to > 3


@pytest.mark.parametrize("at_s", [0, 30, 500])
@pytest.mark.parametrize("pause", [0, 40])
def test_from_a_stationary_start_it_is_what_it_tends_to_at_all_times(at_s, pause):
    low, high = 1.0, 19.0
    leg_s = random_waypoint.mean_distance(300, 300) * math.log(high / low) / (high - low)
    expected = (high - low) / math.log(high / low) * leg_s / (leg_s + pause)
    found = mean_speed(at_s, area="300x300", vmin=low, vmax=high, start="stationary", pause=pause)
    assert found == pytest.approx(expected, abs=0.35)


@pytest.mark.parametrize("at_s", [0, 100, 590])
def test_from_a_stationary_start_nodes_stand_as_theory_says_at_all_times(at_s):
    """On a line the density is 6x(1 - x) (Bettstetter, Resta and Santi 2003), so 13/27 are in its middle third."""
    ways = paths(4000, 600, area="1500x1", start="stationary")
    middle = sum(500 <= position_at(way, at_s)[0] <= 1000 for way in ways) / len(ways)
    assert middle == pytest.approx(13 / 27, abs=0.032)


@pytest.mark.parametrize("at_s", [0, 100, 590])
def test_with_pauses_some_stand_as_uniformly_as_the_points_are(at_s):
    ways = paths(4000, 600, area="1500x1", start="stationary", pause=100)
    leg_s = 500 * random_waypoint.mean_slowness(4.1, 10)
    still = 100 / (leg_s + 100)
    assert sum(speed_at(way, at_s) == 0 for way in ways) / len(ways) == pytest.approx(still, abs=0.032)
    middle = sum(500 <= position_at(way, at_s)[0] <= 1000 for way in ways) / len(ways)
    assert middle == pytest.approx(still / 3 + (1 - still) * 13 / 27, abs=0.032)


def test_a_uniform_start_begins_with_a_pause():
    network = moved("random_waypoint", pause=30)
    assert network.motion
    for way in network.motion.values():
        assert way[0].position == way[1].position and way[1].at_s == 30


def test_the_mean_distance_in_a_rectangle():
    assert random_waypoint.mean_distance(1, 1) == pytest.approx(0.5214054)
    assert random_waypoint.mean_distance(3e4, 1) == pytest.approx(1e4, rel=1e-4)
    random, area = Random(1), (1500, 300)
    drawn = [math.dist(*[(area[0] * random.random(), area[1] * random.random()) for _ in "ab"]) for _ in range(20_000)]
    assert random_waypoint.mean_distance(*area) == pytest.approx(statistics.fmean(drawn), abs=10)


# The others


@pytest.mark.slow
@pytest.mark.parametrize("at_s", [0, 55, 300])
def test_a_random_walk_remains_spread_evenly(at_s):
    p = random_walk.Parameters(area="300x300", vmax=20)
    ways = [follow(random_walk.path(p, stream(1, str(k))), 0.0, 300) for k in range(2000)]
    places = [position_at(way, at_s) for way in ways]
    assert sum(100 <= x <= 200 for x, _, _ in places) / len(places) == pytest.approx(1 / 3, abs=0.042)
    assert sum(y <= 100 for _, y, _ in places) / len(places) == pytest.approx(1 / 3, abs=0.042)


def speeds(**parameters: object) -> list[float]:
    """Return one node's path, step by step, far from any wall."""
    p = gauss_markov.Parameters(area="100000x100000", **parameters)
    way = follow(gauss_markov.path(p, stream(1, "k")), 0.0, 5000)
    return [math.dist(a.position, b.position) for a, b in pairwise(way) if b.at_s - a.at_s == 1]


@pytest.mark.parametrize("alpha", [0, 0.5, 0.9])
def test_in_gauss_markov_the_autocorrelation_is_alpha(alpha):
    found = speeds(alpha=alpha, speed=10, deviation=2)
    error = math.sqrt((1 + alpha) / (1 - alpha) / len(found))
    assert statistics.fmean(found) == pytest.approx(10, abs=4 * 2 * error)
    assert statistics.stdev(found) == pytest.approx(2, abs=2 * 4 * error)
    assert statistics.correlation(found[1:], found[:-1]) == pytest.approx(alpha, abs=0.06)


def test_at_alpha_1_nodes_go_straight_on():
    way = moved("gauss_markov", alpha=1, area="100000x100000").motion["sta3"]
    directions = {round(math.atan2(b[1][1] - a[1][1], b[1][0] - a[1][0]), 2) for a, b in pairwise(way)}
    assert len(directions) == 1


def test_speeds_of_gauss_markov_stay_between_0_and_twice_the_mean():
    found = speeds(speed=2, deviation=3)
    assert min(found) == 0 and max(found) == pytest.approx(4)


def test_members_stay_within_the_radius_of_their_groups_centre():
    p = group.Parameters(groups=3, radius=40)
    draw = Random("motion 1").getrandbits(64)
    centres = [group.centre(p, stream(draw, f"group {number}"), 300) for number in range(3)]
    ways = list(moved("group", groups=3, radius=40).motion.values())
    far = [
        math.dist(position_at(way, at), position_at(centres[number % 3], at))
        for number, way in enumerate(ways)
        for at in range(0, 300, 3)
    ]
    assert 39 < max(far) <= 40 + MILLI
    other = math.dist(position_at(ways[0], 150), position_at(ways[1], 150))
    assert other > 80  # another group is elsewhere


def heading(a: Sequence[float], b: Sequence[float]) -> tuple[int, ...]:
    return tuple((v > u) - (v < u) for u, v in zip(a, b, strict=True))


def test_on_manhattan_nodes_are_on_streets_and_turn_as_often_as_said():
    p = manhattan.Parameters(area="1000x1000", blocks="20x20", turn=0.5)
    steps: list[bool] = []
    for k in range(200):
        way = follow(manhattan.path(p, stream(1, str(k))), 0.0, 300)
        for _, (x, y, _) in way[1:]:  # crossings
            assert x % 50 == 0 and y % 50 == 0
        places = [position for _, position in way]
        for a, b, c in zip(places, places[1:], places[2:], strict=False):
            ahead, after = heading(a, b), heading(b, c)
            assert ahead.count(0) == 2 and after.count(0) == 2  # along one axis
            assert after != tuple(-one for one in ahead)  # no node turns back
            if 0 < b[0] < 1000 and 0 < b[1] < 1000:
                steps.append(ahead != after)
    assert statistics.fmean(steps) == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(len(steps)))
    assert len(steps) > 5000


@pytest.mark.parametrize("turn", [0, 1])
def test_on_manhattan_who_always_or_never_turns_still_gets_on(turn):
    for way in moved("manhattan", turn=turn, blocks="2x1").motion.values():
        assert all(x % 750 == 0 or y % 300 == 0 for _, (x, y, _) in way)
        assert way[-1].at_s == 300


@pytest.mark.parametrize(
    ("model", "parameters", "said"),
    [
        (
            "random_waypoint",
            {"vmax": 7},
            "vmin: give a value; paper 003 has one for a vmax of 2, 5, 10, 15, 20, not for 7",
        ),
        ("random_waypoint", {"vmin": 11}, "vmin, 11 m/s, must not be above vmax, 10 m/s"),
        ("random_waypoint", {"vmin": 0}, "greater than or equal to 0.001"),
        ("random_waypoint", {"area": "big"}, "an area is WIDTHxHEIGHT"),
        ("random_walk", {"vmin": 11}, "must not be above vmax"),
        ("manhattan", {"vmin": 16}, "must not be above vmax"),
        ("manhattan", {"blocks": "0x3"}, "blocks are columns x rows"),
        ("group", {"radius": 150}, "a group of radius 150 m does not fit into an area of 1500x300"),
        ("scripted", {}, "give either a file, or waypoints and presence"),
        ("scripted", {"file": "a", "waypoints": {"b": [[0, 1, 2]]}}, "give either a file, or waypoints and presence"),
    ],
)
def test_parameters_out_of_their_domain_are_refused(model, parameters, said):
    with pytest.raises(ValidationError, match=said):
        mobility.check({"model": model, **parameters})


def test_parameters_are_complete_and_may_be_given_back():
    for model in DRAWN:
        assert mobility.check(mobility.check(model)) == mobility.check(model)
