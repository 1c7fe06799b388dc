# SPDX-License-Identifier: BSD-3-Clause
"""Handouts: their commands run, as they stand there; their drawings can be seen, by day and by night."""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import labs
from emulation.cli.main import cli
from emulation.labs.begin import commands, handout
from labs import Program

ROOT = Path(__file__).parents[2]
ALL = pytest.mark.parametrize("name", labs.names())
PYTHON = {**os.environ, "PYTHONPATH": str(ROOT)}


@ALL
def test_a_handout_is_one_page_with_its_idea_drawn(name: str) -> None:
    found = labs.find(name)
    text = handout(found)
    assert text.startswith(f"# {found.lab.title}\n") and "SPDX" not in text
    assert len(text.split()) < 750
    assert "--student NAME\n" in text and f"./dcflab lab check {name} " in text and "./dcflab shell " in text
    for question in found.lab.questions:
        asked = question.file if isinstance(question, Program) else question.name
        assert f"`{asked}`" in text or asked in text, question.name
    for drawing in found.folder.glob("*.svg"):
        assert f"]({drawing.name})" in text
        top = ElementTree.parse(drawing).getroot()
        assert top.get("viewBox") and any(child.tag.endswith("title") and child.text for child in top)
        assert "prefers-color-scheme: dark" in drawing.read_text()


def some(vary: str) -> str:
    """Of many values the first two and the last."""
    between = ";" if ";" in vary else ","
    values = vary.split(between)
    return between.join([*values[:2], *values[2:][-1:]])


def quickly(words: list[str]) -> list[str]:
    """A command, but for how long and how often something is run, who begins, and what would be opened."""
    if words[0] == "run":
        several = {at + 1 for at, word in enumerate(words) if word == "--vary"}
        words = [some(word) if at in several else word for at, word in enumerate(words)]
        return [*words, "--seconds", "0.5", "--no-figures"]
    return [*words, "--no-open"] if words[0] == "view" else words


@ALL
@pytest.mark.lane
def test_the_commands_of_a_handout_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are typed, one after the other."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labs").symlink_to(ROOT / "labs")
    told = list(commands(handout(labs.find(name))))
    assert len(told) > 3
    for command, typed in told:
        line = command.replace("FOLDER", f"{name}-name")
        words = [found for word in shlex.split(line)[1:] for found in (sorted(glob.glob(word)) or [word])[:1]]
        if words[0] == "python":
            done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, env=PYTHON)
            assert done.returncode == 0 and done.stdout, done.stderr
        elif words[:2] == ["lab", "check"]:  # which the other tests do
            assert words[2] == name and (tmp_path / words[3] / labs.SHEET).is_file()
        else:
            found = CliRunner().invoke(cli, quickly(words), input="".join(f"{verb}\n" for verb in typed))
            assert found.exit_code == 0, (line, found.output, found.exception)
            assert not typed or ("there is no" not in found.output and found.output.count("dcflab> ") == len(typed))


def test_programs_to_begin_with_are_python(tmp_path: Path) -> None:
    for name in labs.names():
        for file in labs.find(name).files:
            if file.suffix == ".py":
                subprocess.run(
                    [sys.executable, "-m", "py_compile", file], check=True, env={"PYTHONPYCACHEPREFIX": str(tmp_path)}
                )
