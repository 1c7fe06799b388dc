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
from collections.abc import Callable
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from emulation.lane.init import CHECKOUT as IN_LANE
from emulation.lanes import CHECKOUT, PACKAGES, ROAD

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
WITHOUT_REFERENCES = 2  # a format of marshal: which objects later ones refer to hangs on what else the process holds
STARTED = CHECKOUT / "emulation/lane/init.py"  # what the kernel starts, from a file of its own


@cache
def bundle(exact: bool = False) -> bytes:
    """By name of each module: whether it is a package, where a lane finds its source, and its code. What is frozen into
    the interpreter needs no file. `exact`: the same bytes wherever the checkout is, and whatever was compiled before,
    for a lane in which reading takes time; this takes longer."""
    code = compiled if exact else any_code
    specs = {name: importlib.util.find_spec(name) for name in STANDARD}
    found = {
        name: entry(name, spec.origin, spec.origin, code) for name, spec in specs.items() if spec and spec.has_location
    }
    for file in sorted({*PACKAGES[:1], *(file for top in ROAD for file in top.rglob("*.py"))} - {STARTED}):
        path = file.relative_to(CHECKOUT)
        name = ".".join(path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts)
        found[name] = entry(name, str(file), f"{IN_LANE}/{path}", code)
    return marshal.dumps(found, WITHOUT_REFERENCES)


def entry(
    name: str, source: str | None, in_lane: str | None, code: Callable[[str, str, str], bytes]
) -> tuple[bool, str, bytes]:
    """Of one module."""
    assert source and in_lane
    return Path(source).name == "__init__.py", in_lane, code(name, source, in_lane)


def compiled(name: str, source: str, in_lane: str) -> bytes:
    """Its code, with the lane's name of its file."""
    return marshal.dumps(compile(Path(source).read_bytes(), in_lane, "exec", dont_inherit=True), WITHOUT_REFERENCES)


def any_code(name: str, source: str, in_lane: str) -> bytes:
    """Its code from beside its source if it is there, of this version of it (PEP 552)."""
    there = os.stat(source)
    version = MAGIC_NUMBER + struct.pack("<3I", 0, int(there.st_mtime) & 0xFFFF_FFFF, there.st_size)
    try:
        found = Path(importlib.util.cache_from_source(source)).read_bytes()
    except OSError:
        found = b""
    return found.removeprefix(version) if found.startswith(version) else compiled(name, source, in_lane)
