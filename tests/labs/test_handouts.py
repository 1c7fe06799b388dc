# SPDX-License-Identifier: BSD-3-Clause
"""Handouts: their commands run, as they stand there; their drawings can be seen, by day and by night."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import labs
from emulation.labs.begin import commands, handout
from labs import Program

ROOT = Path(__file__).parents[2]
ALL = pytest.mark.parametrize("name", labs.names())
QUICKLY = " --seconds 2 --no-figures"  # what a study takes, in a test


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


@ALL
@pytest.mark.lane
def test_the_commands_of_a_handout_run(name: str, tmp_path: Path) -> None:
    """As they are typed, one after the other, but for how long a run is, and who begins the lab."""
    (tmp_path / "dcflab").symlink_to(ROOT / "dcflab")
    (tmp_path / "labs").symlink_to(ROOT / "labs")
    told = list(commands(handout(labs.find(name))))
    assert len(told) > 3
    for command, typed in told:
        line = command.replace("FOLDER", f"{name}-name")
        line += QUICKLY if line.startswith("./dcflab run ") else " --no-open" if " view " in line else ""
        lines = "".join(f"{verb}\n" for verb in typed)
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, input=lines, capture_output=True, text=True)
        blank = line.startswith("./dcflab lab check")  # the sheet is empty
        assert done.returncode == (1 if blank else 0), line + done.stdout + done.stderr
        assert "***" not in done.stderr and "Traceback" not in done.stdout + done.stderr, line
        if typed:
            assert "there is no" not in done.stdout, done.stdout


def test_programs_to_begin_with_are_python(tmp_path: Path) -> None:
    for name in labs.names():
        for file in labs.find(name).files:
            if file.suffix == ".py":
                subprocess.run(
                    [sys.executable, "-m", "py_compile", file], check=True, env={"PYTHONPYCACHEPREFIX": str(tmp_path)}
                )
