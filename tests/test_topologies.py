# SPDX-License-Identifier: BSD-3-Clause
"""Topologies: the papers' layouts, and errors."""

import math
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

import topologies
from emulation.specification import flatten, specify, unflatten
from topologies import Network, Node, Waypoint
from topologies.motion import position_at


def layout(name, **parameters):
    topology = topologies.find(name)
    return topology.layout(topology.Parameters(**parameters))


@pytest.mark.parametrize("name", topologies.names())
def test_every_topology_works_by_default_and_says_what_it_is(name):
    topology = topologies.find(name)
    assert topology.summary
    assert all(field.description for field in topology.Parameters.model_fields.values())
    made = layout(name)
    assert made.flows if isinstance(made, topologies.Layout) else made.applications


def test_string_is_a_line():
    five = layout("string", flows=2)
    assert list(five.stations) == ["sta1", "sta2", "sta3", "sta4", "sta5"]
    assert [x for x, _, _ in five.stations.values()] == [0, 200, 400, 600, 800]
    assert five.flows == [("sta1", "sta5")] * 2


def test_mesh_has_the_seeds_flows():
    rows = [("sta1", "sta5"), ("sta11", "sta15"), ("sta21", "sta25")]
    columns = [("sta1", "sta21"), ("sta3", "sta23"), ("sta5", "sta25")]
    assert layout("mesh", flows=3).flows == rows
    assert layout("mesh", flows=6).flows == rows + columns
    assert layout("mesh").stations["sta9"] == (600.0, 200.0, 0.0)


def test_mesh_may_be_oblong():
    assert layout("mesh", size="3x2", flows=1).stations["sta4"] == (0.0, 200.0, 0.0)
    assert layout("mesh", size="3x2", flows=3).flows == [("sta1", "sta3"), ("sta1", "sta4"), ("sta3", "sta6")]


def test_random_is_spread_evenly_and_the_same_for_the_same_placement():
    found = layout("random", stations=250)
    assert all(0 <= x <= 1500 and 0 <= y <= 300 and z == 0 for x, y, z in found.stations.values())
    assert sum(x > 750 for x, _, _ in found.stations.values()) == pytest.approx(125, abs=32)  # four deviations
    assert sum(y > 150 for _, y, _ in found.stations.values()) == pytest.approx(125, abs=32)
    assert found == layout("random", stations=250) != layout("random", stations=250, placement=2)
    assert layout("random").stations["sta1"] == (1324.379, 80.811, 0.0)  # golden
    assert layout("random").flows == [("sta11", "sta24")]


def test_random_has_flows_between_disjoint_pairs_or_those_that_are_given():
    ends = [name for flow in layout("random", stations=6, flows=3).flows for name in flow]
    assert sorted(ends) == [f"sta{number}" for number in range(1, 7)]
    assert layout("random", pairs="sta1-sta9,sta1-sta2").flows == [("sta1", "sta9"), ("sta1", "sta2")]


def test_random_is_drawn_until_it_is_connected():
    """Checked by spreading from a node until no other is reached."""
    reach = 90
    loose = layout("random", stations=30, area="400x400", placement=3)
    tight = layout("random", stations=30, area="400x400", placement=3, connected=reach)
    for found, expected in ((loose, False), (tight, True)):
        places = list(found.stations.values())
        reached = {places[0]}
        for _ in places:
            reached |= {there for there in places for here in reached if math.dist(here, there) <= reach}
        assert (len(reached) == len(places)) == expected
    with pytest.raises(
        ValueError, match="connected: none of 1000 draws of 3 stations in 1000x1000 m is connected by hops of 1 m"
    ):
        layout("random", stations=3, area="1000x1000", connected=1)
    with pytest.raises(ValueError, match="there is no node sta51"):
        layout("random", pairs="sta1-sta51")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("random", {"stations": 3, "flows": 2}),
        ("random", {"pairs": "sta1:sta2"}),
        ("random", {"pairs": "sta1-sta2 sta3"}),
        ("random", {"area": "1500"}),
        ("random", {"stations": 1001}),
        ("string", {"stations": 1}),
        ("string", {"stations": 257}),
        ("string", {"spacing": 0}),
        ("string", {"spacing": math.nan}),
        ("string", {"flows": 17}),
        ("string", {"size": "5x5"}),
        ("mesh", {"size": "1x5"}),
        ("mesh", {"size": "32x32"}),
        ("mesh", {"size": "5by5"}),
        ("mesh", {"size": "3x3", "flows": 5}),
        ("mobile", {"stations": 4, "flows": 3}),
        ("mobile", {"vmax": 3}),
    ],
)
def test_parameters_out_of_their_domain_are_refused(name, parameters):
    with pytest.raises(ValidationError):
        layout(name, **parameters)


def test_a_topology_has_usual_options_that_a_user_may_set_otherwise():
    usual = specify("mobile", {"vmax": 20, "stations": 4})
    model = {"area": "1500x300", "vmax": 20.0, "vmin": None, "pause": 0.0, "start": "uniform"}
    assert usual.network.motion == {"model": "random_waypoint", **model}
    assert (usual.network.routing, usual.network.unreachable) == ({"kind": "aodv"}, True)
    assert specify("mobile", {"routing": "dsr"}).network.routing == {"kind": "dsr"}
    assert unflatten(flatten(usual)) == usual
    assert specify("route-break", {"leaves": 40}).measurement.seconds == 70
    with pytest.raises(ValidationError, match="leaves"):
        specify("route-break", {"leaves": 0})


def test_a_route_breaks_when_it_should_and_the_helper_reaches_both():
    network = specify("route-break", {}).made()

    def near(a, b):
        ways = [network.motion.get(name, [Waypoint(0.0, network.nodes[name].position)]) for name in (a, b)]
        return [math.dist(*(position_at(way, at) for way in ways)) <= 250 for at in (0, 10, 34.9, 35.1, 60)]

    assert near("sta4", "sta5") == [True, True, True, False, False]
    assert near("sta4", "sta6") == near("sta5", "sta6") == [False, True, True, True, True]
    assert not any(near("sta3", "sta6") + near("sta3", "sta5"))


def test_an_unknown_topology_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no topology 'ring'; there are: .*mesh, .*string"):
        topologies.find("ring")


@pytest.mark.parametrize(
    ("stations", "flows", "says"),
    [
        ({}, [], "1 to 1000 nodes, not 0"),
        ({f"sta{i}": (0, 0, 0) for i in range(1001)}, [], "not 1001"),
        ({"a": (0, 0, math.inf)}, [], "a position is three numbers"),
        ({"a": (0, 0)}, [], "a position is three numbers"),
        ({"a": (0, 0, 0)}, [("a", "b")], "there is no node b"),
        ({"a": (0, 0, 0)}, [("a", "a")], "same node"),
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(stations, flows, says):
    with pytest.raises(ValueError, match=says):
        topologies.Layout(stations, flows)


def test_the_documentations_example_is_a_topology():
    text = (Path(__file__).parent.parent / "docs" / "topologies.md").read_text()
    ring = {}
    exec(text.split("```python\n")[1].split("```")[0], ring)
    six = ring["layout"](ring["Parameters"]())
    assert math.dist(six.stations["sta1"], six.stations["sta2"]) == pytest.approx(200)
    assert six.flows == [("sta1", "sta4")]


TWO = {"a": Node(), "b": Node()}


@pytest.mark.parametrize(
    ("network", "says"),
    [
        ({"nodes": {"a name too long": Node()}}, "should match pattern"),
        ({"nodes": TWO, "links": [{"nodes": ["a", "c"]}]}, "link adhoc: there is no node c"),
        ({"nodes": TWO, "motion": {"c": []}}, "motion: there is no node c"),
        ({"nodes": TWO, "motion": {"a": [(1, (0, 0, 0)), (1, (1, 0, 0))]}}, "the times of waypoints must increase"),
    ],
)
def test_a_network_that_makes_no_sense_is_refused(network, says):
    with pytest.raises(ValueError, match=says):
        Network.model_validate(network)


def test_a_topology_outside_the_checkout_is_a_file(tmp_path):
    file = tmp_path / "pair.py"
    file.write_text(
        '"""Two that talk."""\n'
        "from __future__ import annotations\nimport dataclasses\n"
        "from pydantic import BaseModel\nfrom topologies import Network, Node\n"
        "@dataclasses.dataclass\nclass Pair:\n    one: dataclasses.InitVar[int] = 1\n"
        "class Parameters(BaseModel):\n    apart: float = 100.0\n"
        "def layout(p):\n    return Network(nodes={'a': Node(), 'b': Node(position=(p.apart, 0, 0))})\n"
    )
    found = topologies.find(str(file))
    assert (found.summary, found.name) == ("Two that talk.", str(file))
    assert found.network({"apart": 7}).nodes["b"].position == (7, 0, 0)
    file.write_text("x = 1\n")
    with pytest.raises(ValueError, match="is not a topology: it does not define Parameters"):
        topologies.find(str(file))
    file.write_text("class Parameters: pass\ndef layout(p): pass\n")
    with pytest.raises(ValueError, match=r"\.py, line 1: Parameters is not a model of pydantic"):
        topologies.find(str(file))
    with pytest.raises(ValueError, match="there is no file"):
        topologies.find(str(tmp_path / "gone.py"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    return 1 / 0", "own.py, line 4: ZeroDivisionError: division by zero"),
        ("    pass", "own.py, line 3: what layout returns is not a Layout or a Network, but None"),
        ("    raise ValueError('three at least')", "three at least"),
        ("    pass\nclass Parameters(BaseModel, never=1): pass", "own.py, line 5: "),
        ("    return missing.name", "own.py, line 4: NameError: name 'missing' is not defined"),
    ],
)
def test_a_mistake_in_a_file_of_ones_own_is_reported_with_its_line(tmp_path: Path, body: str, said: str) -> None:
    (tmp_path / "own.py").write_text(
        f"from pydantic import BaseModel\nclass Parameters(BaseModel): pass\ndef layout(p):\n{body}\n"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}"):
        topologies.find(str(tmp_path / "own.py")).network({})
