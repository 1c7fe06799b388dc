# SPDX-License-Identifier: BSD-3-Clause
"""The folders of a class, from a CSV file of names: one for each lab and student, with a handout in HTML that has the
student's own numbers and questions. `lab check` marks these folders."""

import base64
import csv
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from emulation.features.labs import begin
from emulation.features.labs.sheet import LETTERS, Student, answer_form, in_order, student_named, worth
from emulation.lane.errors import Misuse
from labs import Choice, Found, Question

NAME_COLUMNS = ("name", "student")  # headings of the column of names
MOST_NAMES, MOST_BYTES = 2000, 1 << 20
PAGE = "handout.html"
STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em }
h1, h2 { line-height: 1.2 } header { border-bottom: 1px solid #bbb; margin-bottom: 1.5em } small { color: #555 }
pre { background: #f3f3f3; padding: .7em 1em; white-space: pre-wrap } code { font: 14px/1.4 ui-monospace, monospace }
blockquote { border-left: 3px solid #bbb; margin: 1em 0; padding: 0 1em } img { max-width: 100% }
table { border-collapse: collapse } td, th { border: 1px solid #bbb; padding: .2em .6em }
ol.questions > li { margin: 1em 0 }
@media print { body { margin: 0; max-width: none } pre, li { break-inside: avoid } }"""


@dataclass(frozen=True)
class Made:
    """The folders of a class: new ones, and those that existed."""

    new: Sequence[Path]
    kept: Sequence[Path]


def names(path: Path) -> list[str]:
    """Return the names in a CSV file: the column with the heading `name` or `student`, or else the first column. Raises
    Misuse."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read(MOST_BYTES + 1)
    except UnicodeDecodeError:
        raise Misuse(f"{path}: it is not UTF-8; save it as CSV in UTF-8") from None
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from None
    if len(text) > MOST_BYTES:
        raise Misuse(f"{path}: it has more than {MOST_BYTES >> 20} MB")
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines(), delimiter=separator)]
    heads = [cell.casefold() for cell in rows[0]] if rows else []
    column = next((heads.index(head) for head in NAME_COLUMNS if head in heads), None)
    found: dict[str, str] = {}
    for number, row in enumerate(rows, 1):
        name = row[column or 0] if len(row) > (column or 0) else ""
        if not name or (number == 1 and column is not None):
            continue
        if name.casefold() in found:
            raise Misuse(f"{path}:{number}: {name} is given twice; distinguish the two, for example by a number")
        found[name.casefold()] = name
    if not 0 < len(found) <= MOST_NAMES:
        raise Misuse(f"{path}: it has {len(found)} names; 1 to {MOST_NAMES} are possible, one per line")
    return list(found.values())


def folder_name(found: Found, student: Student) -> str:
    return f"{found.name}-{re.sub(r'[^a-z0-9]+', '-', student.name.casefold()).strip('-') or student.seed}"


def make(labs: Sequence[Found], class_: Sequence[str], out: Path) -> Made:
    """Make the folders of these labs and names, as OUT/LAB/LAB-NAME; keep those that exist.

    Raises Misuse or Failure before it makes anything, or OSError.
    """
    planned: dict[Path, tuple[Found, Student]] = {}
    for found in labs:
        for name in class_:
            who = student_named(found, name)
            folder = out / found.name / folder_name(found, who)
            if folder in planned:  # the names differ only in characters that folders do not have
                folder = folder.with_name(f"{folder.name}-{who.seed}")
            planned[folder] = (found, who)
            if not folder.exists():
                begin.check(found, who)
    new, kept = [], []
    for folder, (found, who) in planned.items():
        if folder.exists():
            kept.append(folder)
            continue
        begin.begin(found, who, folder, shown_path=Path(folder.name))
        (folder / PAGE).write_text(page(found, who, Path(folder.name)))
        new.append(folder)
    return Made(new, kept)


def page(found: Found, student: Student, folder: Path) -> str:
    """Return the handout as an HTML page with the drawing and the questions."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(begin.handout(found, student, folder))
    body = re.sub(r'src="([\w.-]+\.svg)"', lambda image: f'src="{_drawing(found.folder / image[1])}"', body)
    own = ", ".join(f"{name} {value}" for name, value in begin.own_numbers(student).items())
    title = html.escape(f"{found.lab.title}: {student.name}")
    questions = "".join(f"<li>{_question(question, student)}</li>" for question in found.lab.questions)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<header><p><b>{html.escape(student.name)}</b>: your numbers are {html.escape(own)}. "
        f"Write your answers into <code>{html.escape(str(folder))}/answers.toml</code>.</p></header>"
        f'{body}<h2>Questions</h2><ol class="questions">{questions}</ol></html>\n'
    )


def _question(question: Question, who: Student) -> str:
    said = f"{html.escape(question.asks)} <small>({html.escape(answer_form(question) + worth(question))})</small>"
    if isinstance(question, Choice):
        choices = zip(LETTERS, in_order(question, who), strict=False)
        said += "".join(f"<br>{letter}) {html.escape(sentence)}" for letter, sentence in choices)
    return f"<code>{html.escape(question.name)}</code>: {said}"


def _drawing(path: Path) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode()
