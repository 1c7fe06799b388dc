# SPDX-License-Identifier: BSD-3-Clause
"""A class from a list of names: folders with each student's own numbers and no answers; and a table of marks."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import labs
from emulation.cli.main import cli
from emulation.features.labs import marks, roster
from emulation.features.labs.judge import Answer, Marked, State
from emulation.features.labs.marks import Mark, Marks
from emulation.features.labs.sheet import read, student_named
from emulation.lane.errors import Misuse

ALL = pytest.mark.parametrize("name", labs.names())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Ada Lovelace\nGrace Hopper\n", ["Ada Lovelace", "Grace Hopper"]),
        ("number,name\n17,Ada\n18,Grace\n\n", ["Ada", "Grace"]),
        ("Student;Group\nZoë;1\nÉmile;2\n", ["Zoë", "Émile"]),
        ('"Lovelace, Ada",1\n', ["Lovelace, Ada"]),
        ("\ufeffname\nAda\n", ["Ada"]),
    ],
)
def test_names_are_read_as_spreadsheets_write_them(tmp_path: Path, text: str, said: list[str]) -> None:
    file = tmp_path / "names.csv"
    file.write_text(text, encoding="utf-8")
    assert roster.names(file) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "it has 0 names"), (b"name\n", "it has 0 names"), (b"Ada\nADA\n", "names.csv:2: ADA is given twice"),
     (b"\xff\xfe", "it is not UTF-8"), (b"x" * (1 << 21), "more than 1 MB"), (None, "No such file")],
)  # fmt: skip
def test_a_list_that_is_none_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "names.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Misuse, match=said):
        roster.names(file)


@ALL
def test_what_students_get_has_their_numbers_and_no_answers(name: str, tmp_path: Path) -> None:
    found = labs.find(name)
    roster.make([found], ["Ada", "Bob <b>"], tmp_path)
    folders = sorted((tmp_path / name).iterdir())
    assert [folder.name for folder in folders] == [f"{name}-ada", f"{name}-bob-b"]
    for folder, who in zip(folders, ("Ada", "Bob <b>"), strict=True):
        own = student_named(found, who)
        page = (folder / roster.PAGE).read_text()
        assert f"<b>{html.escape(who)}</b>" in page and f"seed {own.seed}" in page and "<b></b>" not in page
        assert all(html.escape(question.asks) in page for question in found.lab.questions)
        assert 'src="data:image/svg+xml' in page and str(tmp_path) not in page
        assert read(found, folder).student == own
        given = "".join(file.read_text() for file in folder.iterdir() if file.suffix != ".svg")
        for question in found.lab.questions:
            assert not question.look or question.look not in given, "a hint says where the answer is"
        assert not {"lab.py", "instructor.md"} & {file.name for file in folder.iterdir()}


def test_a_class_grows_and_keeps_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("ada\n")
    words = ["lab", "class", str(file), "--lab", "hidden-terminal", "--out", str(tmp_path / "class"), "--json"]
    first = json.loads(CliRunner().invoke(cli, words).stdout)
    assert len(first["new"]) == 1 and not first["kept"]
    sheet = Path(first["new"][0], labs.SHEET)
    sheet.write_text(sheet.read_text().replace('airtime = ""', 'airtime = "17"'))
    file.write_text("ada\nbob\n")
    again = json.loads(CliRunner().invoke(cli, words).stdout)
    assert again["kept"] == first["new"] and len(again["new"]) == 1 and 'airtime = "17"' in sheet.read_text()


def test_names_that_only_a_folder_confuses_have_one_each(tmp_path: Path) -> None:
    made = roster.make([labs.find("hidden-terminal")], ["a b", "a-b"], tmp_path)
    assert len({*made.new}) == 2


def test_marks_are_a_table(tmp_path: Path) -> None:
    """No cell is a formula, whatever a student's name."""
    answers = [Answer(question="airtime", state=State.RIGHT, points=1, of=1),
               Answer(question="why", state=State.TEACHER)]  # fmt: skip
    marked = Marked(lab="hidden-terminal", student="=HYPERLINK(1)", seed=7, answers=answers)
    kept = Marks(lab="hidden-terminal", sheets={"a/answers.toml": Mark(made_of="", marked=marked),
                                                "b.toml": Mark(made_of="", broken="it is not a sheet")})  # fmt: skip
    with marks.table(tmp_path, kept).open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["student", "sheet", "seed", "points", "of", "airtime", "why", "remark"],
        ["'=HYPERLINK(1)", "a/answers.toml", "7", "1", "1", "right", "for your teacher", ""],
        ["", "b.toml", "", "", "", "", "", "it is not a sheet"],
    ]
