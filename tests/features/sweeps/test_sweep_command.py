# SPDX-License-Identifier: BSD-3-Clause
"""`sweep`: its files, misuse, and output."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_line import ran
from made_up import GRID, written

from emulation.cli.main import cli, refusal
from emulation.features.sweeps.file import read
from emulation.lane.errors import Misuse


def test_a_file_is_a_study(tmp_path: Path) -> None:
    """The first option of its grid gives the columns; combinations of the others give the rows."""
    study, seeds = read(written(tmp_path, GRID + "queue = [5, 9]\n"))
    assert (study.name, study.topology, seeds) == ("my", "string", [1, 2])
    assert study.variants == {"rts full": {"rts": "full"}, "rts none": {"rts": "none"}}
    assert list(study.cases.values()) == [{"stations": s, "queue": q} for s in (2, 3) for q in (5, 9)]
    assert study.rows == "stations, queue"


def test_points_are_the_columns(tmp_path: Path) -> None:
    """By name, or by their settings; each runs with each row of the grid."""
    points = (
        'show = ["goodput_kbps"]\n'
        + GRID.replace('rts = ["full", "none"]', "")
        + """
[[points]]
name = "SCA"
tcp = "sca"
module-parameters = {"tcp_sca.ca_increase_thresh" = 4}
[[points]]
tcp = "vegas"
"""
    )
    study, _ = read(written(tmp_path, points))
    assert study.variants == {"SCA": {"tcp": "sca", "module_parameters": {"tcp_sca.ca_increase_thresh": 4}},
                              "tcp vegas": {"tcp": "vegas"}}  # fmt: skip
    assert list(study.cases) == ["stations 2", "stations 3"]
    assert study.quantities == {"goodput_kbps": "goodput, kb/s"}


@pytest.mark.parametrize(
    ("wrong", "said", "meant"),
    [
        ("[grid", "my.toml", None), ("", "nothing to vary", None), ("[grid]\nrts = []\n", "rts needs values", None),
        ("[grid]\nrts = [1, 1]\n", "each once", None), ("[[points]]\nrts=1\n[[points]]\nrts=1", "is given twice", None),
        ("[gird]\nrts = ['full', 'none']\n", "gird: there are: topology", None),
        ("[grid]\nrts = ['full', 'nne']\n", "rts nne: rts: must be", "none"),
        ("[grid]\nrtss = ['full', 'none']\n", "there is no option 'rtss'", "rts"),
        ("[options]\nstatons = 3\n[grid]\nrts = ['full', 'none']\n", "there is no option 'statons'", "stations"),
        ("[grid]\nstations = [3, 0]\n", "stations 0: stations: must be at least", None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_before_anything_starts(tmp_path: Path, wrong: str, said: str, meant: str | None) -> None:
    """Also in the last point; with what may have been meant."""
    file = written(tmp_path, f'topology = "string"\n{wrong}')
    with pytest.raises(click.UsageError, match=r"my\.toml|rts|stations") as caught:
        cli.main(["sweep", str(file)], prog_name="./dcflab", standalone_mode=False)
    assert said in caught.value.format_message()
    assert refusal(caught.value)[1] == meant


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("[options]\nrate = 3\n[grid]\nrts = ['full']\n", "my.toml, line 3: rts full: rate: 3 Mb/s is not possible"),
        ("[grid]\nstations = [3, 'x']\n", "my.toml, line 3: stations x: stations: must be a valid integer"),
        ("[[points]]\nname = 'a'\nshort-retry = -1\n", "my.toml, line 4: a: short_retry: must be"),
        ("[[points]]\nrate = 3\n[[points]]\nrate = 2\n", "my.toml: rate 3: rate: 3 Mb/s"),  # it is on two lines
        ("show = ['nosuch']\n[grid]\nrts = ['full']\n", "my.toml, line 2: a run has no quantity 'nosuch'"),
        ("seeds = 'x'\n[grid]\nrts = ['full']\n", "my.toml, line 2: x: a seed is a whole number"),
        ("seeds = 3\n[grid]\nrts = ['full']\n", "my.toml, line 2: seeds: must be a valid string, not 3"),
        ("[gird]\nrts = ['full']\n", "my.toml, line 2: gird: there are"),
        ("[grid]\nrtss = ['full']\n", "my.toml, line 3: there is no option 'rtss'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, wrong: str, said: str) -> None:
    done = CliRunner().invoke(cli, ["sweep", str(written(tmp_path, f'topology = "string"\n{wrong}'))])
    assert done.exit_code == 2 and said in done.output


def test_an_unknown_topology_is_said_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"my\.toml, line 1: there is no topology 'nosuch'"):
        read(written(tmp_path, 'topology = "nosuch"\n[grid]\nstations = [3]\n'))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"none\.toml: No such file"):
        read(tmp_path / "none.toml")
    done = CliRunner().invoke(cli, ["sweep", "xyzzy"], prog_name="./dcflab")
    assert "there is no study 'xyzzy'" in done.output or "xyzzy" in str(done.exception)


@pytest.mark.lane
def test_a_sweep_by_its_command(tmp_path: Path) -> None:
    """It prints its size first, and the second time that nothing is left to do; both write the same."""
    written(tmp_path, GRID)
    said, results = [], []
    for where in ("one", "two"):
        done = ran(tmp_path, "sweep", "my.toml", "--store", "store", "--out", where)
        said.append(done.stderr)
        results.append(json.loads((tmp_path / where / "result.json").read_text())["runs"])
        assert "rts none" in done.stdout
    assert "8 to run, 8 s of air" in said[0]
    assert "8 of 8 runs are in the store: nothing to run" in said[1]
    assert results[0] == results[1]
    assert [run["changes"] for run in results[0]][:2] == [{}, {"rts": "none"}]


MOODY = """
import os
from emulation import lanes
from emulation.lanes import LaneError, Reason

class Moody:
    name = "moody"

    def run(self, kernel, modules, run_folder, *arguments, **more):
        if run_folder.name == "stations-3-rts-none-2" and not os.path.exists("sun"):
            raise LaneError(Reason.CRASHED, "it rained")
        return lanes.find("virtual").run(kernel, modules, run_folder, *arguments, **more)

LANE = Moody()
"""


@pytest.mark.lane
def test_what_failed_is_filed_and_the_rest_is_shown(tmp_path: Path) -> None:
    """Tables have the seeds that all variants have, result.json has all results. The same command runs the rest."""
    written(tmp_path, GRID)
    (tmp_path / "moody.py").write_text(MOODY)
    command = "sweep", "my.toml", "--lane", "./moody.py", "--store", "store", "--out"
    bad = ran(tmp_path, *command, "bad", status=1)
    assert "1 of 8 runs failed: stations-3-rts-none-2: the lane's kernel crashed: it rained" in bad.stderr
    assert "seed 1; 1 s" in bad.stdout
    assert json.loads((tmp_path / "bad/failures.json").read_text()).keys() == {"stations-3-rts-none-2"}
    assert len(json.loads((tmp_path / "bad/result.json").read_text())["runs"]) == 7
    (tmp_path / "sun").touch()
    good = ran(tmp_path, *command, "good")
    assert "7 of 8 runs are in the store; 1 to run" in good.stderr
    assert not (tmp_path / "good/failures.json").exists()
