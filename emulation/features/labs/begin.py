# SPDX-License-Identifier: BSD-3-Clause
"""Begin a lab: make a student's folder, with the handout in the student's own numbers, the network, the lab's other
files, and an empty sheet."""

import re
import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from emulation.features.labs.judge import tasks_of
from emulation.features.labs.sheet import Student, blank
from emulation.lane.errors import Failure, Misuse
from labs import FILE, HANDOUT, SHEET, Found
from topologies.files import place_of

COMMAND = "./dcflab "
WRITTEN = "handout.md"
COPY = re.compile(r"(^| )Make your own copy.*\n\n *\./dcflab lab \S+ --student NAME\n", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<text>[^]]+)\]\((?P<to>[^)]+)\)")


def begin(found: Found, student: Student, folder: Path, shown_path: Path | None = None) -> Path:
    """Make the folder and return its sheet. `shown_path` is its path in handout and sheet, if the student gets it under
    another. Raises Misuse if it exists, OSError if it cannot be written."""
    if folder.exists():
        raise Misuse(f"{folder} exists; continue there, or give another folder with --out")
    folder.mkdir(parents=True)
    for file in found.files:
        shutil.copyfile(file, folder / file.name)
    (folder / WRITTEN).write_text(handout(found, student, shown_path or folder))
    sheet = folder / SHEET
    sheet.write_text(blank(found, student, str(shown_path or folder)))
    return sheet


def check(found: Found, student: Student) -> None:
    """Check that the lab's files are there, and that the student's runs can be played. Raises Failure, which names the
    lab's file."""
    for file in (found.folder / HANDOUT, *found.files):
        if not file.is_file():
            raise Failure(f"{place_of(str(found.folder / FILE), 'LAB')}: the lab {found.name}: there is no file {file}")
    tasks_of(found, student)


def handout(found: Found, student: Student | None = None, folder: Path | None = None) -> str:
    """Return the handout without its licence line; for a student, with the student's own numbers and folder, and
    without the command that makes this copy."""
    text = (found.folder / HANDOUT).read_text()
    text = re.sub(r"\A<!-- SPDX.*?-->\n+", "", text)
    if not student:
        return text
    text = COPY.sub(lambda own: "\n" if own[1] else "", text)
    text = LINK.sub(partial(local_link, found), text)
    return "".join(personalised(line, found, student, folder) for line in text.splitlines(keepends=True))


def local_link(found: Found, link: re.Match[str]) -> str:
    """Return a link of a student's copy, or only its text if its target is not in the folder."""
    there = {file.name for file in found.files}
    return link[0] if link["to"] in there or "://" in link["to"] else link["text"]


def personalised(line: str, found: Found, student: Student, folder: Path | None) -> str:
    """Return a line of a handout with a student's numbers in its commands, and the folder of the network.

    Options written with = keep their values.
    """
    if COMMAND in line:
        for option, value in {**student.drawn, "seed": student.seed}.items():
            line = re.sub(rf"(--{option.replace('_', '-')}) \S+", rf"\g<1> {value}", line)
    if folder:
        line = line.replace(f"labs/{found.folder.name}/", f"{folder}/")
        line = line.replace(f"lab check {found.name} FOLDER", f"lab check {found.name} {folder}")
    return line


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a handout, each with the lines that are typed at its prompt."""
    command, typed = "", list[str]()
    for line in [*text.splitlines(), ""]:
        said = line.strip() if line.startswith("    ") else ""
        if command and said.startswith("> "):
            typed.append(said.removeprefix("> ").partition("  #")[0].strip())
            continue
        if command:
            yield command, typed
        command, typed = said.partition("  #")[0].strip() if said.startswith(COMMAND) else "", []


def own_numbers(student: Student) -> Mapping[str, object]:
    """Return a student's own numbers: the seed, and what was drawn."""
    return {"seed": student.seed, **student.drawn}
