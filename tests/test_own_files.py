# SPDX-License-Identifier: BSD-3-Clause
"""Lanes, studies and topologies of the user's own, which are files outside the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import experiments
from analysis.results.result import Host, Result
from emulation import lanes
from emulation.cli.groups import defines
from emulation.lane.errors import Misuse
from emulation.play.lab import Lab, parameters_of
from emulation.play.player import play, play_all
from emulation.play.replay import changed, replay
from emulation.play.run import Outcome, Task
from emulation.play.traces import check_whole
from emulation.setup import Prepared
from emulation.specification import specify

ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / "tests/plugins"
REMEMBERING, RATES, RING = OWN / "lanes/remembering.py", OWN / "studies/rates.py", OWN / "topologies/ring.py"
TASK = Task(specify("string", {"stations": 3, "seconds": 1}), "none")


@pytest.mark.parametrize(
    ("page", "file"), [("plugins/lane.md", REMEMBERING), ("plugins/study.md", RATES), ("topologies.md", RING)], ids=str
)
def test_the_documentations_examples_are_the_tested_ones(page: str, file: Path) -> None:
    assert (ROOT / "docs" / page).read_text().split("```python\n")[1].split("```")[0] == file.read_text()


@pytest.mark.parametrize("point", [lanes, experiments], ids=lambda point: point.__name__)
def test_what_is_not_there_is_refused(point: ModuleType, tmp_path: Path) -> None:
    """With the names that there are; and a file that holds something else."""
    with pytest.raises(ValueError, match=f"there is no .* 'moon'; there are: {', '.join(point.names())}"):
        point.find("moon")
    with pytest.raises(ValueError, match=r"there is no file moon\.py"):
        point.find("moon.py")
    (tmp_path / "moon.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"moon\.py is no (lane|study)"):
        point.find(str(tmp_path / "moon.py"))


MISTAKES = {
    "x = 1\n1 / 0\n": "line 2: ZeroDivisionError: division by zero",
    "import nothing_of_the_kind\n": "line 1: ModuleNotFoundError: No module named 'nothing_of_the_kind'",
    "x = 1\ndef (:\n": "line 2: SyntaxError: invalid syntax",
    "int('x')\n": "line 1: ValueError: invalid literal",
    "def f(): f()\nf()\n": "line 1: RecursionError: maximum recursion depth",
}  # fmt: skip
NO_STUDIES = {
    '"string", {}, {}, []': "ValueError: a study has variants: there are none",
    '"string", {}, ["a", "b"], []': r"TypeError: a study's variants are a mapping, not \['a', 'b'\]",
    '"string", {}, {"a": 1}, []': "TypeError: variants: 'a' is a mapping of options, not 1",
    '"string", {}, {"a": {}}, ["C1"]': "TypeError: claims: 'C1' is no Claim",
    '"string", {}': "TypeError: .*missing 2 required positional arguments",
}


@pytest.mark.parametrize("point", [lanes, experiments], ids=lambda point: point.__name__)
@pytest.mark.parametrize("text", MISTAKES, ids=repr)
def test_a_mistake_in_a_file_is_said_with_its_line(point: ModuleType, text: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(ValueError, match=rf"^mine\.py, {MISTAKES[text]}"):
        point.find(str(tmp_path / "mine.py"))


@pytest.mark.parametrize("made", NO_STUDIES)
def test_what_cannot_be_a_study_is_said_with_its_line(made: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"from experiments import Study\nSTUDY = Study('x', 'X', {made})\n")
    with pytest.raises(ValueError, match=rf"^mine\.py, line 2: {NO_STUDIES[made]}"):
        experiments.find(str(tmp_path / "mine.py"))


def test_a_mistake_in_a_lane_at_work_is_said_with_its_line(tmp_path: Path) -> None:
    """In whose process it ran."""
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    name = 'mine'\n    def run(self, *all, **more):\n        return {}['none']\nLANE = Mine()\n"
    )
    lab = Lab(file, {"dcflab": file, "tcp_tap": file}, lanes.find(str(file)))
    with pytest.raises(lanes.LaneError, match=r"mine\.py, line 4: KeyError: 'none'"):
        play_all(lab, [TASK], tmp_path / "runs")


def test_a_file_is_known_by_what_it_defines(tmp_path: Path) -> None:
    """Which is found without running it; what cannot be read defines nothing."""
    file = tmp_path / "some.py"
    file.write_text("from x import layout, y as z\nclass Parameters: a = 1\nSTUDY: int = 2\nb = c = 3\n1 / 0\n")
    assert defines(str(file)) == {"layout", "z", "Parameters", "STUDY", "b", "c"}
    for text in ("def", "\0"):
        file.write_text(text)
        assert defines(str(file)) == set()
    assert defines(str(tmp_path / "none.py")) == set()


def result(outcome: Outcome) -> object:
    """What makes two runs the same."""
    return Result(experiment="", specification={}, runs=[outcome.run], host=Host(lane="", kernel="")).comparable()


@pytest.mark.lane
def test_a_lane_is_exchanged_for_another(prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that remembers plays the same; the second time without a kernel that could boot."""
    monkeypatch.setenv("DCFLAB_MEMORY", str(tmp_path / "memory"))
    no_kernel = tmp_path / "no-kernel"
    no_kernel.touch()
    remembering = lanes.find(str(REMEMBERING))
    labs = [
        Lab(prepared.kernel.linux, prepared.modules),
        Lab(prepared.kernel.linux, prepared.modules, remembering),
        Lab(no_kernel, prepared.modules, remembering),
    ]
    one, two, three = (play(lab, TASK, tmp_path / str(at)) for at, lab in enumerate(labs))
    assert result(one) == result(two) == result(three)
    assert changed([one.run, two.run], [two.run, three.run]) == ["kernel"]
    assert set(one.run.made_of) == {"kernel", "inside", "dcf80211", "tcp_tap", "plan"}


@pytest.mark.lane
def test_tasks_run_where_they_are_sent(prepared: Prepared, tmp_path: Path) -> None:
    """Calls are made by what is given: here one after the other, in this process."""
    lab = Lab(prepared.kernel.linux, prepared.modules)
    told: list[float] = []

    class Here:
        def tell(self, what: tuple[float, float]) -> None:
            told.append(what[0])

        def stand_back(self) -> None:
            pass

    found = play_all(lab, [TASK], tmp_path, side_by_side=lambda calls, heard, jobs: [call(Here()) for call in calls])
    assert [outcome.run.variant for outcome in found] == ["none"]
    assert told[-1] == 1.0


@pytest.mark.parametrize("lost", ["lost_records", "lost_messages"])
def test_what_a_lane_lost_is_said(lost: str) -> None:
    air = {"lost_records": 0, "lost_messages": 0}
    check_whole({"air": air})
    with pytest.raises(lanes.LaneError, match=r"lost 7|7 frames were lost"):
        check_whole({"air": {**air, lost: 7}})


def dcflab(here: Path, *arguments: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DCFLAB_MEMORY": str(here / "memory")}
    command = [sys.executable, "-P", "-m", "emulation", *map(str, arguments)]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_studys_topology_is_beside_it(tmp_path: Path) -> None:
    study = tmp_path / "rates.py"
    study.write_text(RATES.read_text().replace('topology="string"', 'topology="own/ring.py"'))
    (tmp_path / "own").mkdir()
    (tmp_path / "own/ring.py").write_text(RING.read_text())
    assert experiments.find(str(study)).topology == str(tmp_path / "own/ring.py")


@pytest.mark.lane
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--module-parameters tcp_cwl.limt=3", "tcp_cwl: there is no parameter 'limt'; there are: hops, limit, rule"),
        ("--vary module_parameters=tcp_cwl.limit=3,tcp_cwl.limt=3", "limt"),
        ("--load tcp_none", "there is no kernel module tcp_none"),
    ],
)
def test_what_modules_have_not_is_refused_before_there_is_a_folder(
    prepared: Prepared, tmp_path: Path, options: str, said: str
) -> None:
    with pytest.raises(AssertionError, match=said):
        dcflab(tmp_path, "run", "string", "--tcp", "cwl", *options.split(), "--out", "runs")
    assert not (tmp_path / "runs").exists()


def test_a_modules_parameters_are_those_that_modinfo_tells(prepared: Prepared) -> None:
    for module in prepared.modules.values():
        told = subprocess.run(["/sbin/modinfo", "-p", module], capture_output=True, text=True, check=True).stdout
        assert parameters_of(module) == sorted({line.partition(":")[0] for line in told.splitlines()}), module


@pytest.mark.lane
def test_options_are_varied_and_runs_continued(prepared: Prepared, tmp_path: Path) -> None:
    """From outside, on a topology of one's own: what is there is taken over, what is missing is run."""
    (tmp_path / "ring.py").write_text(RING.read_text())
    varied = ["run", "ring.py", "--seconds", "1", "--vary", "rts=none,full", "--vary", "stations=4,5"]
    said = dcflab(tmp_path, *varied, "--out", "runs", "--json")
    runs = Result.model_validate_json(said).runs
    assert [(run.variant, run.case) for run in runs] == [
        (f"rts {rts}", f"stations {stations}") for stations in (4, 5) for rts in ("none", "full")
    ]
    assert [len(run.stations) for run in runs] == [4, 4, 5, 5]
    assert (tmp_path / "runs/stations-4-rts-none-1/air.pcapng.gz").is_file()
    (tmp_path / "runs/stations-4-rts-none-1/run.json").unlink()
    again = Result.model_validate_json(dcflab(tmp_path, *varied, "--resume", "runs", "--json"))
    assert [run.wall_s == before.wall_s for run, before in zip(again.runs, runs, strict=True)] == [False, *[True] * 3]
    assert [run.trace_sha256 for run in again.runs] == [run.trace_sha256 for run in runs]
    table = dcflab(tmp_path, *varied, "--resume", "runs")
    assert "goodput, kb/s" in table and "rts full" in table and table.endswith("runs/\n")
    one = ["run", "ring.py", "--seconds", "1", "--json"]
    first = Result.model_validate_json(dcflab(tmp_path, *one, "--out", "one"))
    both = Result.model_validate_json(dcflab(tmp_path, *one, "--seeds", "1,2", "--resume", "one"))
    assert [run.seed for run in both.runs] == [1, 2] and both.runs[0] == first.runs[0]


@pytest.mark.lane
def test_they_run_from_outside_the_checkout(prepared: Prepared, tmp_path: Path) -> None:
    for file in (REMEMBERING, RATES, RING):
        (tmp_path / file.name).write_text(file.read_text())
    assert "R1  holds" in dcflab(tmp_path, "run", "rates.py", "--out", "study")
    found = json.loads(
        dcflab(tmp_path, "run", "ring.py", "--stations", "5", "--seconds", "1", "--lane", "remembering.py", "--json",
               "--out", "ring")
    )  # fmt: skip
    assert (found["experiment"], found["host"]["lane"]) == ("ring", "remembering")
    assert found["host"]["kernel"].startswith("6.12")
    assert dcflab(tmp_path, "replay", "ring", "--lane", "virtual", "--trust") == "identical\n"
    assert dcflab(tmp_path, "replay", "study") == "identical\n"


@pytest.mark.parametrize(
    ("named", "lane"),
    [
        ({"kernel": {"modules": ["mine"]}}, "virtual"),
        ({"kernel": {"plugins": ["mine"]}}, "virtual"),
        ({"topology": "mine.py"}, "virtual"),
        ({}, "mine.py"),
    ],
)
def test_a_strangers_programs_are_not_run_unasked(tmp_path: Path, named: dict[str, object], lane: str) -> None:
    """Of a run folder: they would be built and loaded on this machine, and not in a lane."""
    result = {"version": 3, "experiment": "x", "specification": named, "runs": [], "host": {"lane": lane}}
    (tmp_path / "result.json").write_text(json.dumps(result))
    with pytest.raises(Misuse, match="names programs that run on this machine, as you: mine"):
        replay(tmp_path)
