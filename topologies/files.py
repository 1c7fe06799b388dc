# SPDX-License-Identifier: BSD-3-Clause
"""Files of the user's own, named by their paths: plug-ins, which are Python; and data.

A specification may name both. What a user says on a command line, or in Python, is done. What a lane has left, or a run
folder says, others wrote: of that no file is run, and none is read, but those that the user is known to `Trust`.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import io
import sys
import traceback
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, BinaryIO

from pydantic import AfterValidator

from topologies.network import FARTHEST


def _found_again(name: str) -> str:
    return str(Path(name).resolve())


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


def load(name: str, what: str, words: Sequence[str]) -> ModuleType:
    """The module in a file, which is to be `what` and to define these words.

    Raises ValueError if there is no such file, if something is wrong in it, or one of the words is not in it.
    """
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(f"own {path}", path)  # no other module has such a name
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"there is no file {name}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for their own
    with own_mistakes(path, refuses=False):
        spec.loader.exec_module(module)
    if lacks := next((word for word in words if not hasattr(module, word)), None):
        raise ValueError(f"{name} is no {what}: it defines no {lacks}")
    return module


@contextlib.contextmanager
def own_mistakes(path: Path, refuses: bool = True) -> Iterator[None]:
    """What goes wrong in this file's code becomes a ValueError that says where. If it `refuses` what others chose, one
    that it raises is its own word."""
    try:
        yield
    except Exception as error:
        if refuses and isinstance(error, ValueError):
            raise
        raise ValueError(mistake(path, error)) from error


def mistake(path: Path, error: Exception) -> str:
    """What went wrong in this file's code, and in which line."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    what: object = error
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines, what = [error.lineno], error.msg
    place = f", line {lines[-1]}" if lines else ""
    return f"{path.name}{place}: {type(error).__name__}: {what}"


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
