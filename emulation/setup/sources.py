# SPDX-License-Identifier: BSD-3-Clause
"""What a packed kernel and its modules were made from, as the GPL asks of who hands them on: Linux's archive, and the
program, which has the patches, the configuration, the modules and how all of it is built."""

from __future__ import annotations

import tarfile
from pathlib import Path

from emulation.setup import ROOT, cache, kernel
from emulation.setup.errors import SetupError
from emulation.setup.package import copy_checkout
from emulation.setup.prebuilt import nobodys

TEXT = """The kernel and the modules in here are free software under the GNU General Public License, version 2.

They were built by dcflab {version} from Linux, {archive}
(SHA-256 {digest}),
with the patches and the configuration in emulation/kernel, and from emulation/dcf80211, emulation/manet,
emulation/tcp_tap and tc_modules. All of it, and what builds it, is in {sources}, which
`./dcflab package` made beside this. Whoever hands this on hands on that file, too, or offers it (section 3).
"""


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


def note(built: str, version: str) -> str:
    """What is said of the sources in what holds a built kernel. Raises SetupError."""
    linux = archive()
    return TEXT.format(version=version, archive=linux.name, digest=cache.digest(linux), sources=name_of(built))


def pack(built: str, version: str, folder: Path) -> Path:
    """Pack Linux's archive and the program into a file in the folder; returns its path. Raises SetupError."""
    linux, file = archive(), folder / name_of(built)
    with cache.scratch(folder, "package") as staged:
        half, home = staged / file.name, staged / "home"
        copy_checkout(ROOT, home)
        with tarfile.open(half, "w") as packed:
            packed.add(linux, linux.name)
            packed.add(home, f"dcflab-{version}", filter=source)
        half.rename(file)
    return file


def source(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Nothing that was made from it."""
    return None if "__pycache__" in member.name else nobodys(member)
