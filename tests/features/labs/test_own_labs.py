# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes in a teacher's own lab are reported with its file and line before a student gets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from emulation.cli.main import cli
from emulation.lane.errors import Failure, Misuse

LAB = """from labs import *
LAB = Lab(title="T", teaches="t", minutes=5, topology={topology}, runs={runs}, options={options}, drawn={drawn},
          files={files}, questions={questions})
"""
RIGHT = {
    "topology": "'string'", "runs": "{'one': {'rate': 2}}", "options": "{'stations': 2}", "drawn": "{}", "files": "()",
    "questions": "[Essay(name='why', asks='Why?')]",
}  # fmt: skip
WRONG = [
    ("runs", "{'one': {'nosuch': 3}}", "the lab mine, run one: nosuch: there is no such option"),
    ("runs", "{'one': {'stations': 'x'}}", "the lab mine, run one: stations: must be a valid integer"),
    ("runs", "{'one': {'routing': 'nosuch'}}", "the lab mine, run one: there is no routing 'nosuch'"),
    ("runs", "{'one': 3}", "runs.one: must be a valid dictionary, not 3"),
    ("runs", "3", "runs: must be a valid dictionary, not 3"),
    ("options", "{'nosuch': 3}", "the lab mine, run one: nosuch: there is no such option"),
    ("drawn", "{'nosuch': [1, 2]}", "the lab mine, run one: nosuch: there is no such option"),
    ("drawn", "{'rate': 3}", "drawn.rate: must be an instance of Sequence, not 3"),
    ("drawn", "{'rate': []}", "drawn: rate has no values"),
    ("topology", "None", "topology: must be a valid string, not None"),
    ("topology", "'nosuch'", "the lab mine, run one: there is no topology 'nosuch'"),
    ("topology", "'nosuch.py'", "the lab mine: there is no file"),
    ("files", "['nosuch.txt']", "the lab mine: there is no file"),
    ("files", "3", "files: must be an instance of Sequence, not 3"),
    ("questions", "[3]", "questions.0: must be an instance of Question, not 3"),
    ("questions", "[Essay(name=3, asks='Why?')]", "name: must be a valid string, not 3"),
    ("questions", "[Number(name='n', asks='?', look='', unit='s', within='x', of=len)]",
     "within: must be a valid number"),
    ("questions", "[Number(name='n', asks='?', look='', unit='s', within=0.1, of=3)]", "of: must be callable, not 3"),
    ("questions", "[Frame(name='n', asks='?', look='', run='nosuch', which=len)]", "there is no run 'nosuch'"),
]  # fmt: skip


def made(folder: Path, **fields: str) -> Path:
    (folder / "mine").mkdir()
    (folder / "mine/README.md").write_text("# T\n")
    (folder / "mine/lab.py").write_text(LAB.format(**{**RIGHT, **fields}))
    return folder / "mine"


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, ["lab", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit | Failure | Misuse), done.exception
    return done.output + str(done.exception or "")


@pytest.mark.parametrize(("field", "text", "said"), WRONG)
def test_a_lab_with_a_mistake_is_not_handed_out(
    field: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path, **{field: text})
    there = told(tmp_path, monkeypatch, "./mine", "--student", "ada", "--out", "out")
    assert "lab.py, line 2: " in there or "lab.py, line 3: " in there
    assert said in there and not (tmp_path / "out").exists()


def test_a_class_gets_no_lab_with_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, runs="{'one': {'nosuch': 3}}")
    (tmp_path / "names.csv").write_text("ada\n")
    assert "lab.py, line 2: the lab mine, run one" in told(
        tmp_path, monkeypatch, "class", "names.csv", "--lab", "./mine"
    )
    assert not (tmp_path / "class").exists()


def test_a_lab_without_a_handout_is_not_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (made(tmp_path) / "README.md").unlink()
    assert "there is no file" in told(tmp_path, monkeypatch, "./mine", "--student", "ada")


def test_a_right_lab_is_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)
    told(tmp_path, monkeypatch, "./mine", "--student", "ada", "--out", "out")
    assert (tmp_path / "out/answers.toml").is_file()
