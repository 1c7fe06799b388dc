# SPDX-License-Identifier: BSD-3-Clause
"""Set-up: obtain what a run needs and a checkout does not contain.

That is a Python environment, system packages, a User-Mode Linux kernel with modules, and a library for what is slow in
Python. Each is built once and kept in a cache under a hash of its sources (`cache`). So set-up has no state: it either
finds a thing or builds it. Only the standard library is imported, because the launcher calls this package to make the
environment (`python -m emulation.setup`).
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from emulation.lanes import virtual
from emulation.setup import bytecode, environment, kernel, library, modules, packages, prebuilt, stock, uml
from emulation.setup.errors import SetupError, say
from emulation.setup.packages import AnyGroup, Group

__all__ = [
    "ROOT", "Group", "Prepared", "PreparedStock", "SetupError", "prepare", "prepare_all_packages", "prepare_docs",
    "prepare_stock", "repair_environment", "require_all_packages",
]  # fmt: skip

ROOT = Path(__file__).resolve().parents[2]
LOCK_FILE = ROOT / "requirements.lock"
RUN_LOCK_FILE = ROOT / "requirements-run.lock"
DOCS_LOCK_FILE = ROOT / "requirements-docs.lock"
AIR = ROOT / "emulation" / "dcf80211"
MODULES = (AIR, ROOT / "emulation" / "manet", ROOT / "emulation" / "tcp_tap", ROOT / "tc_modules")
LIBRARY = ROOT / "analysis" / "traces" / "native.c"


@dataclass(frozen=True)
class Prepared:
    """What a lane boots: its kernel, and the modules by name."""

    kernel: kernel.Kernel
    modules: dict[str, Path]


@dataclass(frozen=True)
class PreparedStock:
    """What a lane with a distribution's kernel boots."""

    kernel: stock.Installed
    modules: dict[str, Path]


def prepare(
    *groups: AnyGroup, configuration: tuple[Path, ...] = uml.CONFIGURATION, folders: tuple[Path, ...] = ()
) -> Prepared:
    """Provide everything for running a lane, and the system packages of the given groups.

    Takes milliseconds if all exists. `configuration` has the kernel's configuration fragments; later ones win. The
    modules are the kernel's, ours, and those of `folders`; of several with one name, the last wins. Raises SetupError,
    which says what is missing and how to fix it.
    """
    repair_environment()
    caution = virtual.caution()
    lane = find_or_take(configuration)
    built = [modules.find(folder, lane) if lane else {} for folder in (*MODULES, *folders)]
    if lane is None:
        lane = install_and_build(configuration, groups)
    elif not (all(built) and library.find(LIBRARY)):
        groups += (Group.MODULE,)
    packages.ensure(*groups)
    found = dict(lane.modules)
    for folder, there in zip((*MODULES, *folders), built, strict=True):
        found |= there or modules.obtain(folder, lane)
    library.obtain(LIBRARY)
    bytecode.refresh()
    if said := caution():
        say(f"{said} (docs/confinement.md)")
    return Prepared(lane, found)


def install_and_build(configuration: tuple[Path, ...], groups: tuple[AnyGroup, ...]) -> kernel.Kernel:
    """Build a kernel and install the packages of these groups, as root both at once: apt mostly waits for the network
    and the disk. Others are asked once for all packages. Raises SetupError."""
    from concurrent.futures import ThreadPoolExecutor

    packages.ensure(*(() if os.geteuid() == 0 else groups), Group.BUILD)
    with ThreadPoolExecutor(1) as aside:
        others = aside.submit(packages.ensure, *groups)
        lane = kernel.obtain(configuration)
        others.result()
    return lane


def complete(lane: kernel.Kernel) -> bool:
    """Return whether the cache has all that a run on this kernel needs."""
    return all(modules.find(folder, lane) for folder in MODULES) and library.find(LIBRARY) is not None


def find_or_take(configuration: tuple[Path, ...]) -> kernel.Kernel | None:
    """Return a kernel that need not be built: from the cache, or from an offered file (`prebuilt`); None if there is
    neither. Raises SetupError if the user named a file for another kernel."""
    lane, recipe = kernel.find(configuration), kernel.recipe_key(configuration)
    if file := prebuilt.find_file(recipe):
        if lane is None or lane.folder.name != prebuilt.kernel_of(file) or not complete(lane):
            prebuilt.unpack_into_cache(file)
            return kernel.find(configuration)
    elif configuration == uml.CONFIGURATION and (why := prebuilt.why_unused(recipe)):
        if os.environ.get(prebuilt.VARIABLE):
            raise SetupError(why)
        if lane is None:
            say(why)
    return lane


def prepare_stock(
    wanted: str, *groups: AnyGroup, folders: tuple[Path, ...] = (), boots: bool = True
) -> PreparedStock:  # fmt: skip
    """Provide everything for lanes with a distribution's kernel: the one of this release or path, or the latest for "".
    If it is not to be booted, use the running kernel; its installed modules of ours are not built again."""
    repair_environment()
    packages.ensure(Group.VM if boots else Group.HOST, *groups)
    lane = stock.obtain(wanted) if boots else stock.running()
    found = dict(lane.modules)
    for folder in (*MODULES, *folders):
        found |= (not boots and modules.installed(folder, lane)) or modules.obtain(folder, lane)
    library.obtain(LIBRARY)
    bytecode.refresh()
    return PreparedStock(lane, found)


def prepare_environment() -> Path:
    """Return the Python interpreter of the environment for runs, made if missing. Raises SetupError if that fails."""
    if packages.missing(Group.ENVIRONMENT):  # ask once for everything
        packages.ensure(Group.ENVIRONMENT, Group.BUILD)
    packages.ensure_small()
    if liked := packages.missing(Group.PROMPT):
        say("some networks and scripts call programs that are not installed; a run that needs one says so first. "
            f"To install all of them, as root: {packages.command(liked)}")  # fmt: skip
    return environment.obtain(RUN_LOCK_FILE)


def prepare_all_packages() -> Path | None:
    """Return the Python interpreter of the full environment, made if missing. Return None if this program does not run
    in the one for runs only. Raises SetupError if that fails."""
    return environment.obtain(LOCK_FILE) if environment.is_here(RUN_LOCK_FILE) else None


def require_all_packages() -> None:
    """Restart this program in the full environment if it runs in the one for runs only. Raises SetupError."""
    if python := prepare_all_packages():
        environment.restart(python)


def prepare_docs() -> Path:
    """Return the Python interpreter of the environment that builds the docs. Raises SetupError if that fails."""
    return environment.obtain(DOCS_LOCK_FILE)


def repair_environment(thoroughly: bool = False, missing_module: str = "") -> None:
    """Restart this program in another environment if this one is damaged or lacks a module."""
    try:
        environment.repair(LOCK_FILE, RUN_LOCK_FILE, thoroughly, missing_module)
    except SetupError as error:
        sys.exit(f"dcflab: {error}")
    except KeyboardInterrupt:  # the program that lacks a module has ended
        say("interrupted")
        sys.exit(130)
