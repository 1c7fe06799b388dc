# SPDX-License-Identifier: BSD-3-Clause
"""Sheets and the command: malformed ones give a message; a folder of them is marked, and marking continues."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import click
import pytest
from click.testing import CliRunner, Result
from played import Played
from right import right_answers

import labs
from emulation.cli.main import cli
from emulation.features.labs import judge, marks
from emulation.features.labs.begin import handout
from emulation.features.labs.sheet import Sheet, read, student_named
from emulation.lane.errors import Failure, Misuse
from emulation.play import junit
from emulation.play.lab import Lab

HEAD = 'lab = "hidden-terminal"\nstudent = "ada"\n'
DOCUMENTED = (Path(__file__).parents[2] / "plugins/labs/two_rates/lab.py").read_text()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], prog_name="./dcflab")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it does not say who answers"),
        (b"student = 7", "it does not say who answers"),
        (b'student = " "', "a name, or a number"),
        (b'student = "a\\u0007"', "a name, or a number"),
        (b'student = "' + b"a" * 99 + b'"', "a name, or a number"),
        (b"\xff\xfe", "it is not text"),
        (b"student = [", "this is not a sheet of answers"),
        (b"a = " + b"[" * 5000, "this is not a sheet of answers"),
        (HEAD.encode() + b"hiden_kbps = 3", "there is no question 'hiden_kbps'"),
        (b'lab = "moon"\nstudent = "ada"', "of the lab 'moon'"),
        (b"#" * 70_000, "more than 64 kB"),
    ],
)
def test_an_invalid_sheet_is_reported(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_bytes(content)
    with pytest.raises(Misuse, match=said):
        read(labs.find("hidden-terminal"), tmp_path)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """Neither a pipe, which would block, nor a link or a device."""
    found = labs.find("hidden-terminal")
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "link.toml").symlink_to("/etc/passwd")
    for path, said in (
        (tmp_path / "pipe.toml", "plain file"),
        (tmp_path / "link.toml", "it is a link"),
        (Path("/dev/zero"), "plain file"),
        (tmp_path / "none.toml", "there is no file"),
    ):
        with pytest.raises(Misuse, match=said):
            read(found, path)


def test_labs_are_listed() -> None:
    shown = run("lab").output
    told = json.loads(run("lab", "--json").output)
    assert [each["name"] for each in told] == labs.names()
    assert all(each["title"] and each["minutes"] and each["points"] and each["teaches"] in shown for each in told)
    with pytest.raises(click.UsageError, match="there is no lab 'hiden-terminal'"):
        cli.main(["lab", "hiden-terminal"], standalone_mode=False)


def test_a_lab_is_begun_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begun = run("lab", "hidden-terminal", "--student", "Ada L.")
    there = tmp_path / "hidden-terminal-ada-l"
    assert begun.exit_code == 0 and {file.name for file in there.iterdir()} >= {
        *("answers.toml", "handout.md", "figure.svg", "network.py", "tap.py"),
    }
    seed = read(labs.find("hidden-terminal"), there).student.seed
    handout = (there / "handout.md").read_text()
    assert f"run hidden-terminal-ada-l/network.py --seed {seed} " in handout and "--seed 1 " not in handout
    with pytest.raises(click.UsageError, match="exists"):
        CliRunner().invoke(
            cli, ["lab", "hidden-terminal", "--student", "Ada L."], catch_exceptions=False, standalone_mode=False
        )


def test_a_students_handout_has_the_students_numbers_where_they_are_to_be() -> None:
    found = labs.find("window-against-hops")
    who = student_named(found, "ada")
    text = handout(found, who, Path("mine"))
    drawn = f"--stations {who.drawn['stations']} --seed {who.seed} "
    assert drawn in text and "--stations=2" in text and "run mine/windows.py" in text and "--seed 1 " not in text


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The documentation's example of a lab, in another folder."""
    folder = tmp_path / "two-rates"
    folder.mkdir()
    (folder / "lab.py").write_text(DOCUMENTED)
    (folder / "README.md").write_text("# Two rates\n\n    ./dcflab run string --stations 2 --seed 1 --mss 1000\n")
    return folder


def test_a_lab_of_ones_own_is_a_folder(own: Path, tmp_path: Path, lab: Lab) -> None:
    """The documented lab is begun, answered and judged: one right answer, and one usual mistake."""
    assert run("lab", own, "--student", "ada", "--out", tmp_path / "ada").exit_code == 0
    found = labs.find(str(own))
    sheet = read(found, tmp_path / "ada")
    runs = judge.play(lab, found, sheet.student, tmp_path / "runs")
    right = right_answers(found, sheet.student, runs)
    (tmp_path / "ada/answers.toml").write_text(f'student = "ada"\ngain = 5.5\nwhy = "{right["why"]}"\n')
    checked = run("lab", "check", own, tmp_path / "ada")
    assert checked.exit_code == 1 and "1 of 2 points" in checked.output and "measure it" in checked.output
    (tmp_path / "ada/answers.toml").write_text(f'student = "ada"\ngain = {right["gain"]}\nwhy = "{right["why"]}"\n')
    told = run("lab", "check", own, tmp_path / "ada", "--json")
    assert told.exit_code == 0 and json.loads(told.output)["points"] == 2
    assert str(sheet.student.drawn["mss"]) in (tmp_path / "ada/handout.md").read_text()


def test_a_folder_of_sheets_is_marked_and_gone_on_with(
    own: Path, tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken sheet is reported. Unchanged sheets are not judged again. Copied numbers are shown."""
    found, sheets = labs.find(str(own)), tmp_path / "sheets"
    (sheets / "cy").mkdir(parents=True)
    (sheets / "ada.toml").write_text('student = "ada"\ngain = 5.5\n')
    (sheets / "bob.toml").write_text("student = [")
    (sheets / "cy/answers.toml").write_text('student = "cy"\nwhy = "a"\n')
    judged: list[str] = []

    def counted(lab: Lab, found: labs.Found, sheet: judge.Sheet, jobs: int | None) -> judge.Marked:
        judged.append(sheet.student.name)
        if sheet.student.name == "cy" and len(judged) == 2:
            raise Failure("interrupted")
        return judge.judge(lab, found, sheet, jobs)

    monkeypatch.setattr(marks, "judge", counted)
    with pytest.raises(Failure):
        marks.mark(lab, found, sheets, None)
    kept = marks.mark(lab, found, sheets, None)
    assert judged == ["ada", "cy", "cy"]
    assert "not a sheet of answers" in kept.sheets["bob.toml"].broken
    (sheets / "bob.toml").write_text('student = "bob"\n')
    kept = marks.mark(lab, found, sheets, None)
    assert judged == ["ada", "cy", "cy", "bob"] and not kept.alike()
    suites = ElementTree.fromstring(junit.text(marks.suites(kept)))
    assert [suite.get("name") for suite in suites] == ["ada", "bob", "cy"] and suites[0].get("failures") == "2"


def test_wrong_numbers_that_are_somebody_elses_are_named(played: Played) -> None:
    def mark(student: str, points: int) -> marks.Mark:
        answers = [judge.Answer(question=n, state=judge.State.NOT_YET, points=points, of=1) for n in ("a", "b")]
        marked = judge.Marked(lab="x", student=student, seed=1, answers=answers)
        return marks.Mark(made_of="", marked=marked, numbers={"a": "123", "b": "456"})

    kept = marks.Marks(lab="x", sheets={"ada": mark("ada", 1), "bob": mark("bob", 0)})
    assert kept.alike() == {"bob": ["ada"]} and not kept.twice()
    assert marks.Marks(lab="x", sheets={"a": mark("ada", 1), "b": mark("Ada", 1)}).twice() == {"ada": ["a", "b"]}


def test_a_mistake_in_a_labs_question_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "lab.py").write_text(
        "from labs import Lab, Number\nof = lambda runs: runs['b']\n"
        "ASKED = Number(name='q', asks='', look='', unit='', within=0.1, of=of)\n"
        "LAB = Lab(title='', teaches='', minutes=1, topology='string', runs={'a': {'rt': 1}}, questions=[ASKED])\n"
    )
    found, lab = labs.find(str(tmp_path)), Lab(tmp_path, {})
    who = student_named(found, "ada")
    with pytest.raises(Failure, match=r"^lab\.py, line 2: KeyError: 'b'"):
        judge.compare(lab, found, Sheet(who, {"q": "3"}, tmp_path), {}, tmp_path)
    with pytest.raises(Failure, match=r"^lab\.py, line 4: the lab .*, run a: rt: there is no such option"):
        judge.play(lab, found, who, tmp_path)
