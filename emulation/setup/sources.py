# SPDX-License-Identifier: BSD-3-Clause
"""What packages contain: entries of the cache, the program as git has it, and the sources of kernel and modules. The
GPL requires those of anyone who distributes them: Linux's archive, and the program, which has the patches and builds
it."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from emulation.setup import LIBRARY, MODULES, ROOT, bytecode, cache, kernel, library, modules
from emulation.setup.errors import SetupError
from emulation.setup.prebuilt import without_owner

LEFT_OUT = (".ci/", ".gitignore", "tests/", "labs/instructor.md")  # the last has the labs' answers
TEXT = """The kernel and the modules in here are free software under the GNU General Public License, version 2.

They were built by dcflab {version} from Linux, {archive}
(SHA-256 {digest}),
with the patches and the configuration in emulation/kernel, and from emulation/dcf80211, emulation/manet,
emulation/tcp_tap and tc_modules. All of it, and what builds it, is in {sources}, which
`./dcflab package` made beside this. Whoever hands this on hands on that file, too, or offers it (section 3).
"""


@dataclass(frozen=True)
class Contents:
    """The contents of a package: the program's version, the cache entries of its kernels, the lab's first, and what
    belongs to them. A package is made where its kernel was built, so its sources are those on the machine."""

    version: str
    kernels: Sequence[kernel.Kernel]

    @property
    def built(self) -> str:
        """The cache entry of the lab's kernel."""
        return self.kernels[0].folder.name

    def entries(self, *kernels: kernel.Kernel) -> Iterator[Path]:
        """Yield kernels (by default all), their modules, and the library."""
        yield library.obtain(LIBRARY).parent
        for each in kernels or self.kernels:
            yield each.folder
            for source in MODULES:
                yield from {file.parent for file in modules.obtain(source, each).values()}


def name_of(built: str) -> str:
    """Return the name of the file with a kernel's sources, from its entry in the cache."""
    return f"dcflab-{built}-sources.tar"


def archive() -> Path:
    """Return Linux's archive. Raises SetupError if it is missing, or is a folder, which may contain anything."""
    found = kernel.archive()
    if found is None or not found.is_file():
        raise SetupError("a package with a built kernel must contain its source, and Linux's archive is not on this "
                         "machine; install linux-source-6.12, or set $DCFLAB_LINUX_SOURCE to the archive")  # fmt: skip
    return found


def note(contents: Contents) -> str:
    """Return the note on sources that accompanies a built kernel. Raises SetupError if that fails."""
    linux = archive()
    return TEXT.format(
        version=contents.version, archive=linux.name, digest=cache.digest(linux), sources=name_of(contents.built)
    )


def pack(contents: Contents, folder: Path) -> Path:
    """Pack Linux's archive and the program into a file in the folder; return its path. Raises SetupError on failure."""
    linux, file = archive(), folder / name_of(contents.built)
    with cache.scratch(folder, "package") as staged:
        unfinished, home = staged / file.name, staged / "home"
        copy_checkout(ROOT, home)
        with tarfile.open(unfinished, "w") as packed:
            packed.add(linux, linux.name)
            packed.add(home, f"dcflab-{contents.version}", filter=source)
        unfinished.rename(file)
    return file


def source(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out compiled files."""
    return None if "__pycache__" in member.name else without_owner(member)


def files_of(checkout: Path) -> list[str]:
    """Return the existing files that git has of a checkout, except LEFT_OUT. Raises SetupError if that fails."""
    names = run("git", "-C", str(checkout), "ls-files", "-z").split("\0")
    return [name for name in names if name and not name.startswith(LEFT_OUT) and os.path.lexists(checkout / name)]


def copy_checkout(checkout: Path, home: Path) -> None:
    """Copy a checkout's files as they are on disk, and add bytecode."""
    for name in files_of(checkout):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(checkout / name, home / name, follow_symlinks=False)
    whole_seconds(home)
    bytecode.refresh([home])


def whole_seconds(folder: Path) -> None:
    """Truncate the files' times to whole seconds, as archives store them, so that manifests stay valid."""
    for path, _, names in os.walk(folder):
        for name in names:
            at = int(os.lstat(file := os.path.join(path, name)).st_mtime)
            os.utime(file, (at, at), follow_symlinks=False)


def run(*command: str) -> str:
    """Run a command and return its output. Raises SetupError with its last lines if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"{command[0]} failed", (done.stdout + done.stderr).splitlines()[-5:])
    return done.stdout
