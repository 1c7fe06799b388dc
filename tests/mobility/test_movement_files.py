# SPDX-License-Identifier: BSD-3-Clause
"""Movement files of other programs: their meaning, and errors for wrong ones."""

from __future__ import annotations

import gzip
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies import Network, Node, Span, Waypoint, mobility
from topologies.mobility import setdest
from topologies.motion import position_at

HERE = Path(__file__).parent
NETWORK = Network(nodes={f"sta{number}": Node(position=(number, 0, 0)) for number in (1, 2, 3)})
STAY = NETWORK.nodes["sta3"].position
MODELS = {"setdest": "a.setdest", "bonnmotion": "a.movements", "fcd": "fcd.xml", "scripted": "a.csv"}


def read(folder: Path, model: str, text: str | bytes, seconds: float = 100.0, **parameters: object) -> Network:
    file = folder / MODELS[model]
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return mobility.move(mobility.check({"model": model, "file": str(file), **parameters}), NETWORK, seconds, 1)


def ways(network: Network) -> dict[str, list[tuple[float, ...]]]:
    """Return time, x and y of each waypoint."""
    assert all(position[2] == 0 for way in network.motion.values() for _, position in way)
    return {name: [(at, x, y) for at, (x, y, _) in way] for name, way in network.motion.items()}


SETDEST = """#
# nodes: 2, pause: 2.00
#
$node_(0) set X_ 100.0
$node_(0) set Y_ 50
$node_(0) set Z_ 0.000000000000
$node_(1) set X_ 10.5 ;# beside
$node_(1) set Y_ 20

$god_ set-dist 0 1 16777215
$ns_ at 4.5 "$god_ set-dist 0 1 1"
$ns_ at 6.0 "$node_(0) setdest 100.0 350.0 30.0"
$ns_ at 2.0 "$node_(0) setdest 200.0 50.0 10.0"
"""


def test_setdest_is_what_ns2_does(tmp_path):
    """Commands take effect in order of time; one that comes during a leg ends it where the node is."""
    moved = read(tmp_path, "setdest", SETDEST)
    assert ways(moved)["sta1"] == [(0, 100, 50), (2, 100, 50), (6, 140, 50), (16.088497, 100, 350)]
    assert ways(moved)["sta2"] == [(0, 10.5, 20)]
    assert "sta3" not in moved.motion and moved.nodes["sta3"].position == STAY
    assert moved.nodes["sta1"].position == (100.0, 50.0, 0.0)


@pytest.mark.parametrize(
    ("commands", "way"),
    [
        (["1 5 0 0"], [(0, 0, 0)]),  # at no speed a node stands
        (["1 5 0 1", "3 9 9 0"], [(0, 0, 0), (1, 0, 0), (3, 2, 0)]),  # also on its way
        (["1 5 0 1", "6 5 4 1"], [(0, 0, 0), (1, 0, 0), (6, 5, 0), (10, 5, 4)]),  # as it arrives
        (["1 5 0 1", "1 0 5 1"], [(0, 0, 0), (1, 0, 0), (6, 0, 5)]),  # at one time: the last
        (["0 5 0 1", "9 5 0 1"], [(0, 0, 0), (5, 5, 0)]),  # it has arrived
        (["50 5 0 0.01"], [(0, 0, 0), (50, 0, 0), (100, 0.5, 0)]),  # and the run is over
        (["50 5 0 1e-300"], [(0, 0, 0)]),
        (["200 5 0 1"], [(0, 0, 0)]),
    ],
)
def test_setdest_case_by_case(tmp_path, commands, way):
    text = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n"
    for command in commands:
        at, rest = command.split(" ", 1)
        text += f'$ns_ at {at} "$node_(0) setdest {rest}"\n'
    assert ways(read(tmp_path, "setdest", text))["sta1"] == way


@pytest.mark.skipif(not shutil.which("ns"), reason="no ns-2")
def test_setdest_is_what_ns2_does_to_the_millimetre(tmp_path):
    """A file, and the file written from it, both in ns-2 itself."""
    text = (
        "".join(f"$node_({k}) set X_ {100.25 + 300 * k}\n$node_({k}) set Y_ {70.5 + k}\n" for k in range(3))
        + '$ns_ at 2.0 "$node_(0) setdest 1400.125 250.5 8.5"\n$ns_ at 13.25 "$node_(0) setdest 17.5 3.125 30"\n'
        + '$ns_ at 0.0 "$node_(1) setdest 300.5 33.5 19.25"\n$ns_ at 40.5 "$node_(1) setdest 300.5 133.5 2"\n'
        + '$ns_ at 5.0 "$node_(2) setdest 10.0 10.5 5"\n$ns_ at 9.0 "$node_(2) setdest 10.0 10.5 0"\n'
        + '$ns_ at 11.0 "$node_(2) setdest 900.0 10.5 9"\n$ns_ at 11.0 "$node_(2) setdest 10.5 200.0 11"\n'
    )
    moved = read(tmp_path, "setdest", text, 60)
    (tmp_path / "again.setdest").write_text(setdest.write(moved))
    for file in ("a.setdest", "again.setdest"):
        command = ["ns", HERE / "positions.tcl", tmp_path / file, "3", "1500", "300", "60", "0.73"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = [line.split()[1:] for line in printed.splitlines() if line.startswith("at ")]
        assert len(found) == 3 * 82
        for at, node, *position in found:
            there = position_at(moved.motion[f"sta{int(node) + 1}"], float(at))
            assert math.dist(there, tuple(map(float, position))) < 0.002


def test_bonnmotion(tmp_path):
    moved = read(tmp_path, "bonnmotion", "# a comment\n0.0 1 2 10.0 1 2 20 11 2 90.5 11 2 100 20.5 2\n5 7 8\n")
    assert ways(moved)["sta1"] == [(0, 1, 2), (10, 1, 2), (20, 11, 2), (90.5, 11, 2), (100, 20.5, 2)]
    assert ways(moved)["sta2"] == [(0, 7, 8)]
    assert "sta3" not in moved.motion
    high = read(tmp_path, "bonnmotion", "0 1 2 3 10 1 2 13", dimensions=3)
    assert high.motion == {"sta1": (Waypoint(0.0, (1.0, 2.0, 3.0)), Waypoint(10.0, (1.0, 2.0, 13.0)))}


FCD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- generated by Eclipse SUMO -->
<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
    <timestep time="10.00">
        <vehicle id="veh1" x="5.00" y="1.00" angle="90.00" type="car" speed="0.00" pos="5.10" lane="a_0" slope="0.00"/>
    </timestep>
    <timestep time="11.00">
        <vehicle id="veh1" x="15.00" y="1.00"/>
        <vehicle id="veh0" x="100.00" y="50.00"/>
    </timestep>
    <timestep time="12.00"><vehicle id="veh0" x="110.00" y="50.00"/></timestep>
    <timestep time="13.00"/>
    <timestep time="14.00">
        <vehicle id="veh0" x="200.00" y="50.00"/><person id="p" x="0" y="0" z="7.5"/>
    </timestep>
</fcd-export>
"""


def test_fcd_vehicles_come_and_go(tmp_path):
    moved = read(tmp_path, "fcd", FCD)
    assert moved.motion["sta1"][:2] == (Waypoint(0.0, (5.0, 1.0, 0.0)), Waypoint(10.0, (5.0, 1.0, 0.0)))
    assert moved.motion["sta1"][2:] == (Waypoint(11.0, (15.0, 1.0, 0.0)),)
    assert position_at(moved.motion["sta2"], 11.5) == (105, 50, 0)
    assert moved.motion["sta3"] == (Waypoint(0.0, (0.0, 0.0, 7.5)),)
    assert moved.presence == {
        "sta1": (Span(10.0, 12.0),), "sta2": (Span(11.0, 13.0), Span(14.0, 100.0)), "sta3": (Span(14.0, 100.0),)
    }  # fmt: skip


def test_fcd_begins_where_one_likes_and_takes_as_many_as_one_likes(tmp_path):
    moved = read(tmp_path, "fcd", FCD, 1.0, begin=11.5)
    assert moved.presence == {"sta1": (Span(0.0, 0.5),), "sta2": (Span(0.0, 1.0),)}
    assert moved.nodes["sta2"].position == (105.0, 50.0, 0.0)
    assert read(tmp_path, "fcd", FCD, 1.0, begin=12.25).presence == {"sta1": (Span(0.0, 0.75),)}  # veh1 has gone
    assert list(read(tmp_path, "fcd", FCD, first=2).motion) == ["sta1", "sta2"]


def test_fcd_vehicles_with_names_of_nodes_are_these(tmp_path):
    moved = read(tmp_path, "fcd", FCD.replace("veh1", "sta3").replace("veh0", "sta2"), 13.5)
    assert list(moved.motion) == ["sta3", "sta2"]


def test_scripted(tmp_path):
    moved = read(tmp_path, "scripted", "node, time, x, y\n\nsta1,0,1,2\nsta2,0,5,5\n# rests\nsta1,10,11,2,0\n")
    assert ways(moved) == {"sta1": [(0, 1, 2), (10, 11, 2)], "sta2": [(0, 5, 5)]}
    written = (
        '{"waypoints": {"sta1": [[0, 1, 2], [10, 11, 2, 0]], "sta2": [[0, [5, 5, 0]]]}, "presence": {"sta1": [[0, 9]]}}'
    )
    (tmp_path / "a.json").write_text(written)
    of_file = mobility.move({"model": "scripted", "file": str(tmp_path / "a.json")}, NETWORK, 100, 1)
    assert (of_file.motion, of_file.presence) == (moved.motion, {"sta1": (Span(0.0, 9.0),)})
    given = {"waypoints": {"sta1": [[0, 1, 2], [10, 11, 2]]}, "presence": {"sta2": []}}
    chosen = mobility.check({"model": "scripted", **given})
    assert mobility.check(chosen) == chosen
    assert mobility.move(chosen, NETWORK, 100, 1).presence == {"sta2": ()}


@pytest.mark.parametrize("model", MODELS)
def test_a_file_may_be_packed_and_must_be_there(tmp_path, model):
    text = {"setdest": SETDEST, "bonnmotion": "0 1 2", "fcd": FCD, "scripted": "sta1,0,1,2"}[model]
    plain = read(tmp_path, model, text)
    packed = tmp_path / f"{MODELS[model]}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert mobility.move({"model": model, "file": str(packed)}, NETWORK, 100, 1) == plain
    packed.write_bytes(gzip.compress(text.encode())[:-9])
    for file, said in ((packed, "gz: "), (tmp_path / "gone.csv", "there is no file"), (tmp_path, ": Is a directory")):
        with pytest.raises(ValueError, match=said):
            mobility.move({"model": model, "file": str(file)}, NETWORK, 100, 1)


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("setdest", "$node_(0) set X_ ten", "line 1: 'ten' is not a number"),
        ("setdest", "$node_(0) set X_ nan", "line 1: nan is not between -1e"),
        ("setdest", "#\n$node_(3) set X_ 1", "line 2: there is no node 3: the network has 3, the first is 0"),
        ("setdest", "$node_(0) set X_ 1\nputs hello", r"line 2: 'puts hello' is neither `\$node_\(0\) set X_ 1.0`"),
        ("setdest", '$ns_ at 1 "$node_(0) setdest 1 2 3', "line 1: .* is neither"),
        ("setdest", '\n$ns_ at 1 "$node_(0) setdest 1 2 3"', r"line 2: \$node_\(0\) has no X and no Y_ to begin at"),
        ("setdest", '$node_(0) set X_ 1\n$ns_ at 1 "$node_(0) setdest 1 2 3"', r"line 2: \$node_\(0\) has no Y_"),
        ("setdest", '$ns_ at -1 "$node_(0) setdest 1 2 3"', "line 1: -1 is not between 0 and"),
        ("setdest", '$ns_ at 1 "$node_(0) setdest 1 2 -3"', "line 1: -3 is not between 0 and"),
        ("setdest", '$ns_ at 1 "$node_(0) setdest 1 2e7 3"', "line 1: 2e7 is not between"),
        ("setdest", '$ns_ at 1 "$node_(0) set X_ 3"', "line 1: no station jumps"),
        ("bonnmotion", "0 1 2 3", "line 1: 4 numbers are not a multiple of t x y; perhaps dimensions=3"),
        ("bonnmotion", "0 1 2\n0 1 2 5 1 x", "line 2: 'x' is not a number"),
        ("bonnmotion", "3 1 2 1 1 2", "line 1: after 3 s comes 1 s"),
        ("bonnmotion", "3 1 2 3 1 9", "line 1: after 3 s comes 3 s"),
        ("bonnmotion", "-3 1 2", "line 1: -3 is not between 0"),
        ("bonnmotion", "0 1 2\n" * 4, "line 4: a line for more nodes than the 3 of the network"),
        ("fcd", "<fcd-export>\n<timestep>", "line 2: time is missing"),
        ("fcd", "<fcd-export>\n<timestep time='1'><vehicle id='a' x='1'/>", "line 2: y is missing"),
        ("fcd", "<fcd-export>\n\n<vehicle id='a' x='1' y='1'/>", "line 3: <vehicle> outside of a <timestep>"),
        ("fcd", "<fcd-export><timestep time='2'/>\n<timestep time='1'/>", "line 2: timestep 1 comes after 2"),
        ("fcd", "<fcd-export><timestep time='soon'/>", "line 1: 'soon' is not a number"),
        ("fcd", "<fcd-export><timestep time='2'>\n</fcd-export>", "line 2: mismatched tag"),
        ("fcd", "<fcd-export>\n", "line 2: no element found"),
        ("fcd", "<routes>\n</routes>", "line 1: <routes> where <fcd-export> begins: this is not an FCD trace"),
        ("fcd", '<!DOCTYPE x [<!ENTITY a "b">]><fcd-export/>', "line 1: a DOCTYPE"),
        ("fcd", FCD.replace("veh0", "veh1"), "line 9: veh1 is given twice in this timestep"),
        ("fcd", FCD.replace("</timestep>\n</fcd", '<person id="q" x="0" y="0"/></timestep>\n</fcd'),
         "the trace has 4 vehicles or persons, the network 3 nodes; use first=3"),
        ("scripted", "sta1,0,1", "line 1: 3 cells; a row has node, time, x, y and optionally z"),
        ("scripted", "sta1,0,1,2\nsta9,0,1,2", "line 2: there is no node sta9"),
        ("scripted", "sta1,5,1,2\nsta2,0,1,2\nsta1,5,1,2", "line 3: after 5 s of sta1 comes 5 s"),
        ("scripted", "sta1,5,1,", "line 1: '' is not a number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path, model, text, said):
    with pytest.raises(ValueError, match=said) as caught:
        read(tmp_path, model, text)
    assert str(caught.value).startswith(str(tmp_path / MODELS[model])) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"waypoints": {"sta1": [[0, 1]]}}', "waypoints.sta1.0"),
        ('{"waypoints": {"sta1": [[0, 1, 2]]}, "absence": {}}', "absence: Extra inputs are not permitted"),
    ],
)
def test_what_is_wrong_in_json_is_reported_with_its_place(tmp_path, text, said):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=r"a\.json: .*" + said):
        mobility.move({"model": "scripted", "file": str(tmp_path / "a.json")}, NETWORK, 100, 1)


figure = st.one_of(
    st.floats(0, 200).map(repr),
    st.integers(-3, 30).map(str),
    st.sampled_from(["", "x", "nan", "1e9", "-0", "1e-320", "∞"]),
)
node = st.integers(0, 4)
setdest_line = st.one_of(
    st.builds("$node_({}) set {}_ {}".format, node, st.sampled_from("XYZ"), figure),
    st.builds('$ns_ at {} "$node_({}) setdest {} {} {}"'.format, figure, node, figure, figure, figure),
    st.sampled_from(["", "#", "$god_ x", '$ns_ at 1 "$god_ x"', '"', "$node_(", '$ns_ at 1 "']),
    st.text(max_size=20),
)
thing = st.builds(
    '<{} id="{}" x="{}" y="{}"/>'.format, st.sampled_from(["vehicle", "person", "other"]), node, figure, figure
)
step = st.builds('<timestep time="{}">{}</timestep>'.format, figure, st.lists(thing, max_size=3).map("".join))
ANYTHING = {
    "setdest": st.lists(setdest_line, max_size=12).map("\n".join),
    "bonnmotion": st.lists(st.lists(figure, max_size=9).map(" ".join) | st.text(max_size=9), max_size=5).map("\n".join),
    "fcd": st.lists(step | thing | st.text(max_size=9), max_size=5)
    .map("\n".join)
    .map("<fcd-export>{}</fcd-export>".format),
    "scripted": st.lists(
        st.builds("sta{},{},{},{}".format, node, figure, figure, figure) | st.text(max_size=20), max_size=6
    ).map("\n".join),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@given(data=st.data())
def test_whatever_is_in_a_file_it_is_a_motion_or_is_explained(model, data):
    text: str | bytes = data.draw(ANYTHING[model] | st.binary(max_size=99))
    with tempfile.TemporaryDirectory() as folder:
        try:
            moved = read(Path(folder), model, text)
        except ValueError as error:
            assert folder in str(error)
        else:
            for way in moved.motion.values():
                assert way[0].at_s == 0 and way[-1].at_s <= 100
