# SPDX-License-Identifier: BSD-3-Clause
"""A built kernel as one file, for machines that should not build one: packed on one machine, used by checkouts on many.

The file is `dcflab-KERNEL.tar.xz`. KERNEL is the kernel's entry in the cache, whose name identifies its recipe. A
checkout takes the file for its own recipe: from $DCFLAB_KERNEL, which names the file or its folder, or from the
checkout's folder. The file contains the entries that a machine without a compiler cannot make: the kernel with what
modules are built against, our modules, and the library. All machines that take it run the same kernel.

Such a file is not trusted. Only plain files are taken from it, into the entries that its head announces, and only
entries whose files match their announced digest.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from emulation.setup import cache
from emulation.setup.errors import SetupError, say

if TYPE_CHECKING:
    import tarfile

VARIABLE = "DCFLAB_KERNEL"
CHECKOUT = Path(__file__).resolve().parents[2]
NAMES = re.compile(r"dcflab-(kernel-([0-9a-f]{16})-[0-9a-f]{16})\.tar\.xz")
ENTRY = re.compile(r"(kernel|library|modules)-[\w-]+")
HEAD, VERSION, NOTE = "dcflab.json", 1, "SOURCES.txt"
COMPRESSION: Literal[0, 6] = 6  # of xz
HEAD_LIMIT, LIMIT = 1 << 20, 1 << 28  # bytes of the head; of an entry
SAME_S = 315532800  # 1980: all files have one time, so that one kernel makes one file, and make considers none newer


@dataclass(frozen=True)
class Entry:
    """The head's description of an entry: its key files, and its digest (`cache.tree_digest`)."""

    files: Sequence[str]
    tree: str


def kernel_of(file: Path) -> str:
    """Return the cache entry of the kernel in a file, from the file's name; empty if the name is not ours."""
    named = NAMES.fullmatch(file.name)
    return named[1] if named else ""


def candidates() -> list[Path]:
    """Return the file that $DCFLAB_KERNEL names, or those in the folder that it names; without it, those in the
    checkout."""
    place = Path(own) if (own := os.environ.get(VARIABLE)) else CHECKOUT
    return [place] if place.is_file() else sorted(path for path in place.glob("dcflab-*.tar.xz") if kernel_of(path))


def find_file(recipe: str) -> Path | None:
    """Return the offered file whose kernel was built by this recipe; None if there is none."""
    return next((file for file in candidates() if kernel_of(file).startswith(f"kernel-{recipe}-")), None)


def why_unused(recipe: str) -> str:
    """Return why the offered file is not used; empty if it is used, or none is offered."""
    if find_file(recipe):
        return ""
    own, there = os.environ.get(VARIABLE), candidates()
    if own and not there:
        return f"${VARIABLE}: {own} is neither a prebuilt kernel, as ./dcflab package makes one, nor a folder with one"
    if not there:
        return ""
    if not kernel_of(there[0]):
        return f"{there[0]}: the name of a prebuilt kernel is dcflab-kernel-….tar.xz, as ./dcflab package gave it"
    return f"{there[0]}: its kernel is not the one of this checkout, whose recipe is {recipe}; take one of this version"


def unpack_into_cache(file: Path) -> None:
    """Put the entries of the file that the cache lacks into the cache. Raises SetupError if the file is damaged, or
    does not match its name."""
    with opened(file) as packed:
        announced = head(packed)
        if kernel_of(file) not in announced:
            raise ValueError(f"it has no {kernel_of(file)}")
    if missing := [name for name in announced if not cache.find(name)]:
        say(f"taking kernel and modules from {file}")
        for name in missing:
            cache.obtain(name, partial(unpack, file, name, announced[name]), space=LIMIT)


@contextmanager
def opened(file: Path) -> Iterator[tarfile.TarFile]:
    """Open the file. Raises SetupError if it cannot be read, also during the block."""
    import lzma
    import tarfile

    bad = (
        *(tarfile.TarError, lzma.LZMAError, EOFError, FileExistsError, NotADirectoryError),
        *(ValueError, KeyError, TypeError, AttributeError, RecursionError),
    )
    try:
        with tarfile.open(file, "r|xz") as packed:
            yield packed
    except bad as error:
        raise SetupError(f"{file} is damaged, or not a prebuilt kernel ({error}): download it again") from None
    except OSError as error:
        raise SetupError(f"{error.filename or file}: {error.strerror or error}") from None


def head(packed: tarfile.TarFile) -> dict[str, Entry]:
    """Return the entries that the file announces, in order. Raises as `json` does."""
    first = packed.next()
    content = packed.extractfile(first) if first and first.name == HEAD and first.size <= HEAD_LIMIT else None
    if content is None:
        raise ValueError("its header is missing")
    said = json.loads(content.read())
    if said["version"] != VERSION:
        raise ValueError(f"it is of version {said['version']}, and this dcflab reads {VERSION}")
    found = {name: Entry([str(file) for file in each["files"]], each["tree"]) for name, each in said["entries"].items()}
    if wrong := [name for name in found if not ENTRY.fullmatch(name)]:
        raise ValueError(f"it has an entry {wrong[0]!r}")
    return found


def unpack(file: Path, name: str, entry: Entry, folder: Path) -> Iterable[str]:
    """Fill the folder with an entry's files. Return the key files. Raises SetupError if they are not as announced."""
    with opened(file) as packed:
        left, met = LIMIT, False
        for member in packed:
            first, _, inside = member.name.partition("/")
            if first != name:
                if met:
                    break
                continue
            met, left = True, left - member.size
            if not member.isreg() or not harmless(inside) or left < 0:
                raise ValueError(f"it has {member.name!r}, which is special, outside of its folder, or too large")
            target = folder / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            content = packed.extractfile(member)
            assert content
            with target.open("xb") as written:
                shutil.copyfileobj(content, written)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)
            os.utime(target, (member.mtime, member.mtime))
        if cache.tree_digest(folder) != entry.tree or not all(map(harmless, entry.files)):
            raise ValueError(f"the files of {name} do not match its list")
    return entry.files


def harmless(inside: str) -> bool:
    """Return whether a path stays below its start."""
    return all(part not in ("", ".", "..") for part in inside.split("/")) and "\0" not in inside


def pack(entries: Sequence[Path], folder: Path, note: str) -> Path:
    """Pack entries of the cache, one of them a kernel, into a file in the folder; return its path. Links are omitted:
    building modules needs none. The kernel comes last, so that readers of other entries can stop before it. `note` says
    where the sources are."""
    import tarfile

    kernel = next(entry.name for entry in entries if entry.name.startswith("kernel-"))
    file = folder / f"dcflab-{kernel}.tar.xz"
    with cache.scratch(folder, "package") as staged:
        ordered = sorted(entries, key=lambda entry: (entry.name == kernel, entry.name))
        for entry in ordered:
            shutil.copytree(entry, staged / entry.name, ignore=links_and_manifest)
        announced = {
            entry.name: {"files": key_files(entry), "tree": cache.tree_digest(staged / entry.name)} for entry in ordered
        }
        said = {HEAD: json.dumps({"version": VERSION, "entries": announced}, indent=1), NOTE: note}
        unfinished = staged / file.name
        with tarfile.open(unfinished, "w:xz", preset=COMPRESSION) as packed:
            for name, text in said.items():
                about = tarfile.TarInfo(name)
                about.size = len(content := text.encode())
                packed.addfile(about, BytesIO(content))
            for entry in ordered:
                for path in sorted(path for path in (staged / entry.name).rglob("*") if path.is_file()):
                    packed.add(path, str(path.relative_to(staged)), filter=without_owner)
        unfinished.rename(file)
    return file


def key_files(entry: Path) -> list[str]:
    return list(json.loads((entry / cache.MANIFEST).read_text())["files"])


def links_and_manifest(folder: str, names: list[str]) -> list[str]:
    """Return the names to omit from a folder (for `shutil.copytree`)."""
    return [name for name in names if name == cache.MANIFEST or os.path.islink(os.path.join(folder, name))]


def without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove user and time of the packing machine."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = SAME_S
    return member
