# SPDX-License-Identifier: BSD-3-Clause
"""Users' files, named by their paths: plug-ins, which are Python, and data.

A specification may name both. Files that a user names on the command line or in Python are used. Text that a lane left,
or that a run folder contains, was written by others: only files are run or read that the user is known to `Trust`.
"""

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


Asked = tuple[Callable[[Any], bool], str]  # a test of a name in a file, and the error if it fails
MODEL: Asked = (lambda found: isinstance(found, type) and issubclass(found, BaseModel), "is not a model of pydantic")
FUNCTION: Asked = callable, "is not a function"
File = Annotated[str, AfterValidator(_found_again)]  # a path, made absolute


@dataclass(frozen=True)
class Trust:
    """The files that may be run or read, and the folders of plug-ins and modules that may be named, by absolute paths;
    None means all.

    It is the context in which pydantic validates a specification. Without a context no file is run.
    """

    files: frozenset[str] | None = frozenset()
    folders: frozenset[str] | None = frozenset()


NOBODY, USER = Trust(), Trust(None, None)  # trust in nobody; in the user


def run_by(name: str, context: object) -> str:
    """Return a file's name if it may be run. Raises ValueError otherwise."""
    trust = context if isinstance(context, Trust) else NOBODY
    if trust.files is not None and _found_again(name) not in trust.files:
        raise ValueError(f"{name} is a program that a file from somebody else names; it is not run")
    return name


def read_by(name: str, context: object) -> str:
    """Return a file's name if it may be read, as it may without a context. Raises ValueError otherwise."""
    trust = context if isinstance(context, Trust) else USER
    if trust.files is not None and _found_again(name) not in trust.files:
        raise ValueError(f"{name} is a file that a file from somebody else names; it is not read")
    return name


def named_by(folder: str, context: object) -> str:
    """Return the name of a folder of plug-ins or modules if it may be used. Raises ValueError otherwise."""
    trust = context if isinstance(context, Trust) else NOBODY
    if trust.folders is not None and _found_again(folder) not in trust.folders:
        raise ValueError(f"{folder}/ has programs that a file from somebody else names; they are not run")
    return folder


def load(name: str, what: str, words: Mapping[str, Asked]) -> ModuleType:
    """Import the module in a file, which should be a `what` and define these names.

    Raises ValueError, which names the line of an error, if there is no such file, or it does not define them.
    """
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(f"own {path}", path)  # no other module has such a name
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"there is no file {name}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look it up
    with own_mistakes(path):
        spec.loader.exec_module(module)
    for word, (is_it, lacks) in words.items():
        if not hasattr(module, word):
            raise ValueError(f"{name} is not a {what}: it does not define {word}")
        if not is_it(getattr(module, word)):
            raise ValueError(f"{place_of(name, word)}: {word} {lacks}")
    return module


def defines(name: str) -> dict[str, int]:
    """Return the names that a Python file defines, with their lines, without running it; nothing if it does not exist.
    Raises ValueError, which names the place, if it is not Python."""
    try:
        body = ast.parse(Path(name).read_bytes(), str(Path(name).resolve())).body
    except OSError:
        return {}
    except (SyntaxError, ValueError) as error:  # a null byte raises the latter
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
    """Return the file and line in which a file defines a name."""
    line = defines(name).get(word)
    return Path(name).name + (f", line {line}" if line else "")


@contextlib.contextmanager
def own_mistakes(
    place: Path, kind: Callable[[str], Exception] = ValueError, words: tuple[type[Exception], ...] = (ValueError,)
) -> Iterator[None]:
    """Turn errors in the code of this file, or of a file in this folder, into errors of this kind that name the place.
    Errors of the types `words` that a function raises are messages to the user and pass unchanged."""
    try:
        yield
    except Exception as error:
        said = mistake(error, place)
        if said is None or (isinstance(error, words) and not loading(error)):
            raise
        raise kind(said) from error


def mistake(error: Exception, place: Path) -> str | None:
    """Return what went wrong in the code of this file or folder, with the line; None if it went wrong elsewhere."""
    frames, what = traceback.extract_tb(error.__traceback__), str(error)
    lines = [(frame.filename, frame.lineno) for frame in frames if Path(frame.filename).is_relative_to(place)]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(place):
        lines, what = [(error.filename, error.lineno)], error.msg
    if not lines:
        return None
    return f"{Path(lines[-1][0]).name}, line {lines[-1][1]}: {type(error).__name__}: {what}"


def loading(error: Exception) -> bool:
    """Return whether an error occurred while a file was loaded."""
    return any(frame.name == "<module>" for frame in traceback.extract_tb(error.__traceback__))


@contextlib.contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file for reading; decompress it if it ends in .gz. Raises ValueError if it cannot be read."""
    try:
        with open(name, "rb") as stream:
            yield io.BufferedReader(gzip.GzipFile(fileobj=stream)) if name.endswith(".gz") else stream
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{name}: {getattr(error, 'strerror', None) or error}") from None


def lines(name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file, each with its name for messages. Raises ValueError if the file cannot be read."""
    with opened(name) as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, "utf-8", "replace"), 1):
            yield f"{name}, line {number}", line.strip()


@contextlib.contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def number(text: str, least: float = -FARTHEST, most: float = FARTHEST) -> float:
    """Return a number between these limits. Raises ValueError if it is not one."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not least <= value <= most:  # nan is not, either
        raise ValueError(f"{text} is not between {least:g} and {most:g}")
    return value
