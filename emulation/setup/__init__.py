# SPDX-License-Identifier: BSD-3-Clause
"""Set-up: what a run needs and a checkout does not hold.

That is a Python environment, system packages, a User-Mode Linux kernel and the modules that are loaded into it, and a
library for what Python would take too long over. Each is built once and kept in a cache under a hash of what it is
built from (`cache`), so set-up has no state of its own: asking for a thing either finds it or builds it. Only the
standard library is imported, as the launcher calls this package to make the environment (`python -m emulation.setup`).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from emulation.lanes import virtual
from emulation.setup import bytecode, environment, kernel, library, modules, packages, prebuilt, stock, uml
from emulation.setup.errors import SetupError, say
from emulation.setup.packages import Group

__all__ = [
    "ROOT",
    "Group",
    "Prepared",
    "PreparedStock",
    "SetupError",
    "mend_environment",
    "prepare",
    "prepare_all_packages",
    "prepare_docs",
    "prepare_stock",
    "require_all_packages",
]

ROOT = Path(__file__).resolve().parents[2]
LOCK_FILE = ROOT / "requirements.lock"
RUN_LOCK_FILE = ROOT / "requirements-run.lock"
DOCS_LOCK_FILE = ROOT / "requirements-docs.lock"
AIR = ROOT / "emulation" / "dcf80211"
MODULES = (AIR, ROOT / "emulation" / "manet", ROOT / "emulation" / "tcp_tap", ROOT / "tc_modules")
LIBRARIES = (ROOT / "analysis" / "traces" / "native.c",)


@dataclass(frozen=True)
class Prepared:
    """What a lane boots: its kernel, and the modules by name."""

    kernel: kernel.Kernel
    modules: dict[str, Path]


@dataclass(frozen=True)
class PreparedStock:
    """The same of a lane that boots a distribution's kernel."""

    kernel: stock.Installed
    modules: dict[str, Path]


def prepare(
    *groups: Group, configuration: tuple[Path, ...] = uml.CONFIGURATION, folders: tuple[Path, ...] = ()
) -> Prepared:
    """Make everything ready to run a lane, and besides the system packages of the given groups.

    Takes milliseconds when all is there. `configuration` are the kernel's configuration fragments, later ones win.
    The modules are the kernel's own, ours, and those of `folders`, of which the last wins where names are alike.
    Raises SetupError, which says what is missing and how to mend it.
    """
    mend_environment()
    caution = virtual.caution()
    lane = find_or_take(configuration)
    built = [modules.find(folder, lane) if lane else {} for folder in (*MODULES, *folders)]
    if not (all(built) and all(map(library.find, LIBRARIES))):
        groups += (Group.MODULE if lane else Group.BUILD,)
    packages.ensure(*groups)
    lane = lane or kernel.obtain(configuration)
    found = dict(lane.modules)
    for folder, there in zip((*MODULES, *folders), built, strict=True):
        found |= there or modules.obtain(folder, lane)
    for source in LIBRARIES:
        library.obtain(source)
    bytecode.refresh()
    if said := caution():
        say(f"{said} (docs/confinement.md)")
    return Prepared(lane, found)


def complete(lane: kernel.Kernel, folders: tuple[Path, ...]) -> bool:
    """Whether all is in the cache that a run on this kernel takes, with the modules of these folders."""
    return all(modules.find(folder, lane) for folder in folders) and all(map(library.find, LIBRARIES))


def find_or_take(configuration: tuple[Path, ...]) -> kernel.Kernel | None:
    """The kernel that need not be built: it is in the cache, or comes there from a file that is offered (`prebuilt`).
    Raises SetupError for a file of another kernel, if the user has named it."""
    lane, recipe = kernel.find(configuration), kernel.recipe_key(configuration)
    if file := prebuilt.offered(recipe):
        if lane is None or lane.folder.name != prebuilt.kernel_of(file) or not complete(lane, MODULES):
            prebuilt.take(file)
            return kernel.find(configuration)
    elif configuration == uml.CONFIGURATION and (why := prebuilt.refusal(recipe)):
        if os.environ.get(prebuilt.VARIABLE):
            raise SetupError(why)
        if lane is None:
            say(why)
    return lane


def prepare_stock(
    wanted: str, *groups: Group, folders: tuple[Path, ...] = (), boots: bool = True
) -> PreparedStock:  # fmt: skip
    """The same for lanes of a distribution's kernel: the one of this release or path, or of "" the latest; if it is not
    to be booted, the one that runs, and what it has of our modules is not built again."""
    mend_environment()
    packages.ensure(Group.VM if boots else Group.HOST, *groups)
    lane = stock.obtain(wanted) if boots else stock.running()
    found = dict(lane.modules)
    for folder in (*MODULES, *folders):
        found |= (not boots and modules.installed(folder, lane)) or modules.obtain(folder, lane)
    for source in LIBRARIES:
        library.obtain(source)
    bytecode.refresh()
    return PreparedStock(lane, found)


def prepare_environment() -> Path:
    """The Python interpreter of the environment for runs, which is made if it is not there. Raises SetupError."""
    if packages.missing(Group.ENVIRONMENT):  # ask once for everything
        packages.ensure(Group.ENVIRONMENT, Group.BUILD)
    if liked := packages.missing(Group.PROMPT):
        say("some networks, scripts and people at the prompt call programs that are not installed; a run that needs "
            f"one says so first. To have them all, as root: {packages.command(liked)}")  # fmt: skip
    return environment.obtain(RUN_LOCK_FILE)


def prepare_all_packages() -> Path | None:
    """The Python interpreter of the whole environment, which is made if it is not there; None if this program runs in
    one that has more than runs load. Raises SetupError."""
    return environment.obtain(LOCK_FILE) if environment.is_here(RUN_LOCK_FILE) else None


def require_all_packages() -> None:
    """Start this program again in the whole environment if it runs in that of runs. Raises SetupError."""
    if python := prepare_all_packages():
        environment.begin_again(python)


def prepare_docs() -> Path:
    """The Python interpreter that has what the docs are built with, in an environment of its own. Raises SetupError."""
    return environment.obtain(DOCS_LOCK_FILE)


def mend_environment(thoroughly: bool = False, lacking: str = "") -> None:
    """Start this program again in another environment if this one is damaged, or lacks a module, else return."""
    try:
        environment.mend(LOCK_FILE, RUN_LOCK_FILE, thoroughly, lacking)
    except SetupError as error:
        sys.exit(f"dcflab: {error}")
    except KeyboardInterrupt:  # the program that lacks a module has ended
        say("interrupted")
        sys.exit(130)
