# SPDX-License-Identifier: BSD-3-Clause
"""Loops of bridges, found when a network is planned."""

import pytest

from emulation.lane.errors import Misuse
from emulation.plan.bridges import check_loops, closing
from emulation.plan.nodes import check_node
from emulation.specification.radio import Radio
from topologies import Link, Network, Node


def ring(first=None, **settings):
    names = ("s1", "s2", "s3")
    nodes = {"h1": Node(kind="host"), **{name: Node(kind="switch", settings=settings) for name in names}}
    nodes["s1"] = Node(kind="switch", settings={**settings, **(first or {})})
    pairs = [("h1", "s1"), ("s1", "s2"), ("s2", "s3"), ("s3", "s1")]
    return Network(nodes=nodes, links=tuple(Link(nodes=pair, kind="wired") for pair in pairs))


@pytest.mark.parametrize("settings", [{}, {"bridge": "ovs"}, {"bridge": "ovs", "fail_mode": "standalone"}])
def test_a_loop_is_named(settings):
    with pytest.raises(Misuse, match=r"s3 - s2 - s1 - s3: a loop of bridges"):
        check_loops(ring(**settings))


@pytest.mark.parametrize("settings", [{"stp": True}, {"bridge": "ovs", "fail_mode": "secure"}])
def test_a_loop_that_is_cut_is_taken(settings):
    check_loops(ring(**settings))


@pytest.mark.parametrize("first", [{"stp": True}, {"stp": True, "bridge": "ovs"}])
def test_a_bridge_with_a_spanning_tree_opens_a_loop_of_those_that_forward_its_messages(first):
    check_loops(ring(first))
    with pytest.raises(Misuse, match="set stp=True at each"):
        check_loops(ring({"bridge": "linux", **first}, bridge="ovs"))  # Open vSwitch drops them


@pytest.mark.parametrize(
    ("trees", "deaf", "found"),
    [("", "", [(2, "cbac"), (4, "dcbad")]), ("abcd", "", []), ("a", "", []), ("b", "", [(4, "dcad")]),
     ("abc", "d", [(4, "dcbad")]), ("ad", "c", [(2, "cbac"), (3, "cbadc")])],
)  # fmt: skip
def test_wires_that_close_a_loop(trees, deaf, found):
    wires = ["ab", "bc", "ca", "cd", "da"]
    assert [(number, "".join(way)) for number, way in closing(map(tuple, wires), {*trees}, {*deaf})] == found


def test_two_wires_between_two_bridges_are_a_loop():
    assert [*closing([("b", "c"), ("b", "a"), ("a", "b")])] == [(2, ("a", "b", "a"))]


@pytest.mark.parametrize(
    ("settings", "said"),
    [({"stp": "yes"}, "stp: must be False or True"), ({"fail_mode": "secure"}, "only bridge='ovs'")],
)
def test_a_setting_that_is_not_there_is_refused(settings, said):
    with pytest.raises(Misuse, match=said):
        check_node(Radio(), "s1", Node(kind="switch", settings=settings))
