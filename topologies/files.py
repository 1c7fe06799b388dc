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
import reprlib
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType, NoneType
from typing import Annotated, Any, BinaryIO

from pydantic import AfterValidator, BaseModel, ValidationError

from topologies.errors import explain
from topologies.network import FARTHEST


def _found_again(name: str) -> str:
    return str(Path(name).resolve())


NOTHING: Mapping[str, Any] = MappingProxyType({})
Asked = Callable[[Any], str]  # what is wrong with what users' code gives; empty if nothing is
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


def is_model(found: Any) -> str:
    return "" if isinstance(found, type) and issubclass(found, BaseModel) else "is not a model of pydantic"


def is_function(found: Any) -> str:
    return "" if callable(found) else "is not a function"


def is_a(*kinds: type) -> Asked:
    """Ask for an object of one of these types."""
    said = " or ".join(f"{_article(kind.__name__)} {kind.__name__}" for kind in kinds)
    return lambda found: "" if isinstance(found, kinds) else f"is not {said}, but {reprlib.repr(found)}"


def _article(noun: str) -> str:
    return "an" if noun[0] in "AEIOaeio" else "a"


def is_derived_from(base: type) -> Asked:
    """Ask for a class with this base, which defines what the base leaves open: abstract methods, and annotated names
    without a value. Its other attributes have the types of those of the base; a list is as good as a tuple."""
    usual = {name: getattr(base, name) for name in vars(base) if not name.startswith("_")}
    like = {name: _like(value, str(vars(base).get("__annotations__", {}).get(name))) for name, value in usual.items()}

    def wrong(found: Any) -> str:
        if not (isinstance(found, type) and issubclass(found, base)):
            return f"is not a class derived from {base.__module__}.{base.__name__}"
        left = {name for name in usual if getattr(getattr(found, name), "__isabstractmethod__", False)}
        for parent in found.__mro__:
            if parent.__module__ == base.__module__:
                left |= {name for name in vars(parent).get("__annotations__", ()) if not hasattr(found, name)}
        if left:
            return f"does not define {', '.join(sorted(left))}"
        for name, asked in like.items():
            if said := asked(getattr(found, name)):
                return f"does not fit its base: {name} {said}"
        return ""

    return wrong


def _like(usual: Any, annotation: str) -> Asked:
    """Ask for a value of the type of a usual one; if that is None, of the annotated type."""
    if callable(usual):
        return is_function
    several = isinstance(usual, tuple) or (usual is None and annotation.startswith("tuple"))
    types = (tuple, list) if several else (int,) if usual is None else (type(usual),)
    return is_a(*types, *([NoneType] if usual is None else []))


class Mistake(ValueError):
    """A mistake in a user's file; the text says where it is."""


def load(name: str, what: str, words: Mapping[str, Asked], optional: Mapping[str, Asked] = NOTHING) -> ModuleType:
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
    check(module, name, what, words, optional)
    return module


def check(
    module: ModuleType, name: str, what: str, words: Mapping[str, Asked], optional: Mapping[str, Asked] = NOTHING
) -> None:
    """Check that a file, which should be a `what`, defines these names. Raises Mistake if it does not."""
    for word, asked in {**words, **{word: optional[word] for word in optional if hasattr(module, word)}}.items():
        if not hasattr(module, word):
            raise Mistake(f"{name} is not {_article(what)} {what}: it does not define {word}")
        if said := asked(getattr(module, word)):
            raise Mistake(f"{place_of(name, word)}: {word} {said}")


def ask(function: Callable[..., Any], asked: Asked, *given: Any, **named: Any) -> Any:
    """Call a function of users' code, and return its result. Raises Mistake, which names the function's place, if it
    takes other arguments, or returns something else."""
    try:
        found = function(*given, **named)
    except TypeError as error:
        if error.__traceback__ and error.__traceback__.tb_next:  # it took them
            raise
        raise Mistake(f"{place_of_function(function)}: {error}") from None
    if said := asked(found):
        raise Mistake(f"{place_of_function(function)}: what {function.__name__} returns {said}")
    return found


def place_of_function(function: Callable[..., Any]) -> str:
    """Return the file and line in which a function begins, as far as they are known."""
    if code := getattr(function, "__code__", None):
        return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
    return getattr(function, "__name__", repr(function))


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
    place: Path, kind: Callable[[str], Exception] = Mistake, words: tuple[type[Exception], ...] = (ValueError,)
) -> Iterator[None]:
    """Turn errors in the code of this file, or of a file in this folder, into errors of this kind that name the place.
    Errors of the types `words` that a function raises are messages to the user and pass unchanged. A ValueError is one
    only if the function raises it by itself: an object of ours that it cannot make is a mistake."""
    try:
        yield
    except Exception as error:
        said = mistake(error, place)
        if said is None or (isinstance(error, words) and not loading(error) and not _of_ours(error, place)):
            raise
        raise kind(said) from error


def _of_ours(error: Exception, place: Path) -> bool:
    """Return whether a ValueError comes from code of ours that the code of this file or folder calls."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ValueError) and not Path(last).is_relative_to(place)


def mistake(error: Exception, place: Path) -> str | None:
    """Return what went wrong in the code of this file or folder, with the line; None if it went wrong elsewhere."""
    frames, what = traceback.extract_tb(error.__traceback__), str(error)
    lines = [(frame.filename, frame.lineno) for frame in frames if Path(frame.filename).is_relative_to(place)]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(place):
        lines, what = [(error.filename, error.lineno)], error.msg
    if not lines:
        return None
    said = "; ".join(explain(error)) if isinstance(error, ValidationError) else f"{type(error).__name__}: {what}"
    return f"{Path(lines[-1][0]).name}, line {lines[-1][1]}: {said}"


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
        raise ValueError(f"{place}: {'; '.join(explain(error))}") from None


def number(text: str, least: float = -FARTHEST, most: float = FARTHEST) -> float:
    """Return a number between these limits. Raises ValueError if it is not one."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None
    if not least <= value <= most:  # nan is not, either
        raise ValueError(f"{text} is not between {least:g} and {most:g}")
    return value
