# SPDX-License-Identifier: BSD-3-Clause
"""Build a C file as a shared library, for loops that are slow in Python; the cache keeps it."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from emulation.setup import cache, packages
from emulation.setup.errors import SetupError

FLAGS = ("-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")


def name(source: Path) -> str:
    return f"library-{source.stem}-{cache.key(*FLAGS, source.read_bytes())}"


def find(source: Path) -> Path | None:
    """Return the library of a C file, if it is in the cache."""
    entry = cache.find(name(source))
    return entry and entry / f"{source.stem}.so"


def obtain(source: Path) -> Path:
    """Return the library of a C file; build it if it is not in the cache. Raises SetupError if that fails."""

    def build(folder: Path) -> Iterable[str]:
        built = f"{source.stem}.so"
        done = subprocess.run(["gcc", *FLAGS, "-o", folder / built, source], capture_output=True, text=True)
        if done.returncode:
            raise SetupError(f"building {source.name} failed", done.stderr.splitlines())
        return [built]

    if found := find(source):
        return found
    if shutil.which("gcc") is None:
        packages.ensure(packages.Group.MODULE)
    return cache.obtain(name(source), build) / f"{source.stem}.so"
