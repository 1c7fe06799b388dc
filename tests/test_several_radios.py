# SPDX-License-Identifier: BSD-3-Clause
"""Nodes with several radios in the plan: settings of nodes become those of radios; and antenna gains."""

import re

import pytest

from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.specification import specify
from topologies import Link, Network, Node

OPTIONS = {"propagation": "log-distance", "thresholds": {"receive_dbm": -85, "sense_dbm": -90}, "routing": "none"}


def network(b=None, motion=None, **link):
    """a and b on one channel, b and c on another."""
    nodes = {
        name: Node(position=(100.0 * i, 0, 0), settings=(b or {}) if name == "b" else {})
        for i, name in enumerate("abc")
    }
    links = (Link(nodes=("a", "b"), settings={"freq": 2412}), Link(nodes=("b", "c"), settings={"freq": 2462}, **link))
    return Network(nodes=nodes, links=links, motion=motion or {})


def test_a_node_has_a_radio_for_each_link():
    found = plan(specify(network(), OPTIONS))
    radios = [each for node in found["nodes"] for each in node["interfaces"]]
    assert [each["name"] for each in radios] == ["a-wlan0", "b-wlan0", "b-wlan1", "c-wlan0"]
    assert len({each["address"] for each in radios}) == 4
    assert [each["ip"] for each in radios] == ["10.0.0.1/24", "10.0.0.2/24", "10.0.0.2/32", "10.0.0.3/24"]
    power = found["air"]["power_mdbm"]
    assert power[0] == [None, *[power[1][0]] * 2, power[0][3]] and power[1][3] == power[2][3] == power[0][1]
    assert [power[i][i] for i in range(4)] == [None] * 4
    assert power[1][2] == power[2][1] == 20_000 - 40_100  # beside each other, as at a metre
    assert found["air"]["delay_ns"][1][2] == 0
    assert radios[2]["neighbours"] == {"10.0.0.3": radios[3]["address"]}
    assert radios[3]["neighbours"] == {"10.0.0.2": radios[2]["address"]}


def test_their_motion_too():
    """By a table, and in steps."""
    way = {"c": ((0.0, (200.0, 0, 0)), (1.0, (220.0, 0, 0)))}
    table = plan(specify(network(motion=way), {**OPTIONS, "seconds": 1}))["motion"]["table"]
    assert len(table["reach_mm2"]) == len(table["weaker_mdb"]) == 4
    shadowed = {**OPTIONS, "seconds": 1, "shadowing": "sigma=1"}
    steps = plan(specify(network(motion=way), shadowed))["motion"]["steps"]
    assert steps and all(len(row) == 4 for step in steps for row in step["power_mdbm"].values())
    assert {row for step in steps for row in step["power_mdbm"]} == {"0", "1", "2", "3"}


def test_nobody_is_on_a_link_twice_but_of_access_points():
    with pytest.raises(Misuse, match="link adhoc: a is on it twice"):
        plan(specify(Network(nodes={"a": Node()}, links=(Link(nodes=("a", "a")),)), OPTIONS))


def test_an_antenna_gains_both_ways():
    usual, more = (plan(specify(network(b=b), OPTIONS))["air"]["power_mdbm"] for b in (None, {"antenna_gain_dbi": 7}))
    assert more[0][1] - usual[0][1] == more[1][0] - usual[1][0] == 7000 and more[0][3] == usual[0][3]
    with pytest.raises(Misuse, match=re.escape("b: antenna_gain_dbi: must be from -60 to 60, not 'much'")):
        plan(specify(network(b={"antenna_gain_dbi": "much"}), OPTIONS))


def test_gains_that_differ_are_no_matter_of_the_distance_alone():
    way = {"c": ((0.0, (200.0, 0, 0)), (1.0, (220.0, 0, 0)))}
    found = plan(specify(network(b={"antenna_gain_dbi": 7}, motion=way), {**OPTIONS, "seconds": 1}))["motion"]
    assert found["table"] is None and found["steps"]
