# SPDX-License-Identifier: BSD-3-Clause
"""The lane's kernel in the cache: which one this checkout and machine need, found or built (`uml`)."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path

from emulation.setup import cache, headers, packages, prebuilt, uml
from emulation.setup.errors import SetupError, say
from emulation.setup.tools import compiler, fingerprint

MINUTES = {"lab's kernel": "two to five", "debug kernel": "three to six"}
OWN_SOURCE = "DCFLAB_LINUX_SOURCE"
DEBUG = (*uml.CONFIGURATION, uml.RECIPE / "debug.config")  # the configuration in which modules are checked


@dataclass(frozen=True)
class Kernel:
    """A built kernel: its folder in the cache, against which modules are built."""

    folder: Path
    builders = packages.Group.MODULE  # the packages that building for it needs

    @property
    def linux(self) -> Path:
        """The program to run."""
        return self.folder / "linux"

    @property
    def key(self) -> str:
        """What distinguishes it from other kernels, for things that are built for it."""
        return self.folder.name

    @property
    def make(self) -> tuple[str, ...]:
        """Arguments of make that build modules for it."""
        return ("ARCH=um", "-C", str(self.folder))

    @property
    def modules(self) -> dict[str, Path]:
        """Its own congestion controls and qdiscs, by name. It loads its other modules by itself."""
        return {file.stem: file for kind in ("tcp", "sch") for file in sorted(self.folder.glob(f"net/*/{kind}_*.ko"))}


def find(configuration: tuple[Path, ...] = uml.CONFIGURATION) -> Kernel | None:
    """Return the kernel with these configuration fragments, if it is in the cache.

    It is the offered prebuilt one, or the one that would be built now. If a package brought it, or this machine cannot
    build, it may be any that was built by this recipe.
    """
    recipe, wanted = recipe_key(configuration), name(configuration)
    offer = prebuilt.find_file(recipe)
    roots = cache.packaged() if wanted else cache.roots()
    alike = {path.name for root in roots for path in root.glob(f"kernel-{recipe}-*")}
    first = [*([prebuilt.kernel_of(offer)] if offer else []), *([wanted] if wanted else [])]
    entries = map(cache.find, [*first, *sorted(alike)])
    return next((Kernel(entry) for entry in entries if entry), None)


def obtain(configuration: tuple[Path, ...] = uml.CONFIGURATION) -> Kernel:
    """Return the kernel with these configuration fragments; build it if it is not in the cache. Raises SetupError."""
    if found := find(configuration):
        return found
    packages.ensure(packages.Group.BUILD)
    source, wanted = archive(), name(configuration)
    if source is None or wanted is None:
        raise SetupError("there is no kernel source: $DCFLAB_LINUX_SOURCE does not name an archive")
    what = "debug kernel" if configuration == DEBUG else "lab's kernel"
    minutes = MINUTES[what]
    say(f"building the {what}; this happens once and takes {minutes} minutes on two cores with nothing else to do")
    return Kernel(cache.obtain(wanted, lambda folder: uml.build(folder, source, configuration, what)))


def name(configuration: tuple[Path, ...]) -> str | None:
    """Return the kernel's name in the cache, from its recipe and sources. None if it cannot be built here."""
    source, gcc = archive(), compiler()
    return f"kernel-{recipe_key(configuration)}-{cache.key(fingerprint(source), gcc)}" if source and gcc else None


def recipe_key(configuration: tuple[Path, ...]) -> str:
    """Return the part of the name that identifies the recipe."""
    recipe = (*configuration, *uml.patches(configuration), uml.SOURCES, uml.KEPT, Path(uml.__file__))
    recipe += (*sorted(uml.HEADERS.iterdir()), Path(headers.__file__))
    return cache.key(*(file.read_bytes() for file in recipe))


def archive() -> Path | None:
    """Return the kernel's source archive: Debian's, or what $DCFLAB_LINUX_SOURCE names, which may be a folder."""
    own = os.environ.get(OWN_SOURCE)
    found = [own] if own else sorted(glob.glob(packages.KERNEL_SOURCE))
    return next((Path(path) for path in found if os.path.isfile(path) or os.path.isfile(f"{path}/Kconfig")), None)
