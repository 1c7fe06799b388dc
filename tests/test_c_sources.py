# SPDX-License-Identifier: BSD-3-Clause
"""All C files: no function of a file's own has a name of one word, and files call each other in a circle only if their
header says so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The kernel's functions that tests replace have the kernel's names, and modules with planted errors are like users'.
EXCUSED = "tests"


def folders() -> list[Path]:
    """Return the folders with C files, without those that are excused."""
    listed = subprocess.run(["git", "ls-files", "*.c"], cwd=ROOT, capture_output=True, text=True)
    files = listed.stdout.splitlines() or [str(file.relative_to(ROOT)) for file in ROOT.rglob("*.c")]
    return sorted({(ROOT / file).parent for file in files if not file.startswith((f"{EXCUSED}/", "."))})


FOLDERS = folders()
COMMENT, STRING = re.compile(r"/\*.*?\*/", re.DOTALL), re.compile(r'"(?:\\.|[^"\\])*"')
FUNCTION = re.compile(r"^(static )?[a-z][\w ]*[ *](\w+)\([^;{]*\)\s*\{", re.MULTILINE)
VARIABLE = re.compile(r"^(?!static)(?:const )?[a-z][\w ]*[ *](\w+)(?:\[\w*\])? = ", re.MULTILINE)
WORD = re.compile(r"\b[a-z]\w*\b")
SAID = re.compile(r"[Ii]n a circle: ([^;]*?)\.(?=\s)(?! ?c\b)")
NAME = re.compile(r"\w+\.c\b")


def code(file: Path) -> str:
    return STRING.sub('""', COMMENT.sub(" ", file.read_text()))


def calls(folder: Path) -> dict[str, set[str]]:
    """Return for each C file of a folder the other files whose functions and variables it uses."""
    texts = {file.name: code(file) for file in sorted(folder.glob("*.c"))}
    home: dict[str, str] = {}
    for name, text in texts.items():
        home |= {match[2]: name for match in FUNCTION.finditer(text) if not match[1]}
        home |= {match[1]: name for match in VARIABLE.finditer(text)}
    return {name: {home[word] for word in WORD.findall(text) if word in home} - {name} for name, text in texts.items()}


def reached(arrows: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = set(arrows[start])
    while ahead:
        found |= (now := ahead)
        ahead = {name for one in now for name in arrows[one]} - found
    return found


def circles(arrows: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of files that all reach each other."""
    far = {name: reached(arrows, name) for name in arrows}
    return {frozenset(other for other in far if other in far[name] and name in far[other])
            for name in far if name in far[name]}  # fmt: skip


def said(folder: Path) -> set[frozenset[str]]:
    """Return the circles that the headers of a folder declare."""
    comments = [text.replace("\n *", " ") for file in folder.glob("*.h") for text in COMMENT.findall(file.read_text())]
    return {frozenset(NAME.findall(match[1])) for text in comments for match in SAID.finditer(text + " ")}


def test_circles_are_found() -> None:
    chain = {"a.c": {"b.c"}, "b.c": {"c.c"}, "c.c": set()}
    assert circles(chain) == set()
    assert circles(chain | {"c.c": {"b.c"}}) == {frozenset({"b.c", "c.c"})}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_files_are_in_a_circle_only_if_their_header_declares_it(folder: Path) -> None:
    assert circles(calls(folder)) == said(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_files_own_function_has_a_name_of_one_word(folder: Path) -> None:
    """Such as `open` or `stop`, which a reader, a stack trace and a symbol table cannot distinguish."""
    found = [match[2] for file in folder.glob("*.c") for match in FUNCTION.finditer(code(file)) if match[1]]
    assert found
    assert [name for name in found if name.isalpha()] == []
