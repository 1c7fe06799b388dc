# SPDX-License-Identifier: BSD-3-Clause
"""What is packed: the entries of the cache, the program as git has it, and what a kernel and its modules were made
from, as the GPL asks of who hands them on: Linux's archive, and the program, which has the patches and builds it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulation.setup import LIBRARIES, MODULES, ROOT, bytecode, cache, kernel, library, modules
from emulation.setup.errors import SetupError
from emulation.setup.prebuilt import nobodys

LEFT_OUT = (".ci", ".gitignore", "tests")
TEXT = """The kernel and the modules in here are free software under the GNU General Public License, version 2.

They were built by dcflab {version} from Linux, {archive}
(SHA-256 {digest}),
with the patches and the configuration in emulation/kernel, and from emulation/dcf80211, emulation/manet,
emulation/tcp_tap and tc_modules. All of it, and what builds it, is in {sources}, which
`./dcflab package` made beside this. Whoever hands this on hands on that file, too, or offers it (section 3).
"""


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


def name_of(built: str) -> str:
    """The file with the sources of a kernel, by its entry in the cache."""
    return f"dcflab-{built}-sources.tar"


def archive() -> Path:
    """Linux's archive. Raises SetupError if it is not here, or is a folder, in which anything may lie."""
    found = kernel.archive()
    if found is None or not found.is_file():
        raise SetupError("who hands on a built kernel hands on its source, and Linux's archive is not on this machine; "
                         "install linux-source-6.12, or name the archive in $DCFLAB_LINUX_SOURCE")  # fmt: skip
    return found


def note(contents: Contents) -> str:
    """What is said of the sources in what holds a built kernel. Raises SetupError."""
    linux = archive()
    return TEXT.format(
        version=contents.version, archive=linux.name, digest=cache.digest(linux), sources=name_of(contents.built)
    )


def pack(contents: Contents, folder: Path) -> Path:
    """Pack Linux's archive and the program into a file in the folder; returns its path. Raises SetupError."""
    linux, file = archive(), folder / name_of(contents.built)
    with cache.scratch(folder, "package") as staged:
        half, home = staged / file.name, staged / "home"
        copy_checkout(ROOT, home)
        with tarfile.open(half, "w") as packed:
            packed.add(linux, linux.name)
            packed.add(home, f"dcflab-{contents.version}", filter=source)
        half.rename(file)
    return file


def source(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Nothing that was made from it."""
    return None if "__pycache__" in member.name else nobodys(member)


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
