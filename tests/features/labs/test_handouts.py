# SPDX-License-Identifier: BSD-3-Clause
"""Handouts: their commands run as written, and their drawings are visible in both themes."""

from __future__ import annotations

import glob
import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from played import Played

import labs
from analysis.traces.trace import Kind
from emulation.cli.main import cli
from emulation.features.labs.begin import WRITTEN, begin, commands, handout
from emulation.features.labs.sheet import student_named
from emulation.plan import plan
from emulation.specification import specify
from labs import Frame, Program, Tap
from labs.quantities import airtime_us

ROOT = Path(__file__).parents[3]
ALL = pytest.mark.parametrize("name", labs.names())
SECONDS = 0.5
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


def test_labs_leave_their_runs_apart() -> None:
    """All labs run in one folder, and each run folder is made once."""
    made = [shlex.split(command) for name in labs.names() for command, _ in commands(handout(labs.find(name)))]
    names = [words[words.index("--out") + 1] for words in made if "--out" in words]
    assert len(names) > 10 and len(set(names)) == len(names)


@ALL
def test_a_students_copy_leads_to_nothing_that_is_not_there(name: str, tmp_path: Path) -> None:
    found = labs.find(name)
    begin(found, student_named(found, "ada"), tmp_path / "mine")
    text = (tmp_path / "mine" / WRITTEN).read_text()
    leads = re.findall(r"\]\(([^)]+)\)", text)
    assert leads and all((tmp_path / "mine" / lead).is_file() for lead in leads if "://" not in lead), leads


def test_the_arithmetic_of_handouts_is_that_of_the_air(played: Played) -> None:
    """A student's sums give the airtime of a frame to the microsecond."""
    asked = {"hidden-terminal": ("hidden", Kind.UDP, 28), "exposed-terminal": ("exposed", Kind.UDP, 28),
             "ack-thinning": ("plain", Kind.TCP_DATA, 40)}  # fmt: skip
    for name, (run, kind, inside) in asked.items():
        found, who, runs = played(name)
        mac, llc = re.search(r"MAC header (\d+) bytes.*?LLC/SNAP (\d+)", handout(found)).groups()  # type: ignore[union-attr]
        packet = inside + int(who.drawn.get("size", 1460))  # type: ignore[call-overload]
        assert airtime_us(runs[run], kind) == 192 + (int(mac) + int(llc) + packet + 4) * 8 / 2, name
    found, who, runs = played("rts-cts-worth")
    [around] = re.findall(r"A datagram has (\d+) bytes of headers", handout(found))
    bits = 8 * (int(around) + 100)
    assert airtime_us(runs["none 100"], Kind.UDP) == 192 + math.ceil(bits / float(str(who.drawn["rate"])))


def some(vary: str) -> str:
    """Return the first two and the last of many values."""
    between = ";" if ";" in vary else ","
    values = vary.split(between)
    return between.join([*values[:2], *values[2:][-1:]])


def quickly(words: list[str]) -> list[str]:
    """Return a command with another duration, number of repeats and start, that opens nothing."""
    if words[0] == "run":
        several = {at + 1 for at, word in enumerate(words) if word == "--vary"}
        words = [some(word) if at in several else word for at, word in enumerate(words)]
        return [*words, "--seconds", str(SECONDS)]
    return [*words, "--no-open"] if words[0] == "view" else words


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The one folder in which a student does all labs in turn."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "labs").symlink_to(ROOT / "labs")
    return folder


@ALL
@pytest.mark.lane
def test_the_commands_of_a_handout_run(name: str, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a student types them, in order; and they run what is judged."""
    monkeypatch.chdir(desk)
    found, own = labs.find(name), desk / f"{name}-name"
    begins, *_ = commands(handout(found))
    assert begins == (f"./dcflab lab {name} --student NAME", []) and typed(begins[0], []).exit_code == 0
    copy = (own / "handout.md").read_text()
    assert "--student" not in copy and "own copy" not in copy and "\n\n\n" not in copy
    for command, lines in commands(copy):
        if command.startswith(("./dcflab lab check", "./dcflab python")):
            tried(command.replace("FOLDER", own.name))
        elif command != begins[0]:
            done = typed(command, lines)
            assert done.exit_code == 0, (command, done.output, done.exception)
            assert not lines or ("there is no" not in done.output and done.output.count("dcflab> ") == len(lines))
    made = [json.loads(file.read_text()) for file in desk.glob("*/*/plan.json")]
    who = student_named(found, "name")
    for question in found.lab.questions:
        if isinstance(question, Frame | Tap):
            options = {**found.lab.options, **who.drawn, **found.lab.runs[question.run], "seed": who.seed}
            judged = json.loads(json.dumps(plan(specify(found.topology, {**options, "seconds": SECONDS}))))
            assert any({**each, "name": ""} == {**judged, "name": ""} for each in made), question.name


def typed(command: str, lines: list[str]) -> Result:
    """Run a command and the lines typed at its prompt, and return the output."""
    words = [found for word in shlex.split(command)[1:] for found in (sorted(glob.glob(word)) or [word])[:1]]
    return CliRunner().invoke(cli, quickly(words), input="".join(f"{line}\n" for line in lines))


def tried(command: str) -> None:
    """Run Python commands, which replace the process; skip judging, which other tests do."""
    _, verb, *words = [(sorted(glob.glob(word)) or [word])[0] for word in shlex.split(command)]
    if verb == "python":
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, env=PYTHON)
        assert done.returncode == 0 and done.stdout, done.stderr
    else:
        assert labs.find(words[1]) and Path(words[2], labs.SHEET).is_file()


def test_programs_to_begin_with_are_python(tmp_path: Path) -> None:
    for name in labs.names():
        for file in labs.find(name).files:
            if file.suffix == ".py":
                subprocess.run(
                    [sys.executable, "-m", "py_compile", file], check=True, env={"PYTHONPYCACHEPREFIX": str(tmp_path)}
                )
