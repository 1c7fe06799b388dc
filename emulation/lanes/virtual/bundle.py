# SPDX-License-Identifier: BSD-3-Clause
"""The modules that every run loads, as code in one file.

Finding, opening and reading a module takes some twenty system calls, each of which is two switches between processes in
a lane. A run loads sixty modules, and this took a fifth of its start. Other modules are found as usual.
`emulation.lane.init` reads the file.
"""

import importlib.util
import marshal
import os
import struct
from collections.abc import Callable
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from emulation.lane.init import CHECKOUT as IN_LANE
from emulation.lanes import CHECKOUT, IN_EVERY_LANE, PACKAGES

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
WITHOUT_REFERENCES = 2  # a version of marshal: with references, the bytes depend on what else the process holds
STARTED = CHECKOUT / "emulation/lane/init.py"  # the kernel starts it from its own file


@cache
def bundle(exact: bool = False) -> bytes:
    """Return the file: by module name, whether it is a package, the path of its source in a lane, and its code.

    Modules that are frozen into the interpreter are left out. If `exact`, the bytes depend neither on the checkout's
    path nor on compiled files; a lane in which reading takes time needs that. It takes longer.
    """
    code = compiled if exact else any_code
    specs = {name: importlib.util.find_spec(name) for name in STANDARD}
    found = {
        name: entry(name, spec.origin, spec.origin, code) for name, spec in specs.items() if spec and spec.has_location
    }
    for file in sorted({*PACKAGES[:1], *(file for top in IN_EVERY_LANE for file in top.rglob("*.py"))} - {STARTED}):
        path = file.relative_to(CHECKOUT)
        name = ".".join(path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts)
        found[name] = entry(name, str(file), f"{IN_LANE}/{path}", code)
    return marshal.dumps(found, WITHOUT_REFERENCES)


def entry(
    name: str, source: str | None, in_lane: str | None, code: Callable[[str, str, str], bytes]
) -> tuple[bool, str, bytes]:
    assert source and in_lane
    return Path(source).name == "__init__.py", in_lane, code(name, source, in_lane)


def compiled(name: str, source: str, in_lane: str) -> bytes:
    return marshal.dumps(compile(Path(source).read_bytes(), in_lane, "exec", dont_inherit=True), WITHOUT_REFERENCES)


def any_code(name: str, source: str, in_lane: str) -> bytes:
    """Return a module's code from its up-to-date .pyc file (PEP 552), if there is one; else compile it."""
    there = os.stat(source)
    version = MAGIC_NUMBER + struct.pack("<3I", 0, int(there.st_mtime) & 0xFFFF_FFFF, there.st_size)
    try:
        found = Path(importlib.util.cache_from_source(source)).read_bytes()
    except OSError:
        found = b""
    return found.removeprefix(version) if found.startswith(version) else compiled(name, source, in_lane)
