# SPDX-License-Identifier: BSD-3-Clause
"""Motion as data: positions between waypoints, and the common form of all motion."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.specification import specify
from topologies import Motion, Network, Node, Span, Waypoint, mobility
from topologies.area import bounce, sides
from topologies.motion import position_at, settle, settle_spans

metres = st.floats(-1e6, 1e6)
ways = st.lists(st.builds(Waypoint, st.floats(0, 1e4), st.tuples(metres, metres, metres)), min_size=1, max_size=8).map(
    lambda way: sorted(way, key=lambda waypoint: waypoint.at_s)
)
WAY = [Waypoint(1, (0, 0, 0)), Waypoint(3, (4, 0, 0)), Waypoint(5, (4, 0, 8))]


@pytest.mark.parametrize(
    ("at_s", "position"),
    [(0, (0, 0, 0)), (1, (0, 0, 0)), (1.5, (1, 0, 0)), (3, (4, 0, 0)), (4, (4, 0, 4)), (9, (4, 0, 8))],
)
def test_between_waypoints_a_node_goes_straight_on(at_s, position):
    assert position_at(WAY, at_s) == position


def test_a_settled_way_begins_at_0_ends_with_the_run_and_is_in_microseconds_and_millimetres():
    way = [Waypoint(-2, (0, 0, 0)), Waypoint(2 / 3, (8 / 3, 0, 0)), Waypoint(4, (9, 0, 0))]
    found = settle(way, 2)
    assert found == (
        Waypoint(0.0, (2.0, 0.0, 0.0)), Waypoint(0.666667, (2.667, 0.0, 0.0)), Waypoint(2.0, (5.2, 0.0, 0.0))
    )  # fmt: skip


def test_what_changes_nothing_is_left_out():
    here, there = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    way = [Waypoint(at, here) for at in range(4)] + [Waypoint(at, there) for at in range(5, 9)]
    assert settle(way, 100) == (Waypoint(0.0, here), Waypoint(3.0, here), Waypoint(5.0, there))
    assert settle([Waypoint(7, here)], 100) == (Waypoint(0.0, here),)
    assert settle([], 100) == ()


@given(ways, st.floats(0.001, 1e4), st.floats(0, 1))
def test_to_settle_moves_nobody(way, seconds, part):
    """By more than a millimetre and the distance covered in a microsecond; converting it again changes nothing."""
    found = settle(way, seconds)
    assert settle(found, seconds) == found
    assert [before.at_s < after.at_s for before, after in pairwise(found)] == [True] * (len(found) - 1)
    if all(b.at_s - a.at_s > 1e-3 for a, b in pairwise(way)):
        fastest = max((math.dist(a.position, b.position) / (b.at_s - a.at_s) for a, b in pairwise(way)), default=0.0)
        gap = math.dist(position_at(way, part * seconds), position_at(found, part * seconds))
        assert gap <= 0.001 + 2e-6 * fastest


def test_a_way_that_goes_back_in_time_is_refused():
    with pytest.raises(ValueError, match="go back, from 2 s to 1 s"):
        settle([Waypoint(2, (0, 0, 0)), Waypoint(1, (0, 0, 0))], 9)
    with pytest.raises(ValueError, match="go back"):
        settle([Waypoint(math.nan, (0, 0, 0)), Waypoint(1, (0, 0, 0))], 9)


def test_of_spans_the_part_within_the_run_is_taken():
    spans = [Span(-5, -1), Span(-1, 1), Span(2, 3), Span(4, math.inf), Span(12, 13)]
    assert settle_spans(spans, 10) == (Span(0.0, 1.0), Span(2.0, 3.0), Span(4.0, 10.0))


def test_a_model_says_where_nodes_are_and_when_they_are_there(tmp_path):
    """A moving node stands, before the start, where its motion begins."""
    (tmp_path / "own.py").write_text(
        "from pydantic import BaseModel\nfrom topologies import Motion, Span, Waypoint\n"
        "class Parameters(BaseModel): pass\n"
        "def move(p, network, seconds, random):\n"
        "    return Motion({'a': [Waypoint(0, (7, 0, 0)), Waypoint(99, (8, 0, 0))]}, {'a': [Span(2, 99)], 'b': []})\n"
    )
    network = Network(nodes={"a": Node(), "b": Node()}, presence={"b": ((1, 2),)})
    moved = mobility.move({"model": str(tmp_path / "own.py")}, network, 33, 1)
    assert moved.nodes["a"].position == (7.0, 0.0, 0.0)
    assert moved.motion == {"a": (Waypoint(0.0, (7.0, 0.0, 0.0)), Waypoint(33.0, (7.333, 0.0, 0.0)))}
    assert moved.presence == {"a": (Span(2.0, 33.0),), "b": ()}
    assert Network.model_validate_json(moved.model_dump_json()) == moved


def test_a_networks_own_motion_is_settled_too():
    way = [Waypoint(1, (0, 0, 0)), Waypoint(7, (1, 0, 0))]
    network = Network(nodes={"a": Node(position=(9, 9, 9))}, motion={"a": way}, presence={"a": ((0, 99),)})
    moved = specify(network, {"seconds": 3}).made()
    assert moved.motion["a"] == (Waypoint(0, (0, 0, 0)), Waypoint(1, (0, 0, 0)), Waypoint(3, (0.333, 0, 0)))
    assert (moved.nodes["a"].position, moved.presence["a"]) == ((0, 0, 0), (Span(0, 3),))


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([(0, 1), (1, 2)], "presence of a: arrivals and departures must alternate"),
        ([(3, 2)], "at increasing times"),
        ([(-1, 2)], "from 0 s on"),
        ([(0, math.inf)], "at increasing times"),
        ([(0, math.nan)], "at increasing times"),
    ],
)
def test_a_presence_that_cannot_be_is_refused(spans, said):
    with pytest.raises(ValueError, match=said):
        Network(nodes={"a": Node()}, presence={"a": spans})
    with pytest.raises(ValueError, match="presence: there is no node b"):
        Network(nodes={"a": Node()}, presence={"b": ()})


def test_a_mistake_in_a_model_of_ones_own_is_reported_with_its_line(tmp_path):
    (tmp_path / "own.py").write_text(
        "from pydantic import BaseModel\nclass Parameters(BaseModel): pass\ndef move(p, n, s, r):\n    return 1 / 0\n"
    )
    with pytest.raises(ValueError, match=r"^own\.py, line 4: ZeroDivisionError"):
        mobility.move({"model": str(tmp_path / "own.py")}, Network(nodes={"a": Node()}), 1, 1)


def test_a_motion_without_presence_is_of_nodes_that_are_always_there():
    assert Motion({}).presence == {}


def test_walls_reflect():
    way = list(bounce((10, 4), (9, 1), (2, 1), 4))
    assert way == [(0.5, (10, 1.5), (-2, 1)), (3.0, (5, 4), (-2, -1)), (4, (3, 3), (-2, -1))]
    corner = list(bounce((10, 4), (8, 2), (1, 1), 3))
    assert corner == [(2, (10, 4), (-1, -1)), (3, (9, 3), (-1, -1))]
    assert list(bounce((10, 4), (8, 2), (0, 0), 3)) == [(3, (8, 2), (0, 0))]


@given(st.tuples(st.floats(0, 50), st.floats(0, 20)), st.tuples(st.floats(-99, 99), st.floats(-99, 99)))
def test_nobody_leaves_through_a_wall_or_changes_its_speed(here, velocity):
    for at, (x, y), (vx, vy) in bounce((50, 20), here, velocity, 3):
        assert 0 <= at <= 3 and 0 <= x <= 50 and 0 <= y <= 20
        assert (abs(vx), abs(vy)) == (abs(velocity[0]), abs(velocity[1]))
    assert at == 3


@pytest.mark.parametrize("area", ["1500", "1500x", "0x5", "5x100001", "-1x5", "1e3x5", "axb", "5X5"])
def test_an_area_has_two_sides(area):
    with pytest.raises(ValueError, match="an area is WIDTHxHEIGHT, like 1500x300"):
        sides(area)
    assert sides("1500x0300.50") == (1500, 300.5)
