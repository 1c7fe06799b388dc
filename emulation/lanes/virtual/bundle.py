# SPDX-License-Identifier: BSD-3-Clause
"""What a lane's programs are made of, as one file: the modules that every run loads, as code.

To look for a module, and to open and read it, are some twenty system calls, each of which is two switches between
processes in a lane, and a run loads sixty; they were a fifth of what starting one took. What is not in the bundle is
found as always. `emulation.lane.init` reads it.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import struct
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from emulation.lane.init import CHECKOUT as IN_LANE
from emulation.lanes import CHECKOUT, INSIDE

STANDARD = (
    *(
        "__future__",
        "bisect",
        "collections",
        "collections.abc",
        "contextlib",
        "copyreg",
        "ctypes",
        "ctypes._endian",
        "enum",
    ),
    *("functools", "heapq", "importlib", "json", "json.decoder", "json.encoder", "json.scanner", "keyword", "operator"),
    *("re", "re._casefix", "re._compiler", "re._constants", "re._parser", "reprlib", "selectors", "signal", "socket"),
    *("struct", "types", "warnings"),
)
NOT_FOR_RUNS = ("check", "prompt.py", "init.py")  # below emulation/lane


@cache
def bundle() -> bytes:
    """By name of each module: whether it is a package, where a lane finds its source, and its code. What is frozen into
    the interpreter needs no file."""
    specs = {name: importlib.util.find_spec(name) for name in STANDARD}
    found = {name: entry(name, spec.origin, spec.origin) for name, spec in specs.items() if spec and spec.has_location}
    for file in [CHECKOUT / "emulation/__init__.py", *(file for folder in INSIDE for file in folder.rglob("*.py"))]:
        path = file.relative_to(CHECKOUT)
        if path.parts[2:3] and path.parts[2] in NOT_FOR_RUNS:
            continue
        name = ".".join(path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts)
        found[name] = entry(name, str(file), f"{IN_LANE}/{path}")
    return marshal.dumps(found)


def entry(name: str, source: str | None, in_lane: str | None) -> tuple[bool, str, bytes]:
    """Of one module."""
    assert source and in_lane
    return Path(source).name == "__init__.py", in_lane, kept(source) or compiled(name, source)


def kept(source: str) -> bytes | None:
    """A module's code from beside its source, as it is there; None if there is none of this version of it (PEP 552)."""
    there = os.stat(source)
    version = MAGIC_NUMBER + struct.pack("<3I", 0, int(there.st_mtime) & 0xFFFF_FFFF, there.st_size)
    try:
        found = Path(importlib.util.cache_from_source(source)).read_bytes()
    except OSError:
        return None
    return found.removeprefix(version) if found.startswith(version) else None


def compiled(name: str, source: str) -> bytes:
    return marshal.dumps(SourceFileLoader(name, source).get_code(name))
