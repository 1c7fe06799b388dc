# SPDX-License-Identifier: BSD-3-Clause
"""Files of the user's own, named by their paths: plug-ins, which are Python; and data.

A specification may name both. What a user says on a command line, or in Python, is done. What a lane has left, or a run
folder says, others wrote: of that no file is run, and none is read, but those that the user is known to `Trust`.
"""

from __future__ import annotations

import ast
import contextlib
import gzip
import importlib.util
import io
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, BinaryIO

from pydantic import AfterValidator, BaseModel

from topologies.network import FARTHEST


def _found_again(name: str) -> str:
    return str(Path(name).resolve())


Asked = tuple[Callable[[Any], bool], str]  # of a word in a file: what it is to be; and what to say if it is not
MODEL: Asked = (lambda found: isinstance(found, type) and issubclass(found, BaseModel), "is no model of pydantic")
FUNCTION: Asked = callable, "is no function"
File = Annotated[str, AfterValidator(_found_again)]  # a path, which holds wherever one goes on


@dataclass(frozen=True)
class Trust:
    """Which files may be run or read, and which folders of plug-ins and modules named, by their whole paths; None: all.

    It is the context in which pydantic validates a specification. Without a context no file is run.
    """

    files: frozenset[str] | None = frozenset()
    folders: frozenset[str] | None = frozenset()


NOBODY, USER = Trust(), Trust(None, None)  # whose words are heeded


def run_by(name: str, context: object) -> str:
    """A file's name, if it may be run. Raises ValueError."""
    trust = context if isinstance(context, Trust) else NOBODY
    if trust.files is not None and _found_again(name) not in trust.files:
        raise ValueError(f"{name} is a program, which is not run on the word of others")
    return name


def read_by(name: str, context: object) -> str:
    """The same of a file that is to be read; without a context it may be, too."""
    trust = context if isinstance(context, Trust) else USER
    if trust.files is not None and _found_again(name) not in trust.files:
        raise ValueError(f"{name} is a file, which is not read on the word of others")
    return name


def named_by(folder: str, context: object) -> str:
    """The same of a folder of plug-ins or modules."""
    trust = context if isinstance(context, Trust) else NOBODY
    if trust.folders is not None and _found_again(folder) not in trust.folders:
        raise ValueError(f"{folder}/ has programs, which are not run on the word of others")
    return folder


def load(name: str, what: str, words: Mapping[str, Asked]) -> ModuleType:
    """The module in a file, which is to be `what` and to define these words.

    Raises ValueError, which says in which line something is wrong, if there is no such file, or it is none.
    """
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(f"own {path}", path)  # no other module has such a name
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"there is no file {name}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for their own
    with own_mistakes(path):
        spec.loader.exec_module(module)
    for word, (is_it, lacks) in words.items():
        if not hasattr(module, word):
            raise ValueError(f"{name} is no {what}: it defines no {word}")
        if not is_it(getattr(module, word)):
            raise ValueError(f"{place_of(name, word)}: {word} {lacks}")
    return module


def defines(name: str) -> dict[str, int]:
    """What a Python file defines, and in which line, found without running it; nothing, if it is not there. Raises
    ValueError, which says where, if it is not Python."""
    try:
        body = ast.parse(Path(name).read_bytes(), str(Path(name).resolve())).body
    except OSError:
        return {}
    except (SyntaxError, ValueError) as error:  # a null byte is the latter
        raise ValueError(mistake(error, Path(name).resolve()) or f"{Path(name).name}: {error}") from None
    found = {}
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found[statement.name] = statement.lineno
        elif isinstance(statement, ast.ImportFrom):
            found |= {alias.asname or alias.name: statement.lineno for alias in statement.names}
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= {target.id: statement.lineno for target in targets if isinstance(target, ast.Name)}
    return found


def place_of(name: str, word: str) -> str:
    """Where a file defines a word."""
    line = defines(name).get(word)
    return Path(name).name + (f", line {line}" if line else "")


@contextlib.contextmanager
def own_mistakes(
    place: Path, kind: Callable[[str], Exception] = ValueError, words: tuple[type[Exception], ...] = (ValueError,)
) -> Iterator[None]:
    """What goes wrong in the code of this file, or of one in this folder, becomes an error of this kind that says
    where. What a function raises there of `words` is its own word to the user."""
    try:
        yield
    except Exception as error:
        said = mistake(error, place)
        if said is None or (isinstance(error, words) and not loading(error)):
            raise
        raise kind(said) from error


def mistake(error: Exception, place: Path) -> str | None:
    """What went wrong in the code of this file, or of one in this folder, and in which line; None: it was not there."""
    frames, what = traceback.extract_tb(error.__traceback__), str(error)
    lines = [(frame.filename, frame.lineno) for frame in frames if Path(frame.filename).is_relative_to(place)]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(place):
        lines, what = [(error.filename, error.lineno)], error.msg
    if not lines:
        return None
    return f"{Path(lines[-1][0]).name}, line {lines[-1][1]}: {type(error).__name__}: {what}"


def loading(error: Exception) -> bool:
    """Whether this went wrong as a file was loaded."""
    return any(frame.name == "<module>" for frame in traceback.extract_tb(error.__traceback__))


@contextlib.contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """A file, to be read; one that ends in .gz is unpacked. Raises ValueError if it cannot be read."""
    try:
        with open(name, "rb") as stream:
            yield io.BufferedReader(gzip.GzipFile(fileobj=stream)) if name.endswith(".gz") else stream
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def lines(name: str) -> Iterator[tuple[str, str]]:
    """The lines of a file, each with what to call it. Raises ValueError if it cannot be read."""
    with opened(name) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, "utf-8", "replace"), 1):
            yield f"{name}, line {number}", line.strip()


@contextlib.contextmanager
def said_of(place: str) -> Iterator[None]:
    """What is wrong is said with where it is."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def number(text: str, least: float = -FARTHEST, most: float = FARTHEST) -> float:
    """A number between these. Raises ValueError."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None
    if not least <= value <= most:  # nor is nan
        raise ValueError(f"{text} is not between {least:g} and {most:g}")
    return value
