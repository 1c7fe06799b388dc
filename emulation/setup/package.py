# SPDX-License-Identifier: BSD-3-Clause
"""Files for other machines, so that they build nothing: a Debian package, a wheel, or only the kernel for a checkout;
and the sources that belong to each."""

import enum
import shutil
import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from emulation.setup import ROOT, cache, deb, kernel, prebuilt, prepare, sources, uml, wheel
from emulation.setup.errors import SetupError
from emulation.setup.sources import Contents, run


class Kind(enum.StrEnum):
    DEB = "deb"
    WHEEL = "wheel"
    KERNEL = "kernel"
    SOURCES = "sources"


def package(folder: Path, kinds: Collection[Kind] = tuple(Kind), also: Iterable[tuple[Path, ...]] = ()) -> list[Path]:
    """Make these files in a folder and return their paths, and include the kernels of `also`, which are configurations.
    Set-up runs first. Raises SetupError if that fails."""
    if lacking := [name for name in ("git", *deb.TOOLS * (Kind.DEB in kinds)) if not shutil.which(name)]:
        raise SetupError(f"packaging needs {' and '.join(lacking)}, which this machine does not have")
    configurations = (uml.CONFIGURATION, *also)
    for configuration in configurations:
        prepare(configuration=configuration)
    contents = Contents(version_of(ROOT), [built_here(configuration) for configuration in configurations])
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    if Kind.DEB in kinds:
        made.append(deb.build(contents, folder))
    if {Kind.KERNEL, Kind.WHEEL} & set(kinds):
        note = sources.note(contents)
        with cache.scratch(folder, "package") as staged:
            files = [prebuilt.pack(list(contents.entries(each)), staged, note) for each in contents.kernels]
            if Kind.WHEEL in kinds:
                made.append(wheel.build(contents, files, folder))
            if Kind.KERNEL in kinds:
                made += [file.rename(folder / file.name) for file in files]
    if Kind.SOURCES in kinds:
        made.append(sources.pack(contents, folder))
    return made


def built_here(configuration: tuple[Path, ...]) -> kernel.Kernel:
    """Return the kernel, built from this machine's archive. Raises SetupError if it was built from another."""
    found = kernel.obtain(configuration)
    if found.folder.name != kernel.name(configuration):
        raise SetupError(f"{found.folder} was not built from the sources on this machine, which must be in "
                         "the package; use a machine without a package of dcflab and a prebuilt kernel")  # fmt: skip
    return found


def version_of(checkout: Path) -> str:
    """Return the program's version, with date and name of its commit. Raises SetupError if this is no checkout."""
    said = run("git", "-C", str(checkout), "log", "-1", "--date=format:%Y%m%d", "--format=%cd.%h")
    return f"{tomllib.loads((checkout / 'pyproject.toml').read_text())['project']['version']}+{said.strip()}"
