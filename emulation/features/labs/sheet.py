# SPDX-License-Identifier: BSD-3-Clause
"""A sheet of answers: TOML, with a line for each question. It is untrusted input.

The student's name determines the seed and all drawn numbers: a name always has the same numbers.
"""

import errno
import hashlib
import os
import stat
import textwrap
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from emulation.lane.errors import Misuse
from labs import SHEET, Choice, Essay, Found, Frame, Number, Program, Question

MOST_BYTES = 1 << 16  # of a sheet or a program
LONGEST_NAME = 60
SEEDS = range(1, 10_000)
EMPTY, EMPTY_TEXT = '""', '"""\n"""'
LETTERS = "abcdefghijklmnopqrstuvwxyz"
HEAD = """# {title}: the answers of {student}.
# Write each answer between the quotes, without units: "1234.5". For a choice, write its letter, or all that are true:
# "ac". An empty answer is not judged. Then:
#     ./dcflab lab check {lab} {folder}
lab = {quoted_lab}
student = {quoted_student}
"""


@dataclass(frozen=True)
class Student:
    """A student: the name, and what is drawn for it."""

    name: str
    seed: int
    drawn: Mapping[str, object]
    shuffles: int  # seed of the order of choices


@dataclass(frozen=True)
class Sheet:
    """A student's answers, by the questions' names; `folder` has the student's programs."""

    student: Student
    answers: Mapping[str, Any]
    folder: Path


def student_named(found: Found, name: str) -> Student:
    """Return the student with this name. Case and spaces make no difference. Raises Misuse."""
    plain = " ".join(unicodedata.normalize("NFKC", name).split())
    if not plain or len(plain) > LONGEST_NAME or not plain.isprintable():
        raise Misuse(f"student: a name, or a number, of 1 to {LONGEST_NAME} letters")
    said = hashlib.sha256(f"{found.name}\0{plain.casefold()}".encode()).digest()
    random = Random(int.from_bytes(said))
    seed = random.choice(SEEDS)
    drawn = {option: random.choice(values) for option, values in found.lab.drawn.items()}
    return Student(plain, seed, drawn, random.randrange(1 << 30))


def in_order(question: Choice, student: Student) -> list[str]:
    """Return the sentences of a choice in this student's order: a, b, c …"""
    sentences = list(question.options)
    Random(f"{student.shuffles} {question.name}").shuffle(sentences)
    return sentences


def read(found: Found, path: Path) -> Sheet:
    """Read the sheet at this path, or in this folder. Raises Misuse if it is malformed."""
    file = path / SHEET if path.is_dir() else path
    try:
        content = tomllib.loads(read_plain_file(file).decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = "it is not text" if isinstance(error, UnicodeDecodeError) else str(error) or "it is nested too deeply"
        raise Misuse(f"{file}: this is not a sheet of answers: {why}") from None
    name, there = content.pop("student", None), content.pop("lab", found.name)
    if not isinstance(name, str):
        raise Misuse(f'{file}: it does not say who answers: student = "…"')
    if there != found.name:
        raise Misuse(f"{file}: this sheet is of the lab {str(there)[:LONGEST_NAME]!r}, not of {found.name}")
    asked = [question.name for question in found.lab.questions if not isinstance(question, Program)]
    if other := next((key for key in content if key not in asked), None):
        raise Misuse(f"{file}: there is no question {other[:LONGEST_NAME]!r}; there are: {', '.join(asked)}")
    return Sheet(student_named(found, name), content, file.parent)


def read_plain_file(path: Path) -> bytes:
    """Read a stranger's file. Raises Misuse if it is a link, a device or too large."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(opened, "rb") as stream:
            plain = stat.S_ISREG(os.fstat(opened).st_mode)
            content = stream.read(MOST_BYTES + 1) if plain else b""
    except FileNotFoundError:
        raise Misuse(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        why = "it is a link" if getattr(error, "errno", 0) == errno.ELOOP else getattr(error, "strerror", error)
        raise Misuse(f"{path}: this is not a readable plain file: {why}") from None
    if not plain:
        raise Misuse(f"{path}: this is not a plain file")
    if len(content) > MOST_BYTES:
        raise Misuse(f"{path}: it has more than {MOST_BYTES >> 10} kB")
    return content


def blank(found: Found, student: Student, folder: str) -> str:
    """Return an empty sheet with all questions."""
    lab = found.lab
    head = HEAD.format(
        title=lab.title, student=student.name, lab=found.name, folder=folder,
        quoted_lab=quoted(found.name), quoted_student=quoted(student.name),
    )  # fmt: skip
    return head + "".join(f"\n{question_text(*each, student)}" for each in enumerate(lab.questions, 1))


def question_text(number: int, question: Question, student: Student) -> str:
    first, *more = textwrap.wrap(f"{number}. {question.asks}", 110)
    lines = [first, *(f"   {line}" for line in more), f"   ({answer_form(question)}{worth(question)})"]
    if isinstance(question, Choice):
        for letter, sentence in zip(LETTERS, in_order(question, student), strict=False):
            first, *rest = textwrap.wrap(f"{letter}) {sentence}", 105)
            lines += [f"   {first}", *(f"      {line}" for line in rest)]
    said = "".join(f"# {line}\n" for line in lines)
    if isinstance(question, Program):
        return said
    return f"{said}{question.name} = {EMPTY_TEXT if isinstance(question, Essay) else EMPTY}\n"


def answer_form(question: Question) -> str:
    match question:
        case Number():
            return f"{question.unit}, " * bool(question.unit) + f"to {100 * question.within:g} %"
        case Choice():
            return "a letter, or several"
        case Frame():
            return "a frame number"
        case Program():
            return f"in {question.file}"
    return "some sentences; your teacher reads them"


def worth(question: Question) -> str:
    return f"; {question.points} point{'s' if question.points != 1 else ''}" if question.points else ""


def quoted(text: str) -> str:
    """Quote a string for TOML."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
