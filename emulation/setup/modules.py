# SPDX-License-Identifier: BSD-3-Clause
"""Kernel modules, built out of tree against a lane's kernel: the air, and modules under test.

A module that DKMS built from the same source for the running kernel is used as it is: our Kbuild files write the hash
of the source into each module.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from emulation.setup import cache, packages, stock
from emulation.setup.kernel import Kernel
from emulation.setup.stock import Installed
from emulation.setup.tools import make

DESCRIPTIONS, SOURCES, GENERATED = ("Kbuild", "Makefile"), (".c", ".h", ".S"), ".mod.c"
SYMBOLS = "Module.symvers"  # what modules that call these are built with
# What a module says of its build, and the size: the hash of its folder's sources, and the linker's ID of its content.
SAYS = {b"\0source_sha256=": 64, b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0": 20}
DKMS, BUILT = "dkms.conf", re.compile(r'^BUILT_MODULE_NAME.*="(\w+)"$', re.MULTILINE)


def find(source: Path, kernel: Kernel | Installed) -> dict[str, Path]:
    """Return the modules of a folder with a Kbuild file, by name, if they are in the cache; otherwise none."""
    entry = cache.find(name(source, kernel))
    return {file.stem: file for file in sorted(entry.glob("*.ko"))} if entry else {}


def obtain(source: Path, kernel: Kernel | Installed) -> dict[str, Path]:
    """Return the modules of a folder with a Kbuild file, by name; build them if they are not in the cache. Raises
    SetupError."""
    if found := find(source, kernel):
        return found
    packages.ensure(kernel.builders)
    cache.obtain(name(source, kernel), lambda folder: build(folder, source, kernel))
    return find(source, kernel)


def name(source: Path, kernel: Kernel | Installed) -> str:
    """Return the name of a folder's modules in the cache."""
    contents = [part for file in sources(source) for part in (str(file.relative_to(source)), file.read_bytes())]
    return f"modules-{source.name}-{cache.key(kernel.key, *contents)}"


def sources(folder: Path) -> list[Path]:
    """Return the sources of modules: Kbuild files and C sources, in this folder and below."""
    found = (Path(path, name) for path, _, names in os.walk(folder) for name in names)
    wanted = (file for file in found if file.name in DESCRIPTIONS or file.suffix in SOURCES)
    return sorted(file for file in wanted if not file.name.endswith(GENERATED))


def source_sha256(folder: Path) -> str:
    """Return the hash that a module of this folder contains: of sha256sum's list of its sources, as in the Kbuild
    file."""
    by_name = sorted((f"./{file.relative_to(folder)}", file) for file in sources(folder))
    sums = "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n" for name, file in by_name)
    return hashlib.sha256(sums.encode()).hexdigest()


def digest(file: Path) -> str:
    """Return the SHA-256 of a module without what it says of its build, so that the others of its folder, and programs
    beside them, can change."""
    data = file.read_bytes()
    for before, size in SAYS.items():
        head, mark, tail = data.partition(before)
        data = head + mark + tail[size:]
    return hashlib.sha256(data).hexdigest()


def installed(source: Path, kernel: Installed) -> dict[str, Path]:
    """Return the installed modules of a folder, unpacked into the cache, if all are built from this source for this
    kernel; otherwise none. Raises SetupError if the cache cannot be written."""
    named = BUILT.findall((source / DKMS).read_text()) if (source / DKMS).is_file() else []
    says = f"\0source_sha256={source_sha256(source)}\0".encode()
    there: dict[str, bytes] = {}
    for module in named:
        if path := stock.path_of(module, kernel.release):
            there[module] = stock.unpacked_module(stock.modules_of(kernel.release) / path)
    if not named or not all(says in b"\0" + there.get(module, b"") for module in named):
        return {}

    def unpack(folder: Path) -> Iterable[str]:
        for module, data in there.items():
            (folder / f"{module}.ko").write_bytes(data)
        return [f"{module}.ko" for module in there]

    entry = cache.obtain(f"installed-{source.name}-{cache.key(kernel.release, *there.values())}", unpack)
    return {module: entry / f"{module}.ko" for module in named}


def build(folder: Path, source: Path, kernel: Kernel | Installed) -> Iterable[str]:
    """Build the modules from a copy of their sources. Return the key files. Raises SetupError if that fails."""
    copy = folder / source.name
    for file in sources(source):
        target = copy / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    make([*kernel.make, f"M={copy}", "modules"], copy, folder / cache.LOG, source.name)
    built = [path.rename(folder / path.name).name for path in (*copy.rglob("*.ko"), copy / SYMBOLS) if path.exists()]
    shutil.rmtree(copy)
    return built
