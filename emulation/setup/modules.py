# SPDX-License-Identifier: BSD-3-Clause
"""Kernel modules, built out of tree against a lane's kernel: the air, and modules under test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from emulation.setup import cache, packages
from emulation.setup.kernel import Kernel
from emulation.setup.stock import Installed
from emulation.setup.tools import make

DESCRIPTIONS, SOURCES = ("Kbuild", "Makefile"), (".c", ".h", ".S")


def find(source: Path, kernel: Kernel | Installed) -> dict[str, Path]:
    """The modules of a folder with a Kbuild file, by name, if they are in the cache; else none."""
    entry = cache.find(name(source, kernel))
    return {file.stem: file for file in sorted(entry.glob("*.ko"))} if entry else {}


def obtain(source: Path, kernel: Kernel | Installed) -> dict[str, Path]:
    """The modules of a folder with a Kbuild file, by name; built if they are not in the cache. Raises SetupError."""
    if not find(source, kernel):
        packages.ensure(kernel.builders)
        cache.obtain(name(source, kernel), lambda folder: build(folder, source, kernel))
    return find(source, kernel)


def name(source: Path, kernel: Kernel | Installed) -> str:
    """The name of a folder's modules in the cache."""
    contents = [part for file in sources(source) for part in (str(file.relative_to(source)), file.read_bytes())]
    return f"modules-{source.name}-{cache.key(kernel.key, *contents)}"


def sources(folder: Path) -> list[Path]:
    """What modules are made from: Kbuild files and C sources, in this folder and below."""
    found = (Path(path, name) for path, _, names in os.walk(folder) for name in names)
    return sorted(file for file in found if file.name in DESCRIPTIONS or file.suffix in SOURCES)


def build(folder: Path, source: Path, kernel: Kernel | Installed) -> Iterable[str]:
    """Build the modules from a copy of their sources; returns the key files. Raises SetupError."""
    copy = folder / source.name
    for file in sources(source):
        target = copy / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    make([*kernel.make, f"M={copy}", "modules"], copy, folder / "build.log", source.name)
    built = [path.rename(folder / path.name).name for path in copy.rglob("*.ko")]
    shutil.rmtree(copy)
    return built
