# SPDX-License-Identifier: BSD-3-Clause
"""A built kernel as one file, for machines that shall not build one: packed on one machine, taken by checkouts on many.

The file is `dcflab-KERNEL.tar.xz`. KERNEL is the kernel's entry in the cache, whose name says by which recipe it was
built. A checkout takes the file of its own recipe: from $DCFLAB_KERNEL, which is the file or a folder that has it, or
from the checkout's own folder. In it are the entries that a machine without a compiler cannot make: the kernel, with
what modules are built against, our modules, and the library. All who take it run the very same kernel.

Such a file is somebody's. Of it only plain files are taken, into the entries that its head announces, and an entry only
if its files are those that the head announces.
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
HEAD_LIMIT, LIMIT = 1 << 20, 1 << 28  # bytes of the head, and of an entry
SAME_S = 315532800  # 1980: all files are of one moment, so that one kernel makes one file; make takes none for newer


@dataclass(frozen=True)
class Entry:
    """What a head announces of an entry: its key files, and its digest (`cache.tree_digest`)."""

    files: Sequence[str]
    tree: str


def kernel_of(file: Path) -> str:
    """The entry of the cache that has such a file's kernel, as its name says; empty if the name is none of ours."""
    named = NAMES.fullmatch(file.name)
    return named[1] if named else ""


def offers() -> list[Path]:
    """The file that $DCFLAB_KERNEL names, those in the folder that it names, or else those in the checkout."""
    place = Path(own) if (own := os.environ.get(VARIABLE)) else CHECKOUT
    return [place] if place.is_file() else sorted(path for path in place.glob("dcflab-*.tar.xz") if kernel_of(path))


def offered(recipe: str) -> Path | None:
    """The one whose kernel was built by this recipe."""
    return next((file for file in offers() if kernel_of(file).startswith(f"kernel-{recipe}-")), None)


def refusal(recipe: str) -> str:
    """Why what is offered is not taken; empty if it is, or if nothing is offered."""
    if offered(recipe):
        return ""
    own, there = os.environ.get(VARIABLE), offers()
    if own and not there:
        return f"${VARIABLE}: {own} is neither a prebuilt kernel, as ./dcflab package makes one, nor a folder with one"
    if not there:
        return ""
    if not kernel_of(there[0]):
        return f"{there[0]}: the name of a prebuilt kernel is dcflab-kernel-….tar.xz, as ./dcflab package gave it"
    return f"{there[0]}: its kernel is not the one of this checkout, whose recipe is {recipe}; take one of this version"


def take(file: Path) -> None:
    """Put what is in the file into the cache, as far as it is not there. Raises SetupError if the file is damaged, or
    not what its name says."""
    with reading(file) as packed:
        announced = head(packed)
        if kernel_of(file) not in announced:
            raise ValueError(f"it has no {kernel_of(file)}")
    if missing := [name for name in announced if not cache.find(name)]:
        say(f"taking kernel and modules from {file}")
        for name in missing:
            cache.obtain(name, partial(unpack, file, name, announced[name]), space=LIMIT)


@contextmanager
def reading(file: Path) -> Iterator[tarfile.TarFile]:
    """The file, opened. Raises SetupError if it cannot be read, also while it is."""
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
        raise SetupError(f"{file} is damaged, or no prebuilt kernel ({error}): get it again") from None
    except OSError as error:
        raise SetupError(f"{error.filename or file}: {error.strerror or error}") from None


def head(packed: tarfile.TarFile) -> dict[str, Entry]:
    """What the file announces: its entries, in the order in which they come. Raises as `json` does."""
    first = packed.next()
    content = packed.extractfile(first) if first and first.name == HEAD and first.size <= HEAD_LIMIT else None
    if content is None:
        raise ValueError("its head is missing")
    said = json.loads(content.read())
    if said["version"] != VERSION:
        raise ValueError(f"it is of version {said['version']}, and this dcflab reads {VERSION}")
    found = {name: Entry([str(file) for file in each["files"]], each["tree"]) for name, each in said["entries"].items()}
    if wrong := [name for name in found if not ENTRY.fullmatch(name)]:
        raise ValueError(f"it has an entry {wrong[0]!r}")
    return found


def unpack(file: Path, name: str, entry: Entry, folder: Path) -> Iterable[str]:
    """Fill the folder with an entry's files; returns the key files. Raises SetupError if they are not as announced."""
    with reading(file) as packed:
        left, met = LIMIT, False
        for member in packed:
            first, _, inside = member.name.partition("/")
            if first != name:
                if met:
                    break
                continue
            met, left = True, left - member.size
            if not member.isreg() or not harmless(inside) or left < 0:
                raise ValueError(f"it has {member.name!r}, which is no plain file, outside of its folder, or too large")
            target = folder / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            content = packed.extractfile(member)
            assert content
            with target.open("xb") as written:
                shutil.copyfileobj(content, written)
            target.chmod(0o755 if member.mode & 0o100 else 0o644)
            os.utime(target, (member.mtime, member.mtime))
        if cache.tree_digest(folder) != entry.tree or not all(map(harmless, entry.files)):
            raise ValueError(f"the files of {name} are not those that it announces")
    return entry.files


def harmless(inside: str) -> bool:
    """Whether a path leads to a place below where it begins, and nowhere else."""
    return all(part not in ("", ".", "..") for part in inside.split("/")) and "\0" not in inside


def pack(entries: Sequence[Path], folder: Path, note: str) -> Path:
    """Pack entries of the cache, of which one is a kernel, into a file in the folder; returns its path. Their links
    are left out: none serves to build a module. The kernel comes last, as who wants what is before it reads no more.
    `note` says where the sources are."""
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
        half = staged / file.name
        with tarfile.open(half, "w:xz", preset=COMPRESSION) as packed:
            for name, text in said.items():
                about = tarfile.TarInfo(name)
                about.size = len(content := text.encode())
                packed.addfile(about, BytesIO(content))
            for entry in ordered:
                for path in sorted(path for path in (staged / entry.name).rglob("*") if path.is_file()):
                    packed.add(path, str(path.relative_to(staged)), filter=nobodys)
        half.rename(file)
    return file


def key_files(entry: Path) -> list[str]:
    """Those that an entry's manifest names."""
    return list(json.loads((entry / cache.MANIFEST).read_text())["files"])


def links_and_manifest(folder: str, names: list[str]) -> list[str]:
    """What is left out of a folder (`shutil.copytree`)."""
    return [name for name in names if name == cache.MANIFEST or os.path.islink(os.path.join(folder, name))]


def nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what is of the machine that packs, and of the hour."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = SAME_S
    return member
