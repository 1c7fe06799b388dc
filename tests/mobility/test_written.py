# SPDX-License-Identifier: BSD-3-Clause
"""Movement files for other programs: they read back the same, and motion that a format cannot express is refused."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from emulation.cli.main import cli
from topologies import Network, Node, mobility
from topologies.mobility import bonnmotion, setdest

NETWORK = Network(nodes={f"sta{number}": Node(position=(number, 0, 0)) for number in (1, 2, 3)})


def read(folder: Path, model: str, text: str) -> Network:
    (folder / "file").write_text(text)
    return mobility.move({"model": model, "file": str(folder / "file")}, NETWORK, 100, 1)


somewhere = st.integers(-2_000_000, 2_000_000).map(lambda milli: milli / 1000)
some_way = st.lists(st.tuples(st.integers(0, 200_000_000), somewhere, somewhere), min_size=1, max_size=6)


@given(st.lists(some_way, min_size=3, max_size=3))
def test_what_is_written_is_what_is_read(drawn):
    waypoints = {f"sta{k}": [(at / 1e6, x, y) for at, x, y in sorted(way)] for k, way in enumerate(drawn, 1)}
    moved = mobility.move(mobility.check({"model": "scripted", "waypoints": waypoints}), NETWORK, 100, 1)
    with tempfile.TemporaryDirectory() as folder:
        assert read(Path(folder), "bonnmotion", bonnmotion.write(moved)) == moved
        shifted = read(Path(folder), "setdest", setdest.write(moved))
    by = [b - a for a, b in zip(moved.nodes["sta1"].position, shifted.nodes["sta1"].position, strict=True)]
    assert all(abs(metres - round(metres)) < 1e-6 for metres in by)
    for name, way in moved.motion.items():
        there = [(at, (round(x - by[0], 3), round(y - by[1], 3), z)) for at, (x, y, z) in shifted.motion[name]]
        assert there == [(at, tuple(position)) for at, position in way]


def test_nobody_is_written_at_or_below_0_for_ns2():
    text = setdest.write(NETWORK)
    assert text.splitlines()[:2] == ["# 3 nodes; they need: load_flatgrid 4 2", "# shifted by 0, 1 m"]
    assert "$node_(0) set Y_ 1.0" in text


def test_heights_are_written_if_there_are_any():
    high = Network(nodes={"a": Node(position=(1, 2, 3))}, motion={"a": [(1, (1, 2, 3)), (2, (1, 2, 4))]})
    assert bonnmotion.write(high) == "1.0 1.0 2.0 3.0 2.0 1.0 2.0 4.0\n"
    with pytest.raises(ValueError, match="a changes its height, which ns-2's files cannot express"):
        setdest.write(high)


@pytest.mark.parametrize("model", [bonnmotion, setdest])
def test_what_a_format_cannot_say_is_refused(model):
    with pytest.raises(ValueError, match=r"b comes and goes, which .* cannot express"):
        model.write(Network(nodes={"a": Node(), "b": Node()}, presence={"b": [(0, 1)]}))


WAY = ["random", "--stations", "4", "--seconds", "60", "--motion"]


def written(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["motion", *arguments], catch_exceptions=False, standalone_mode=False)
    return result.output


def test_the_motion_of_a_run_is_written_to_a_file(tmp_path):
    """Another run that reads the file writes the same."""
    first, other, again = (str(tmp_path / name) for name in ("a.setdest", "a.movements", "b.setdest"))
    assert written(*WAY, "random_waypoint,area=400x400", "--seed", "5", "--out", first).startswith(
        f"{first}: 4 stations,"
    )
    written(*WAY, f"setdest,file={first}", "--out", other)
    written(*WAY, f"bonnmotion,file={other}", "--out", again)
    text = Path(first).read_text()
    assert text == Path(again).read_text() and text.count("setdest") >= 4
    written(*WAY, "random_waypoint,area=400x400", "--seed", "6", "--out", first)
    assert text != Path(first).read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*WAY, "line,node=sta1", "--out", "a.txt"], r"out: a\.txt is not one of \*\.movements, \*\.setdest"),
        ([*WAY, "line,node=sta9", "--out", "a.setdest"], "there is no node sta9 to move"),
        ([*WAY, "setdest,file=gone", "--out", "a.setdest"], "there is no file .*gone"),
        (
            ["ring", "--out", "a.setdest"],
            "there is no topology 'ring'; there are: mesh, mobile, random, route-break, string",
        ),
        ([*WAY, "line,node=sta1"], "Missing option '--out'"),
    ],
)
def test_what_cannot_be_written_is_refused_before_there_is_a_file(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError) as caught:
        cli.main(["motion", *arguments], prog_name="./dcflab", standalone_mode=False)
    assert re.search(said, caught.value.format_message())
    assert list(tmp_path.iterdir()) == []
