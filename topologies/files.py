# SPDX-License-Identifier: BSD-3-Clause
"""A plug-in of the user's own: a Python file, named by its path."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


def load(name: str, what: str, words: Sequence[str]) -> ModuleType:
    """The module in a file, which is to be `what` and to define these words.

    Raises ValueError if there is no such file, or one of the words is not in it; what else is wrong there is its
    author's to see.
    """
    path = Path(name).resolve()
    spec = importlib.util.spec_from_file_location(f"own {path}", path)  # no other module has such a name
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"there is no file {name}")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where dataclasses look for their own
    spec.loader.exec_module(module)
    if lacks := next((word for word in words if not hasattr(module, word)), None):
        raise ValueError(f"{name} is no {what}: it defines no {lacks}")
    return module
