# SPDX-License-Identifier: BSD-3-Clause
"""What other machines are given, so that they build nothing: a Debian package, a wheel, or the kernel alone for a
checkout; and the sources that belong to each."""

from __future__ import annotations

import enum
import os
import shutil
import subprocess
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulation.setup import LIBRARIES, MODULES, ROOT, bytecode, cache, kernel, library, modules, prebuilt, prepare, uml
from emulation.setup.errors import SetupError

LEFT_OUT = (".ci", ".gitignore", "tests")


class Kind(enum.StrEnum):
    """What can be made."""

    DEB = "deb"
    WHEEL = "wheel"
    KERNEL = "kernel"
    SOURCES = "sources"


@dataclass(frozen=True)
class Contents:
    """What is packed: the program's version, the entries of the cache that hold its kernels, the lab's first, and what
    serves the lab's. A package is made where its kernel was built, so that the sources are those of the machine."""

    version: str
    kernels: Sequence[kernel.Kernel]

    @property
    def built(self) -> str:
        """The entry of the lab's kernel."""
        return self.kernels[0].folder.name

    def entries(self, *kernels: kernel.Kernel) -> Iterator[Path]:
        """Kernels, all if none is named, their modules, and the library."""
        for source in LIBRARIES:
            yield library.obtain(source).parent
        for each in kernels or self.kernels:
            yield each.folder
            for source in MODULES:
                yield from {file.parent for file in modules.obtain(source, each).values()}


def package(folder: Path, kinds: Collection[Kind] = tuple(Kind), checks: bool = False) -> list[Path]:
    """Make these files in a folder and return their paths; with `checks`, also of the kernel in which modules are
    checked. Set-up is done first. Raises SetupError."""
    from emulation.setup import deb, sources, wheel

    if lacking := [name for name in ("git", *deb.TOOLS * (Kind.DEB in kinds)) if not shutil.which(name)]:
        raise SetupError(f"packages are made by {' and '.join(lacking)}: not on this machine")
    version = version_of(ROOT)
    configurations = (uml.CONFIGURATION, kernel.DEBUG) if checks else (uml.CONFIGURATION,)
    for configuration in configurations:
        prepare(configuration=configuration)
    contents = Contents(version, [built_here(configuration) for configuration in configurations])
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    if Kind.DEB in kinds:
        made.append(deb.build(contents, folder))
    if {Kind.KERNEL, Kind.WHEEL} & set(kinds):
        note = sources.note(contents.built, version)
        with cache.scratch(folder, "package") as staged:
            files = [prebuilt.pack(list(contents.entries(each)), staged, note) for each in contents.kernels]
            if Kind.WHEEL in kinds:
                made.append(wheel.build(contents, files, folder))
            if Kind.KERNEL in kinds:
                made += [file.rename(folder / file.name) for file in files]
    if Kind.SOURCES in kinds:
        made.append(sources.pack(contents.built, version, folder))
    return made


def built_here(configuration: tuple[Path, ...]) -> kernel.Kernel:
    """The kernel, built from the archive that is here. Raises SetupError."""
    found = kernel.obtain(configuration)
    if found.folder.name != kernel.name(configuration):
        raise SetupError(f"{found.folder} was not built from the sources on this machine, which would have to go with "
                         "it: make packages where there is no package of dcflab and no prebuilt kernel")  # fmt: skip
    return found


def version_of(checkout: Path) -> str:
    """The program's version, and the date and name of its commit. Raises SetupError if this is no checkout."""
    said = run("git", "-C", str(checkout), "log", "-1", "--date=format:%Y%m%d", "--format=%cd.%h")
    return f"{tomllib.loads((checkout / 'pyproject.toml').read_text())['project']['version']}+{said.strip()}"


def files_of(checkout: Path) -> list[str]:
    """What git has of a checkout, as far as it is there, without what is left out. Raises SetupError."""
    names = run("git", "-C", str(checkout), "ls-files", "-z").split("\0")
    return [
        name for name in names if name and name.partition("/")[0] not in LEFT_OUT and os.path.lexists(checkout / name)
    ]


def copy_checkout(checkout: Path, home: Path) -> None:
    """The same copied, as it lies there, with bytecode beside it."""
    for name in files_of(checkout):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(checkout / name, home / name, follow_symlinks=False)
    whole_seconds(home)
    bytecode.refresh([home])


def whole_seconds(folder: Path) -> None:
    """Let all files be as old as archives can say, so that what is remembered of them stays true."""
    for path, _, names in os.walk(folder):
        for name in names:
            at = int(os.lstat(file := os.path.join(path, name)).st_mtime)
            os.utime(file, (at, at), follow_symlinks=False)


def run(*command: str) -> str:
    """Run a command; returns what it says. Raises SetupError with its last lines."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{command[0]} failed", (done.stdout + done.stderr).splitlines()[-5:])
    return done.stdout
