# SPDX-License-Identifier: BSD-3-Clause
"""A Debian package of all that a run needs, for machines that shall not build or fetch anything: a classroom's.

It is the program as git has it, without its tests, and beside it `cache`: the entries of this machine's cache that the
program would build otherwise (the Python environment, the kernel, its modules, the library), where `cache` and the
launcher look first. Times are whole seconds, as archives keep them, so that what is remembered of files stays true.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from emulation.setup import (
    LIBRARIES,
    LOCK_FILE,
    MODULES,
    ROOT,
    Group,
    bytecode,
    cache,
    distribution,
    environment,
    kernel,
    library,
    modules,
    packages,
    prepare,
    uml,
)
from emulation.setup.errors import SetupError, say

HOME = "usr/lib/dcflab"  # in the package
LEFT_OUT = (".ci", ".gitignore", "tests")
OF_DEBIAN = ("dpkg-deb", "git")
QUICK = ("-Zzstd", "-z9")  # a tenth of what xz takes; dpkg reads it since Debian 12 and Ubuntu 18.04
NO_BUILD = "linux-source-6.12"  # who builds modules of their own does not need it
CONTROL = """Package: dcflab
Version: {version}
Architecture: amd64
Section: net
Priority: optional
Maintainer: dcflab <dcflab@localhost>
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: {recommends}
Suggests: {suggests}
Description: 802.11 labs on the real Linux stack, in virtual time
 Emulated stations on mac80211_hwsim run the real Linux TCP stack; the air is a
 kernel module with an exact model of the DCF. A lab is one unprivileged
 process, and the same for the same seed. Nothing is built or fetched.
"""


def package(folder: Path, checks: bool = False, compression: Sequence[str] = QUICK) -> Path:
    """Build the package in a folder and return its path; with `checks`, the kernel in which modules are checked is in
    it, too. Set-up is done first. `compression` are options of dpkg-deb. Raises SetupError."""
    if lacking := [name for name in OF_DEBIAN if not shutil.which(name)]:
        raise SetupError(f"a package is built by {' and '.join(lacking)}, which {'is' if len(lacking) == 1 else 'are'} "
                         "not on this machine")  # fmt: skip
    configurations = (uml.CONFIGURATION, kernel.DEBUG) if checks else (uml.CONFIGURATION,)
    for configuration in configurations:
        prepare(configuration=configuration)
    environment.obtain(LOCK_FILE)
    version = version_of(ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    with cache.scratch(folder, "package") as staged:
        home = staged / HOME
        copy_checkout(ROOT, home)
        for entry in entries(configurations):
            copy_entry(entry, home / "cache", f"/{HOME}/cache")
        (staged / "usr/bin").mkdir()
        (staged / "usr/bin/dcflab").symlink_to(f"../{HOME.removeprefix('usr/')}/dcflab")
        (staged / "DEBIAN").mkdir()
        (staged / "DEBIAN/control").write_text(control(version, home))
        say(f"packing {sum(1 for _ in staged.rglob('*'))} files")
        built = folder / f"dcflab_{version}_amd64.deb"
        run("dpkg-deb", "--root-owner-group", *compression, "--build", str(staged), str(built))
    return built


def version_of(checkout: Path) -> str:
    """The program's version, and the date and name of its commit. Raises SetupError if this is no checkout."""
    import tomllib

    said = run("git", "-C", str(checkout), "log", "-1", "--date=format:%Y%m%d", "--format=%cd.%h")
    return f"{tomllib.loads((checkout / 'pyproject.toml').read_text())['project']['version']}+{said.strip()}"


def entries(configurations: Sequence[tuple[Path, ...]]) -> Iterator[Path]:
    """What this program has in the cache."""
    yield environment.obtain(LOCK_FILE).parents[1]
    for source in LIBRARIES:
        yield library.obtain(source).parent
    for configuration in configurations:
        built = kernel.obtain(configuration)
        yield built.folder
        for source in MODULES:
            yield from {file.parent for file in modules.obtain(source, built).values()}


def copy_checkout(checkout: Path, home: Path) -> None:
    """What git has of a checkout, as it lies there, with bytecode beside it."""
    for name in run("git", "-C", str(checkout), "ls-files", "-z").split("\0"):
        if name and name.partition("/")[0] not in LEFT_OUT and os.path.lexists(checkout / name):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, home / name, follow_symlinks=False)
    whole_seconds(home)
    bytecode.refresh([home])


def copy_entry(entry: Path, into: Path, there: str) -> None:
    """An entry of the cache, for the folder that is `there` where the package is installed."""
    into.mkdir(exist_ok=True)
    manifest = json.loads((entry / cache.MANIFEST).read_text())
    with cache.scratch(into, "entry") as half:
        folder = half / "copy"
        shutil.copytree(entry, folder, symlinks=True)
        environment.move(folder, entry, Path(there, entry.name))
        whole_seconds(folder)
        cache.place(folder, into / entry.name, [*manifest["files"], *manifest.get("programs", ())])


def whole_seconds(folder: Path) -> None:
    for path, _, names in os.walk(folder):
        for name in names:
            at = int(os.lstat(file := os.path.join(path, name)).st_mtime)
            os.utime(file, (at, at), follow_symlinks=False)


def control(version: str, home: Path) -> str:
    """What dpkg is told. The interpreter is the one to which the environment links."""
    [python] = home.glob("cache/venv-*/bin/python3.*")
    suggested = [name for name in names(Group.BUILD, Group.DEBUG) if name != NO_BUILD]
    size = sum(file.lstat().st_size for file in home.rglob("*") if file.is_file())
    return CONTROL.format(
        version=version, kilobytes=size >> 10, depends=f"{python.name}, libc6",
        recommends=", ".join(names(Group.PROMPT)), suggests=", ".join([*suggested, "wireshark"]),
    )  # fmt: skip


def names(*groups: Group) -> list[str]:
    """The packages that these groups need, as this distribution calls them."""
    found = (distribution.name(need.package) for group in groups for need in packages.NEEDS[group])
    return list(dict.fromkeys(name for name in found if name))


def run(*command: str) -> str:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{command[0]} failed", (done.stdout + done.stderr).splitlines()[-5:])
    return done.stdout
