# SPDX-License-Identifier: BSD-3-Clause
"""Mark a folder of sheets. A broken sheet is reported, and the others are still marked.

The marks are written to `marks.json` in the folder after each sheet. The same command continues where it stopped, and
judges again only sheets that have changed, or whose lab has.
"""

import csv
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from emulation.features.labs.judge import Answer, Marked, State, judge
from emulation.features.labs.sheet import read, read_plain_file
from emulation.lane.errors import Misuse
from emulation.lane.guest import AIR_MODULE
from emulation.play.junit import Case, Outcome, Suite
from emulation.play.lab import KERNEL, PROGRAMS, Lab, digest
from labs import SHEET, Found, Frame, Number, Program

FILE, TABLE = "marks.json", "marks.csv"
FEWEST_ALIKE = 2  # equal wrong numbers that are no coincidence


class Mark(BaseModel, extra="forbid"):
    """The mark of a sheet, with a hash of what it depends on; `broken` is why it could not be judged."""

    made_of: str
    marked: Marked | None = None
    broken: str = ""
    numbers: dict[str, str] = {}  # the student's

    def wrong(self) -> dict[str, str]:
        """Return the student's numbers that are wrong."""
        right = {answer.question for answer in (self.marked.answers if self.marked else ()) if answer.points}
        return {name: given for name, given in self.numbers.items() if name not in right}


class Marks(BaseModel, extra="forbid"):
    """`marks.json`: the sheets of a folder, by their paths in it."""

    version: Literal[1] = 1
    lab: str
    sheets: dict[str, Mark] = {}

    def twice(self) -> dict[str, list[str]]:
        """Return students with several sheets, and the sheets."""
        of: dict[str, list[str]] = {}
        for name, mark in self.sheets.items():
            if mark.marked:
                of.setdefault(mark.marked.student.casefold(), []).append(name)
        return {student: names for student, names in of.items() if len(names) > 1}

    def alike(self) -> dict[str, list[str]]:
        """Return for each sheet the others with several of the same wrong numbers, perhaps for another seed."""
        found: dict[str, list[str]] = {}
        for name, mark in self.sheets.items():
            others = [
                other
                for other, its in self.sheets.items()
                if other != name and len(mark.wrong().items() & its.numbers.items()) >= FEWEST_ALIKE
            ]  # fmt: skip
            if others:
                found[name] = others
        return found


def sheets(folder: Path) -> Iterator[Path]:
    """Yield the sheets in a folder: files that end in .toml, and those in students' folders."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".toml" and not path.is_dir():
            yield path
        elif path.is_dir() and not path.is_symlink() and os.path.lexists(path / SHEET):
            yield path / SHEET


def mark(
    lab: Lab, found: Found, folder: Path, jobs: int | None,
    on_mark: Callable[[str, Mark], None] = lambda name, mark: None,
) -> Marks:  # fmt: skip
    """Judge all sheets of a folder, and call `on_mark` with each. Raises Misuse, Failure or OSError."""
    there = list(sheets(folder))
    if not there:
        raise Misuse(f"{folder}: there is no sheet in it: neither *.toml nor NAME/{SHEET}")
    known, kept = earlier_marks(folder, found), Marks(lab=found.name)
    for sheet in there:
        name = str(sheet.relative_to(folder))
        made_of = fingerprint(lab, found, sheet)
        if (old := known.sheets.get(name)) and old.made_of == made_of:
            kept.sheets[name] = old
        else:
            kept.sheets[name] = marked(lab, found, sheet, made_of, jobs)
            write(folder, Marks(lab=found.name, sheets={**known.sheets, **kept.sheets}))
        on_mark(name, kept.sheets[name])
    write(folder, kept)
    return kept


def marked(lab: Lab, found: Found, file: Path, made_of: str, jobs: int | None) -> Mark:
    try:
        sheet = read(found, file)
    except Misuse as error:
        return Mark(made_of=made_of, broken=str(error))
    judged = judge(lab, found, sheet, jobs)
    measured = [q.name for q in found.lab.questions if isinstance(q, Number | Frame)]
    numbers = {name: str(sheet.answers[name]).strip() for name in measured if sheet.answers.get(name)}
    return Mark(made_of=made_of, marked=judged, numbers=numbers)


def fingerprint(lab: Lab, found: Found, sheet: Path) -> str:
    """Return a hash of what a mark depends on: the sheet, its programs, the lab, and what runs are made of."""
    runs = [lab.sha256.get(name, "") for name in (KERNEL, PROGRAMS, AIR_MODULE)]
    made_from = [*sorted(found.folder.glob("*.py")), *(file for file in found.files if file.suffix == ".py")]
    parts = [*runs, digest(made_from)]
    for file in (sheet, *(sheet.parent / q.file for q in found.lab.questions if isinstance(q, Program))):
        try:
            parts.append(hashlib.sha256(read_plain_file(file)).hexdigest())
        except Misuse as error:
            parts.append(str(error))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def earlier_marks(folder: Path, found: Found) -> Marks:
    """Return the earlier marks in a folder. Raises Misuse if they are malformed, or of another lab."""
    file = folder / FILE
    try:
        kept = Marks.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Marks(lab=found.name)
    except ValidationError:
        raise Misuse(f"{file} is not a {FILE} of this version: move it away") from None
    if kept.lab != found.name:
        raise Misuse(f"{file} is of the lab {kept.lab}: mark each lab in a folder of its own")
    return kept


def table(folder: Path, marks: Marks) -> Path:
    """Write the marks for a spreadsheet: a row for each sheet, with its points and the state of each answer."""
    judged = [mark.marked for mark in marks.sheets.values() if mark.marked]
    questions = list(dict.fromkeys(answer.question for one in judged for answer in one.answers))
    half, alike = folder / f"{TABLE}.new", marks.alike()
    with half.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", "sheet", "seed", "points", "of", *questions, "remark"])
        for name, mark in marks.sheets.items():
            remark = mark.broken or (f"same numbers as {', '.join(alike[name])}" if name in alike else "")
            marked = mark.marked
            states = {answer.question: str(answer.state) for answer in marked.answers} if marked else {}
            of = [marked.student, name, marked.seed, marked.points, marked.of] if marked else ["", name, "", "", ""]
            rows.writerow(map(plain_cell, [*of, *(states.get(each, "") for each in questions), remark]))
    half.replace(folder / TABLE)
    return folder / TABLE


def plain_cell(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula, as students choose their names."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def write(folder: Path, marks: Marks) -> None:
    """Write marks.json atomically."""
    half = folder / f"{FILE}.new"
    half.write_text(marks.model_dump_json(indent=1))
    half.replace(folder / FILE)


def suites(marks: Marks) -> list[Suite]:
    """Return the marks as test results: a suite for each sheet, a case for each question. A broken sheet is a failed
    case, and a question for the teacher a skipped one."""
    found = []
    for name, mark in marks.sheets.items():
        if mark.marked is None:
            found.append(Suite(marks.lab, name, [Case("sheet", Outcome.FAILED, mark.broken, kind="broken")]))
        else:
            said = f"{name}: {mark.marked.points} of {mark.marked.of} points"
            found.append(Suite(marks.lab, mark.marked.student, list(map(case, mark.marked.answers)), said))
    return found


def case(answer: Answer) -> Case:
    if answer.state is State.RIGHT:
        return Case(answer.question)
    said = f"{answer.state}, {answer.points} of {answer.of}" if answer.of else str(answer.state)
    outcome = Outcome.FAILED if answer.of else Outcome.SKIPPED
    return Case(answer.question, outcome, said, answer.hint, answer.state)
