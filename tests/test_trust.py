# SPDX-License-Identifier: BSD-3-Clause
"""Files of a lane and of run folders are untrusted: no program that they name runs here without consent."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click import UsageError
from click.testing import CliRunner
from rooms import needs

from analysis.results import result
from analysis.results.result import Result
from emulation.cli import own
from emulation.cli.main import cli
from emulation.lane.errors import Failure, Misuse
from emulation.lane.measurement import REQUEST_FILE
from emulation.play import trust
from emulation.play.replay import replay
from emulation.play.script import specification_of
from emulation.play.tasks import tasks_again
from emulation.specification import Specification, flatten, specify, unflatten
from topologies.files import NOBODY, USER, Trust

RUN = {
    "seed": 1, "goodput_segments": 0, "goodput_kbps": 0, "col": {"rtscts": 0, "data": 0, "ack": 0,
    "any": {"rtscts": 0, "data": 0, "ack": 0}}, "fail": {"rtscts": 0, "data": 0, "ack": 0}, "in_flight": None,
    "queue_drops": 0, "trace": None, "trace_sha256": None, "air_s": 1, "wall_s": 1, "flows": [], "settings": [],
    "stations": [], "lost_records": 0, "refused_frames": 0, "late_ns_max": 0,
}  # fmt: skip
PROGRAM = """
from pathlib import Path
from pydantic import BaseModel
from topologies import string
Path(__file__).with_name("ran").touch()
class Parameters(BaseModel): speed: int = 1
def move(*_): return {}
def layout(_): return string.layout(string.Parameters())
class LANE: run = None
"""


class Stranger:
    """A file that reports when it runs, and a run folder beside it."""

    def __init__(self, place: Path) -> None:
        self.file, self.ran, self.folder = str(place / "theirs.py"), place / "ran", place / "run"
        Path(self.file).write_text(PROGRAM)
        self.folder.mkdir()

    def leaves(self, specification: Any, changes: Any = None, lane: str = "virtual", **more: Any) -> Result:
        run = {**RUN, "changes": changes or {}}
        told = {
            "version": result.VERSION,
            "experiment": "x",
            "specification": specification,
            "runs": [run],
            "host": {"lane": lane},
        }
        (self.folder / "result.json").write_text(json.dumps({**told, **more}))
        return result.read(self.folder / "result.json")


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    return Stranger(tmp_path)


NAMED = [
    {"network": {"topology": "THEIRS"}},
    {"network": {"motion": {"model": "THEIRS"}}},
    {"network": {"motion": "THEIRS,speed=1"}},
    {"network": {"topology": "THEIRS", "own": None, "parameters": {"speed": 1}}},
    {"kernel": {"plugins": ["FOLDER"]}},
    {"kernel": {"modules": "FOLDER,other"}},
]


def filled(value: Any, stranger: Stranger) -> Any:
    text = json.dumps(value).replace("THEIRS", stranger.file).replace("FOLDER", str(stranger.folder.parent))
    return json.loads(text)


@pytest.mark.parametrize("named", NAMED, ids=json.dumps)
def test_a_specification_of_others_names_no_program(stranger: Stranger, named: dict[str, Any]) -> None:
    """By default, and explicitly."""
    told = filled(named, stranger)
    for make in (
        lambda: Specification.model_validate(told),
        lambda: Specification.model_validate_json(json.dumps(told)),
        lambda: Specification(**told),
        lambda: Specification.model_validate(told, context=NOBODY),
        lambda: unflatten({"topology": "string", **{n: v for section in told.values() for n, v in section.items()}}),
    ):
        with pytest.raises(ValueError, match="that a file from somebody else names"):
            make()
    assert not stranger.ran.exists()


def test_a_users_own_words_name_programs(stranger: Stranger) -> None:
    """What was made from them is not made again from a stranger's."""
    made = specify(stranger.file, {"motion": stranger.file})
    assert stranger.ran.exists()
    stranger.ran.unlink()
    with pytest.raises(ValueError, match="that a file from somebody else names"):
        unflatten(flatten(made))
    assert not stranger.ran.exists()
    assert unflatten(flatten(made), USER) == made
    assert unflatten(flatten(made), Trust(frozenset({stranger.file}))) == made


@pytest.mark.parametrize(
    "named", [{"medium": {"per": "/dev/zero"}}, {"medium": {"propagation": "table,file=/dev/zero"}},
              {"network": {"topology": "testbed", "parameters": {"links": "/dev/zero"}}}], ids=json.dumps,
)  # fmt: skip
def test_a_lane_has_no_file_read_here(stranger: Stranger, named: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="that a file from somebody else names"):
        Specification.model_validate(named, context=NOBODY)


@pytest.mark.parametrize("named", NAMED[:4], ids=json.dumps)
def test_what_a_script_says_of_its_runs_runs_nothing(stranger: Stranger, named: dict[str, Any]) -> None:
    told = {"network": {}, "kernel": {}, **filled(named, stranger)}
    with pytest.raises(Failure, match=rf"{REQUEST_FILE}.*that a file from somebody else names"):
        specification_of(stranger.folder, {"specification": told}, [])
    assert not stranger.ran.exists()


@pytest.mark.parametrize("told", [None, [], 7, {}, {"specification": []}, {"specification": {"kernel": 1}}], ids=str)
def test_an_invalid_specification_is_reported(tmp_path: Path, told: Any) -> None:
    with pytest.raises(Failure, match=REQUEST_FILE):
        specification_of(tmp_path, told, [])


@pytest.mark.parametrize("named", NAMED, ids=json.dumps)
def test_a_strangers_folder_runs_nothing_unasked(stranger: Stranger, named: dict[str, Any]) -> None:
    """In any field, also of one run only; a user who trusts it can run it."""
    told = filled(named, stranger)
    flat = {name: value for section in told.values() for name, value in section.items()}
    for before in (stranger.leaves(told), stranger.leaves({}, changes=flat)):
        assert trust.programs_of(before)[0].startswith(str(stranger.folder.parent))
        with pytest.raises(Misuse, match=r"names programs that run on this machine with your rights: .*add --trust"):
            replay(stranger.folder)
        with pytest.raises(Misuse, match="that a file from somebody else names"):
            tasks_again(before, stranger.folder)
        assert not stranger.ran.exists()
    trusted = trust.trust_to_play(stranger.folder, before, True)
    assert len(tasks_again(stranger.leaves(told), stranger.folder, trusted)) == 1
    assert stranger.ran.exists() == (stranger.file in str(told))


@needs("film")
def test_a_film_asks_for_files_only(stranger: Stranger, capsys: pytest.CaptureFixture[str]) -> None:
    """It plans nothing, and says what it omits."""
    from emulation.features.film import runs as film

    stranger.leaves({"kernel": {"plugins": [str(stranger.folder)]}})
    assert film._reach_m(stranger.folder / "1", trust.trust_for_ranges(stranger.folder, False))
    assert capsys.readouterr().err == ""
    stranger.leaves({"network": {"motion": {"model": stranger.file}}})
    assert film._reach_m(stranger.folder / "1", trust.trust_for_ranges(stranger.folder, False)) is None
    assert f"the ranges of stations are not shown: to compute them, this machine would run {stranger.file}" in (
        capsys.readouterr().err
    )
    assert film._reach_m(stranger.folder / "1", trust.trust_for_ranges(stranger.folder, True))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lane": "THEIRS"}, "theirs.py"),
        ({"lane": "host"}, "all of it, in the lane host"),
        ({"lane": "vm", "host": {"lane": "vm", "kernel": "/tmp/vmlinuz"}}, "/tmp/vmlinuz"),
        ({"script": {"path": "x.py", "seeds": [1], "modules": ["/tmp/mine"]}}, "/tmp/mine/"),
    ],
    ids=str,
)
def test_where_and_by_what_it_ran_is_asked_about(stranger: Stranger, more: dict[str, Any], said: str) -> None:
    before = stranger.leaves({}, **filled(more, stranger))
    assert [name for name in trust.programs_of(before) if name.endswith(said)]
    with pytest.raises(Misuse, match=said):
        replay(stranger.folder)
    assert not stranger.ran.exists()


def test_of_a_folder_without_programs_nobody_is_asked(stranger: Stranger) -> None:
    made = specify("string", {"motion": "line,node=sta1", "stations": 3})
    before = stranger.leaves(made.model_dump(mode="json"), {"rts": "full", "routing": {"kind": "aodv"}})
    assert trust.programs_of(before) == []
    assert trust.trust_to_play(stranger.folder, before, False) == Trust()
    assert len(tasks_again(before, stranger.folder)) == 1


STUDY = """
from pathlib import Path
from experiments import Study
Path(__file__).with_name("ran").touch()
STUDY = Study("theirs", "Theirs", "string", {"stations": 3, "seconds": 1}, {"a": {"rts": "none"}}, [])
"""


def command(*words: object) -> Any:
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False)


@pytest.mark.parametrize(
    "verb",
    [
        "run",
        pytest.param("sweep", marks=needs("sweeps")),
        pytest.param("shell", marks=needs("prompt")),
        pytest.param("live", marks=needs("live")),
        "motion",
    ],
)
def test_a_file_that_others_can_write_is_not_run_unasked(stranger: Stranger, verb: str) -> None:
    """Not for its help either; a user who trusts it sees its options."""
    study = verb == "sweep"
    Path(stranger.file).write_text(STUDY if study else PROGRAM)
    Path(stranger.file).chmod(0o666)
    refused = command(verb, stranger.file, "--out", stranger.folder / "new").exception
    what = "study" if study else "topology"
    assert f"is a {what}, which runs on this machine with your rights, and others may write to" in str(refused)
    assert "add --trust" in str(refused) and isinstance(refused, UsageError)
    helped = command(verb, stranger.file, "--help")
    assert helped.exit_code == 0 and "was not run" in " ".join(helped.output.split())
    assert not stranger.ran.exists()
    assert "--seconds" in command(verb, stranger.file, "--trust", "--help").output
    assert stranger.ran.exists()


def test_that_a_file_of_ones_own_runs_here_is_reported(stranger: Stranger) -> None:
    """Except for help, and for a script, which runs in a lane."""
    said = f"{stranger.file} is a study: it runs on this machine with your rights, not in a lane"
    Path(stranger.file).write_text(STUDY)
    assert said in command("run", stranger.file, "--no-such-option").stderr
    helped = command("run", stranger.file, "--help")
    assert "--variant" in helped.output and said not in helped.stderr
    Path(stranger.file).write_text("raise SystemExit('it was run')")
    scripted = command("run", stranger.file, "--no-such-option")
    assert isinstance(scripted.exception, UsageError) and "with your rights" not in scripted.stderr


@needs("sweeps")
def test_a_sweep_of_others_names_no_program(stranger: Stranger) -> None:
    file = stranger.folder / "theirs.toml"
    file.write_text(f'topology = "{stranger.file}"\n[grid]\nrts = ["none", "full"]\n')
    file.chmod(0o666)
    assert f"sweep with {stranger.file}, which runs on this machine" in str(command("sweep", file).exception)
    assert not stranger.ran.exists()
    file.write_text('topology = "string"\n[grid]\nrts = ["none", "none"]\n')
    assert "rts needs values" in str(command("sweep", file).exception)


@pytest.mark.parametrize(
    ("mode", "folder", "whose"),
    [(0o644, 0o755, ""), (0o646, 0o755, "others"), (0o644, 0o777, "others"), (0o644, 0o1777, "")], ids=str,
)  # fmt: skip
def test_whose_a_file_is(stranger: Stranger, mode: int, folder: int, whose: str) -> None:
    Path(stranger.file).chmod(mode)
    Path(stranger.file).parent.chmod(folder)
    assert bool(own.other_writers(stranger.file)) == bool(whose)
    assert own.other_writers(own.__file__) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root, to give a file away")
def test_a_file_of_another_user_is_not_roots_own(stranger: Stranger) -> None:
    os.chown(stranger.file, 65534, 65534)
    assert own.other_writers(stranger.file) == f"{stranger.file} belongs to nobody"


@needs("labs")
def test_a_lab_of_others_is_not_run_unasked(stranger: Stranger) -> None:
    """Neither to show it, nor to judge."""
    lab = stranger.folder.parent / "lab"
    lab.mkdir()
    (lab / "lab.py").write_text('from pathlib import Path\nPath(__file__).parent.with_name("ran").touch()\n')
    (lab / "lab.py").chmod(0o666)
    for words in ([lab], ["check", lab, stranger.folder]):
        assert "lab.py is a lab, which runs on this machine with your rights" in str(command("lab", *words).exception)
    assert "was not run" in " ".join(command("lab", lab, "--help").output.split())
    assert not stranger.ran.exists()
    command("lab", lab, "--trust")
    assert stranger.ran.exists()
