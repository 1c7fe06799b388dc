# SPDX-License-Identifier: BSD-3-Clause
"""Users' lanes, studies and topologies, which are files outside the checkout."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from command_line import ROOT, ran

import experiments
import labs
import topologies
from analysis.results.result import Host, Result
from emulation import lanes
from emulation.cli.main import cli
from emulation.lane.errors import Failure, Misuse
from emulation.lane.plugin_folders import POINTS
from emulation.play.lab import Lab, parameters_of
from emulation.play.player import play, play_all
from emulation.play.replay import changed, replay
from emulation.play.run import Outcome, Task
from emulation.play.traces import check_complete
from emulation.setup import Prepared
from emulation.specification import specify
from topologies import mobility
from topologies.files import defines

OWN = ROOT / "tests/plugins"
REMEMBERING, RATES, RING = OWN / "lanes/remembering.py", OWN / "studies/rates.py", OWN / "topologies/ring.py"
TASK = Task(specify("string", {"stations": 3, "seconds": 1}), "none")


def test_the_documentations_topology_is_the_tested_one() -> None:
    assert (ROOT / "docs/topologies.md").read_text().split("```python\n")[1].split("```")[0] == RING.read_text()


@pytest.mark.parametrize("point", [lanes, experiments], ids=lambda point: point.__name__)
def test_what_is_not_there_is_refused(point: ModuleType, tmp_path: Path) -> None:
    """The error lists existing names; also for a file that defines something else."""
    with pytest.raises(ValueError, match=f"there is no .* 'moon'; there are: {', '.join(point.names())}"):
        point.find("moon")
    with pytest.raises(ValueError, match=r"there is no file moon\.py"):
        point.find("moon.py")
    (tmp_path / "moon.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"moon\.py is not a (lane|study)"):
        point.find(str(tmp_path / "moon.py"))


# Where each kind is found, and what its file may be called.
NAMED = dict.fromkeys((lanes, experiments, topologies, mobility), "mine.py") | {labs: "lab.py"}
MISTAKES = {
    "x = 1\n1 / 0\n": "line 2: ZeroDivisionError: division by zero",
    "import nothing_of_the_kind\n": "line 1: ModuleNotFoundError: No module named 'nothing_of_the_kind'",
    "x = 1\ndef (:\n": "line 2: SyntaxError: invalid syntax",
    "int('x')\n": "line 1: ValueError: invalid literal",
    "def f(): f()\nf()\n": "line 1: RecursionError: maximum recursion depth",
}  # fmt: skip
A = '"string", {}, {"a": {}}, []'
NO_STUDIES = {
    '"string", {}, {}, []': "ValueError: a study needs variants, but has none",
    '"string", {}, ["a", "b"], []': "variants: must be a valid dictionary",
    '"string", {}, {"a": 1}, []': "variants.a: must be a valid dictionary, not 1",
    '"string", {}, {"a": {}}, ["C1"]': "claims.0: must be an instance of Claim, not 'C1'",
    '"string", {}': "TypeError: .*missing 2 required positional arguments",
    f"{A}, nosuch=3": "TypeError: .*unexpected keyword argument 'nosuch'",
    f"{A}, names=3": "names: must be a valid dictionary, not 3",
    f"{A}, names={{'x': 3}}": "names.x: must be a valid string, not 3",
    f"{A}, phrases={{'a': 3}}": "phrases.a: must be a valid string, not 3",
    f"{A}, open=3": "open: must be an instance of Sequence, not 3",
    f"{A}, open='tcp'": "open: 'str' instances are not allowed as a Sequence value, not 'tcp'",
    f"{A}, core_s='abc'": "core_s: must be a valid number, not 'abc'",
    f"{A}, repetition=5": "repetition: must be a valid tuple, not 5",
    f"{A}, repetition=(5, 'a')": "repetition.1: must be a valid integer, not 'a'",
    f"{A}, seeds=3": "seeds: must be a valid string, not 3",
    f"{A}, column='today'": "column: must be an instance of Column, not 'today'",
    f"{A}, also={{'today': {{}}}}": "also.*: must be an instance of Column, not 'today'",
    f"{A}, reckoned={{'x': 3}}": "reckoned.x: must be callable, not 3",
    f"{A}, published={{'': {{'x': 3}}}}": "published..x: must be a valid dictionary, not 3",
    f"{A}, published={{'': {{'a': {{'x': 'y'}}}}}}": "published..a.x: must be a valid number, not 'y'",
    f"{A}, published={{'': {{'x': {{}}}}}}": "ValueError: published: there is no variant 'x'; there are: a",
    f"{A}, published={{'x': {{'a': {{}}}}}}": "ValueError: published: there is no case 'x'",
    '"string", {}, {"a": {}}, [Claim("C", "", order("goodput_kbps", "a", "b"))]': "ValueError: C: there is no variant",
    f"{A}, reckoned={{'x': len}}, quantities={{'x': ''}}": "ValueError: a run has no quantity 'x'",
    'None, {}, {"a": {}}, []': "topology: must be a valid string, not None",
    f"{A}, quantities={{'goodput': ''}}": "ValueError: a run has no quantity 'goodput'",
    f"{A}, quantities={{'col.rts': ''}}": "ValueError: a run has no quantity 'col.rts'",
    '"string", {}, {"a": {}}, [Claim("C", "", order("hops", "a", "b"))]': "ValueError: a run has no quantity 'hops'",
    '"strings", {}, {"a": {}}, []': "there is no topology 'strings'; there are: ",
}
# Of options, which are looked at when it is to be run; and those that the user adds.
NO_RUNS = {
    '"string", {"station": 3}, {"a": {}}, []': ("", "there is no option 'station'; there are: "),
    '"string", {}, {"a": {"station": 3}}, []': ("", "there is no option 'station'; there are: "),
    '"string", {"stations": "x"}, {"a": {}}, []': ("--rate 11", "stations: must be a valid integer"),
    '"string", {}, {"a": {"routing": "no"}}, []': ("", "there is no routing 'no'; there are: "),
}
# Functions that go wrong when they are called.
MODEL = "from pydantic import BaseModel\nclass Parameters(BaseModel): pass\n"
AT_WORK = {
    "own.py": (MODEL + "def layout(p):\n    return {}[1]\n", ["own.py"], "own.py, line 4: KeyError: 1"),
    "usual.py": (MODEL + "def layout(p): ...\ndef usual(p):\n    return [][1]\n",
                 ["usual.py"], "usual.py, line 5: IndexError: list index out of range"),
    "go.py": (MODEL + "def move(*_):\n    return 1 / 0\n",
              ["string", "--motion", "go.py"], "motion: go.py, line 4: ZeroDivisionError: division by zero"),
    "slow.py": ("class Slow:\n    name, run = '', print\n    def refusal(self):\n        return 1 / 0\nLANE = Slow()\n",
                ["string", "--lane", "slow.py"], "slow.py, line 4: ZeroDivisionError: division by zero"),
    "applications/mine.py": ("int('x')\n", ["string", "--plugins", ".", "--traffic", "mine"],
                             "mine.py, line 1: ValueError: invalid literal"),
    "routing/mine.py": ("from emulation.lane.routing import Routing\ndef plan(*_, **more):\n    return {}[1]\n",
                        ["string", "--plugins", ".", "--routing", "mine"], "mine.py, line 3: KeyError: 1"),
    "script.py": ("x = 1\nx = (\n", ["script.py"], "script.py, line 2: SyntaxError: '(' was never closed"),
}  # fmt: skip


# Files that define something else than they should, take other arguments, or return something else; and what is said.
PLUGINS = {"links": "--link", "routing": "--routing", "recorders": "--recorders", "applications": "--traffic"}
LINK, PLAN = (
    "from emulation.lane.links import adhoc\nclass Link(adhoc.Link):\n",
    "from emulation.lane.routing import *\n",
)
RECORDER = "from emulation.lane.recorders import *\n"
APPLICATION = "from traffic import applications\nclass Application(applications.Application):\n"
WRONG_PLUGINS = [
    ("links", "x = 1\n", "FILE is not a link: it does not define Link"),
    ("links", "class Link: pass\n", "line 1: Link is not a class derived from emulation.lane.links.Link"),
    ("links", "from emulation.lane import links\nclass Link(links.Link): pass\n",
     "line 2: Link does not define join, type"),
    ("links", LINK + "    recorders = 5\n", "line 2: Link does not fit its base: recorders is not a tuple or a list"),
    ("links", LINK + "    turn = 5\n", "line 2: Link does not fit its base: turn is not a function"),
    ("links", LINK + "    beacon_tu = 'x'\n", "line 2: Link does not fit its base: beacon_tu is not an int or a None"),
    ("links", LINK + "    @classmethod\n    def check(cls, settings): return 5\n",
     "line 3: what check returns is not a dict, but 5"),
    ("links", LINK + "    @classmethod\n    def decide(cls): pass\n",
     "line 3: Link.decide() takes 1 positional argument"),
    ("routing", "x = 1\n", "FILE is not a routing: it does not define plan"),
    ("routing", "from emulation.lane.routing import Routing\n", "FILE is not a routing: it does not define plan"),
    ("routing", PLAN + "plan = 5\n", "line 2: plan is not a function"),
    ("routing", PLAN + "class Routing: pass\ndef plan(*_): pass\n",
     "line 2: Routing is not a class derived from"),
    ("routing", PLAN + "def plan(): pass\n", "line 2: plan() takes 0 positional arguments"),
    ("routing", PLAN + "def plan(*_): return 5\n",
     "line 2: what plan returns is not a list with a Planned for each of"),
    ("routing", PLAN + "def plan(reach, *_): return [5 for _ in reach]\n",
     "line 2: what plan returns has an element that is not a Planned, but 5"),
    ("routing", PLAN + "def plan(reach, *_): return [Planned({}, [99]) for _ in reach]\n",
     "line 2: what plan returns has neighbours that cannot be reached: 99"),
    ("routing", PLAN + "MODULES = 5\ndef plan(reach, *_): return [Planned({}, []) for _ in reach]\n",
     "line 2: MODULES is not a tuple or a list, but 5"),
    ("recorders", "x = 1\n", "FILE is not a recorder: it does not define Recorder"),
    ("recorders", RECORDER + "Recorder = print\n", "line 2: Recorder is not a class derived from"),
    ("recorders", RECORDER + "class Recorder(Recorder): pass\n", "line 2: Recorder does not define start"),
    ("recorders", RECORDER + "class Recorder(Relay): pass\n", "line 2: Recorder does not define channel, file"),
    ("applications", "x = 1\n", "FILE is not an application: it does not define Application"),
    ("applications", "class Application: heeds = ()\n", "line 1: Application is not a class derived from"),
    ("applications", APPLICATION + "    pass\n", "line 2: Application does not define finish, start"),
    ("applications", APPLICATION + "    start = finish = print\n    heeds = 5\n",
     "line 2: Application does not fit its base: heeds is not a tuple or a list or a None"),
    ("applications", APPLICATION + "    start = finish = print\n    settings = 5\n",
     "line 2: Application does not fit its base: settings is not a dict"),
    ("applications", APPLICATION + "    start = finish = print\n    @classmethod\n    def check(cls): pass\n",
     "line 4: Application.check() takes 1 positional argument"),
]  # fmt: skip
PARAMETERS = "from pydantic import *\nfrom topologies import *\nclass Parameters(BaseModel): a: int = 1\n"
LAYOUT = PARAMETERS + "def layout(p): return Layout({'a': (0, 0, 0), 'b': (9, 0, 0)}, [('a', 'b')])\n"
LANE = "from emulation.lanes import LaneResult\nclass Mine:\n    name = 'mine'\n"
WRONG_FILES = [
    ("topology", PARAMETERS + "def layout(p): return Layout({'a': (0, 0, 0)}, [('a', 'c')])\n",
     "line 4: flow a -> c: there is no node c"),
    ("topology", PARAMETERS + "def layout(p): return Layout({'a': (0, 0)}, [])\n", "line 4: position: a position is"),
    ("topology", PARAMETERS + "def layout(p): return Layout({'a': (0, 0, 0)}, [('a',)])\n",
     "line 4: ValueError: not enough values"),
    ("topology", PARAMETERS + "def layout(p): return 5\n",
     "line 4: what layout returns is not a Layout or a Network, but 5"),
    ("topology", PARAMETERS + "def layout(): pass\n", "line 4: layout() takes 0 positional arguments"),
    ("topology",
     "from pydantic import *\nclass Parameters(BaseModel):\n    a: int = Field(1, validate_default=True)\n"
     "    @field_validator('a')\n    def _(cls, a): return {}[a]\ndef layout(p): pass\n", "line 5: KeyError: 1"),
    ("topology", LAYOUT + "usual = 5\n", "line 5: usual is not a function"),
    ("topology", LAYOUT + "def usual(): return {}\n", "line 5: usual() takes 0 positional arguments"),
    ("topology", LAYOUT + "def usual(p): return 5\n", "line 5: what usual returns is not a Mapping, but 5"),
    ("topology", LAYOUT + "def usual(p): return {'nosuch': 5}\n",
     "line 5: what usual returns has options that there are not: nosuch"),
    ("motion", PARAMETERS + "def move(): pass\n", "line 4: move() takes 0 positional arguments"),
    *(("motion", PARAMETERS + f"def move(*_): return {returned}\n", f"motion: mine.py, line 4: {said}")
      for returned, said in {
          "{'sta1': [1, 2, 3]}": "waypoints are times with positions of three numbers, not [1, 2, 3]",
          "{'sta1': [(0, (0, 0))]}": "waypoints are times with positions",
          "{'sta1': [('a', (0, 0, 0))]}": "waypoints are times with positions",
          "{'sta1': None}": "waypoints are times with positions of three numbers, not None",
          "{'sta9': []}": "motion: there is no node sta9",
          "{'sta1': [(5, (0, 0, 0)), (3, (0, 0, 0))]}": "times of waypoints go back",
          "None": "what move returns is not a Mapping, but None",
          "Motion({}, 5)": "what move returns is not a Mapping, but 5",
          "Motion({}, {'sta1': [5]})": "spans of presence are pairs of times, not [5]",
      }.items()),
    ("lane", "class Mine: name = 'mine'\nLANE = Mine()\n", "line 2: LANE has no run"),
    ("lane", "class Mine: run = print\nLANE = Mine()\n", "line 2: LANE has no name"),
    ("lane", LANE + "    run = print\nLANE = Mine\n", "line 5: LANE is not an object, but a class"),
    ("lane", LANE + "    run = print\n    stock = 5\nLANE = Mine()\n", "line 6: LANE has a wrong stock: 5"),
    ("lane", LANE + "    run = print\n    def refusal(self): return 5\nLANE = Mine()\n",
     "line 5: what refusal returns is not a str, but 5"),
]  # fmt: skip


def refused(words: list[str]) -> str:
    """Run with these words, and return the message of the failure, which is no traceback."""
    done = CliRunner().invoke(cli, ["run", *words, "--out", "out"])
    assert isinstance(done.exception, SystemExit | Failure), done.exception
    assert done.exit_code and not Path("out").exists()
    return done.output + str(done.exception)


@pytest.mark.parametrize(("folder", "text", "said"), WRONG_PLUGINS)
def test_a_plug_in_that_is_something_else_is_reported_with_its_line(
    folder: str, text: str, said: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    for point in map(importlib.import_module, POINTS):  # which --plugins makes longer
        monkeypatch.setattr(point, "__path__", [*point.__path__])
        monkeypatch.delitem(sys.modules, f"{point.__name__}.wrong", raising=False)
    Path(folder).mkdir()
    (file := tmp_path / folder / "wrong.py").write_text(text)
    told = refused(["string", "--plugins", ".", PLUGINS[folder], "wrong"])
    assert (said.replace("FILE", str(file)) if said.startswith("FILE") else f"wrong.py, {said}") in told


@pytest.mark.parametrize(("kind", "text", "said"), WRONG_FILES)
def test_a_file_that_gives_something_else_is_reported_with_its_line(
    kind: str, text: str, said: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(text)
    told = refused(["mine.py"] if kind == "topology" else ["string", f"--{kind}", "mine.py"])
    assert (said if kind == "motion" and said.startswith("motion") else f"mine.py, {said}") in told


@pytest.mark.parametrize("point", NAMED, ids=lambda point: point.__name__)
@pytest.mark.parametrize("text", MISTAKES, ids=repr)
def test_a_mistake_in_a_file_is_reported_with_its_line(point: ModuleType, text: str, tmp_path: Path) -> None:
    (tmp_path / NAMED[point]).write_text(text)
    with pytest.raises(ValueError, match=rf"^{NAMED[point]}, {MISTAKES[text]}"):
        point.find(str(tmp_path / NAMED[point] if point is not labs else tmp_path))


@pytest.mark.parametrize("point", NAMED, ids=lambda point: point.__name__)
def test_a_word_that_is_something_else_is_reported_with_its_line(point: ModuleType, tmp_path: Path) -> None:
    text = "move = layout = print\nSTUDY = LANE = LAB = Parameters = 1\n"
    (tmp_path / NAMED[point]).write_text(text)
    with pytest.raises(ValueError, match=rf"^{NAMED[point]}, line 2: [A-Z]\w+ (is no|is not a|has no) \w+"):
        point.find(str(tmp_path / NAMED[point] if point is not labs else tmp_path))


@pytest.mark.parametrize("made", NO_STUDIES)
def test_what_cannot_be_a_study_is_reported_with_its_line(made: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"^mine\.py, line 2: {NO_STUDIES[made]}"):
        experiments.find(study(made, tmp_path))


def study(made: str, folder: Path) -> str:
    """Write a file with such a study."""
    imports = "from experiments import Study; from analysis.tables.claims import Claim, order\n"
    (folder / "mine.py").write_text(f"{imports}STUDY = Study('x', 'X', {made})\n")
    return str(folder / "mine.py")


@pytest.mark.parametrize("made", NO_RUNS)
def test_options_that_a_study_cannot_have_are_reported_with_its_line(made: str, tmp_path: Path) -> None:
    words, said = NO_RUNS[made]
    done = CliRunner().invoke(cli, ["run", study(made, tmp_path), *words.split(), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2 and f"mine.py, line 2: {said}" in done.output
    assert not (tmp_path / "out").exists()


def test_an_option_of_the_users_is_no_mistake_of_the_study(tmp_path: Path) -> None:
    made = study('"string", {"stations": 3}, {"a": {}}, []', tmp_path)
    done = CliRunner().invoke(cli, ["run", made, "--rate", "3"])
    assert done.exit_code == 2 and "rate: " in done.output and "mine.py, line" not in done.output


@pytest.mark.parametrize("file", AT_WORK)
def test_a_mistake_of_a_function_is_reported_with_its_line(file: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for point in map(importlib.import_module, POINTS):  # which --plugins makes longer
        monkeypatch.setattr(point, "__path__", [*point.__path__])
    text, words, said = AT_WORK[file]
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(text)
    done = CliRunner().invoke(cli, ["run", *words, "--out", "out"])
    assert isinstance(done.exception, SystemExit | Failure), done.exception
    assert said in done.output + str(done.exception) and not Path("out").exists()


def test_a_mistake_in_a_lane_at_work_is_reported_with_its_line(tmp_path: Path) -> None:
    """In any process."""
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    name = 'mine'\n    def run(self, *all, **more):\n        return {}['none']\nLANE = Mine()\n"
    )
    lab = Lab(file, {"dcflab": file, "tcp_tap": file}, lanes.find(str(file)))
    with pytest.raises(lanes.LaneError, match=r"mine\.py, line 4: KeyError: 'none'"):
        play_all(lab, [TASK], tmp_path / "runs")


@pytest.mark.parametrize(
    ("run", "said"),
    {
        "def run(self): pass": r"Mine\.run\(\) got an unexpected keyword argument",
        "def run(self, *all, **more): pass": "what run returns is not a LaneResult, but None",
    }.items(),
)
def test_a_lane_that_is_called_or_returns_otherwise_is_reported_with_its_line(
    run: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"class Mine:\n    name = 'mine'\n    {run}\nLANE = Mine()\n")
    lab = Lab(file, {"dcflab": file, "tcp_tap": file}, lanes.find(str(file)))
    with pytest.raises(lanes.LaneError, match=rf"mine\.py, line 3: {said}"):
        play_all(lab, [TASK], tmp_path / "runs")


def test_a_file_is_known_by_what_it_defines(tmp_path: Path) -> None:
    """Without running it."""
    file = tmp_path / "some.py"
    file.write_text("from x import layout, y as z\nclass Parameters: a = 1\nSTUDY: int = 2\nb = c = 3\n1 / 0\n")
    assert defines(str(file)) == {"layout": 1, "z": 1, "Parameters": 2, "STUDY": 3, "b": 4, "c": 4}
    for text, said in {
        "x = 1\ndef": "some.py, line 2: SyntaxError: invalid syntax",
        "\0": "some.py.*null bytes",
    }.items():
        file.write_text(text)
        with pytest.raises(ValueError, match=rf"^{said}"):
            defines(str(file))
    assert defines(str(tmp_path / "none.py")) == {}


def result(outcome: Outcome) -> object:
    """Return what must be the same in two runs."""
    return Result(experiment="", specification={}, runs=[outcome.run], host=Host(lane="", kernel="")).comparable()


def test_a_lane_is_exchanged_for_another(prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane that remembers results plays the same; the second time without a bootable kernel."""
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
    assert changed([one.run, two.run], [two.run, three.run]) == ["lane", "kernel"]
    assert set(one.run.made_of) == {"kernel", "lane", "inside", "dcf80211", "tcp_tap", "plan"}


def test_tasks_run_where_they_are_sent(lab: Lab, tmp_path: Path) -> None:
    """The given function makes the calls, here in turn in this process."""
    told: list[float] = []

    class Here:
        def report(self, what: tuple[float, float]) -> None:
            told.append(what[0])

        def give_way(self) -> None:
            pass

    found = play_all(lab, [TASK], tmp_path, side_by_side=lambda calls, heard, jobs: [call(Here()) for call in calls])
    assert [outcome.run.variant for outcome in found] == ["none"]
    assert told[-1] == 1.0


@pytest.mark.parametrize("lost", ["lost_records", "lost_messages"])
def test_what_a_lane_lost_is_reported(lost: str) -> None:
    air = {"lost_records": 0, "lost_messages": 0}
    check_complete({"air": air})
    with pytest.raises(lanes.LaneError, match=r"lost 7|7 frames were lost"):
        check_complete({"air": {**air, lost: 7}})


def dcflab(here: Path, *arguments: object) -> str:
    return ran(here, *arguments, DCFLAB_MEMORY=str(here / "memory")).stdout


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


def test_options_are_varied_and_runs_continued(prepared: Prepared, tmp_path: Path) -> None:
    """From the command line, on a user's topology: existing runs are reused, missing ones are played."""
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
    assert "goodput, kb/s" in table and "rts full" in table and table.endswith("report: runs/report.html\n")
    one = ["run", "ring.py", "--seconds", "1", "--json"]
    first = Result.model_validate_json(dcflab(tmp_path, *one, "--out", "one"))
    both = Result.model_validate_json(dcflab(tmp_path, *one, "--seeds", "1,2", "--resume", "one"))
    assert [run.seed for run in both.runs] == [1, 2] and both.runs[0] == first.runs[0]


def test_they_run_from_outside_the_checkout(prepared: Prepared, tmp_path: Path) -> None:
    for file in (REMEMBERING, RATES, RING):
        (tmp_path / file.name).write_text(file.read_text())
    assert "R1  agrees" in dcflab(tmp_path, "run", "rates.py", "--full", "--out", "study")
    found = json.loads(
        dcflab(tmp_path, "run", "ring.py", "--stations", "5", "--seconds", "1", "--lane", "remembering.py", "--json",
               "--out", "ring")
    )  # fmt: skip
    assert (found["experiment"], found["host"]["lane"]) == ("ring", "remembering")
    assert found["host"]["kernel"].startswith("6.12")
    again = dcflab(tmp_path, "replay", "ring", "--lane", "virtual", "--trust")
    assert again == "identical, although made of other things now: lane\n"
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
    """Those of a run folder would be built and loaded on this machine, not in a lane."""
    result = {"version": 3, "experiment": "x", "specification": named, "runs": [], "host": {"lane": lane}}
    (tmp_path / "result.json").write_text(json.dumps(result))
    with pytest.raises(Misuse, match="names programs that run on this machine with your rights: mine"):
        replay(tmp_path)
