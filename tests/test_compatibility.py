# SPDX-License-Identifier: BSD-3-Clause
"""docs/compatibility.md agrees with the program."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from command_line import obeyed
from rooms import needs

import emulation
from analysis.load import load
from analysis.results import result
from emulation.cli import main
from emulation.files.foreign import Damaged
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import LaneError, Reason
from emulation.play import session
from emulation.play.finished import Finished
from emulation.setup import prebuilt
from emulation.setup.errors import SetupError
from emulation.specification import Specification

ROOT = Path(__file__).resolve().parents[1]


def section(title: str) -> str:
    page = (ROOT / "docs/compatibility.md").read_text()
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def family(name: str) -> int:
    """Return the version of a netlink family."""
    [specification] = ROOT.glob(f"emulation/**/{name}.yaml")
    return int(re.findall(r"^version: (\d+)$", specification.read_text(), re.MULTILINE)[0])


@needs("check", "claims", "hostap", "labs")
def test_the_page_has_the_version_of_each_format() -> None:
    from emulation.features.check import report
    from emulation.features.claims.record import Record
    from emulation.features.hostap import play
    from emulation.features.labs.marks import Marks

    models = {
        "result.json": result.Result, "run.json": Finished, "specification": Specification, "claims.json": Record,
        "marks.json": Marks,
    }  # fmt: skip
    versions = {name: model.model_fields["version"].default for name, model in models.items()} | {
        "plan.json": result.PLAN_VERSION, "lane.json": result.LANE_VERSION, "report.json": report.VERSION,
        "dcflab.json": prebuilt.VERSION, "dcf80211": family("dcf80211"), "manet": family("manet"),
        "hostap.json": play.VERSION,
    }  # fmt: skip
    rows = re.findall(r"^\|[^|`]*`([\w.]+)`[^|]*\| (\d+) \|", section("Versions of formats"), re.MULTILINE)
    assert {name: int(version) for name, version in rows} == versions


def test_the_page_has_each_error_code() -> None:
    own = {Reason.INTERRUPTED, Reason.MISUSE}  # which are told as `interrupted` and `misuse`
    lanes = {LaneError(reason).code for reason in Reason if reason not in own}
    statuses = {**dict.fromkeys((Failure.code, SetupError.code, Damaged.code, main.SYSTEM, *lanes), 1),
                Misuse.code: 2, main.INTERRUPTED: 130}  # fmt: skip
    rows = re.findall(r"^\| `([\w-]+)` \| (\d+) \|", section("Error codes"), re.MULTILINE)
    assert {code: int(status) for code, status in rows} == statuses


@pytest.mark.parametrize(
    ("words", "code", "more"),
    [
        ("run string --tpc reno", "misuse", {"did_you_mean": "--tcp", "try": "./dcflab run string --help"}),
        ("run string --out .", "misuse", {"try": "./dcflab run string --help"}),
        ("figures .", "damaged", {}),
    ],
)
def test_an_error_is_json_with_its_code(words: str, code: str, more: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("{")
    done = obeyed(tmp_path, *words.split(), "--json")
    error = json.loads(done.stderr)["error"]
    assert (done.stdout, done.returncode) == ("", error.pop("exit"))
    assert error.pop("message") in obeyed(tmp_path, *words.split()).stderr and error == {"code": code, **more}


def test_json_of_a_scripts_own_is_not_asked_of_us(tmp_path: Path) -> None:
    assert obeyed(tmp_path, "run", "nowhere.py", "--", "--json").stderr.startswith("dcflab: ")


def test_a_failed_set_up_and_a_failed_lane_keep_their_codes() -> None:
    """Also from a process that plays runs to this one."""
    assert pickle.loads(pickle.dumps(SetupError("no compiler", ["a log"]))).code == "setup"
    with pytest.raises(Failure) as caught, session.failures():
        raise LaneError(Reason.STILL)
    assert pickle.loads(pickle.dumps(caught.value)).code == "lane-still"


def test_the_changelog_begins_with_this_version() -> None:
    [newest, *_] = re.findall(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest == emulation.version()


def test_a_folder_without_a_result_is_an_error_with_a_code(tmp_path: Path) -> None:
    """Also one that does not exist."""
    for folder in (tmp_path, tmp_path / "nowhere", str(tmp_path / "nowhere")):
        with pytest.raises(Damaged, match=r"result\.json: No such file") as caught:
            load(folder)
        assert caught.value.code == "damaged"
