# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in of the user's own: a Python file, named by its path."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType


def load(name: str, what: str, words: Sequence[str]) -> ModuleType:
    """The module in a file, which is to be `what` and to define these words.

    Raises ValueError if there is no such file, if something is wrong in it, or one of the words is not in it.
    """
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(f"own {path}", path)  # no other module has such a name
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"there is no file {name}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for their own
    with own_mistakes(path):
        spec.loader.exec_module(module)
    if lacks := next((word for word in words if not hasattr(module, word)), None):
        raise ValueError(f"{name} is no {what}: it defines no {lacks}")
    return module


@contextlib.contextmanager
def own_mistakes(path: Path) -> Iterator[None]:
    """What goes wrong in this file's code becomes a ValueError that says where; one that it raises is its own word."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        what: object = error
        if isinstance(error, SyntaxError):
            lines, what = [error.lineno], error.msg
        place = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"{path.name}{place}: {type(error).__name__}: {what}") from error
