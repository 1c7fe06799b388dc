# SPDX-License-Identifier: BSD-3-Clause
"""What compilers and checkers make of sources, kept in the cache under a hash of all that goes in, as ccache and mypy
do: a test compiles or checks only what changed since it passed. A failure is not kept. The least recently used ones are
removed, as results of runs are."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from emulation.setup import cache, modules, tools

ROOT = Path(__file__).resolve().parents[1]
SPACE, MOST_BYTES = 64 << 20, 256 << 20  # of one, and of all


def obtain(what: str, build: Callable[[Path], Iterable[str]], *parts: bytes | str) -> Path:
    """Return the folder that `build` filled from these parts, now or before. It returns the names of its files."""
    name = f"tests.{what}-{cache.key(*parts)}"
    if not (found := cache.find(name)):
        prune(MOST_BYTES)
        found = cache.obtain(name, build, space=SPACE)
    with contextlib.suppress(OSError):  # of another user
        os.utime(found, ns=(time.time_ns(),) * 2)
    return found


def prune(most_bytes: int) -> None:
    """Remove the least recently used until `most_bytes` are left."""
    there = []
    for entry in cache.roots()[-1].glob("tests.*"):
        with contextlib.suppress(OSError):  # another process removes it
            size = sum(file.lstat().st_size for file in entry.rglob("*"))
            there.append((entry.stat().st_mtime_ns, size, entry))
    left = sum(size for _, size, _ in there)
    for _, size, entry in sorted(there):
        if left <= most_bytes:
            break
        shutil.rmtree(entry, ignore_errors=True)
        left -= size


def check(what: str, passes: Callable[[], None], *parts: bytes | str) -> None:
    """Make a check, unless it passed before with the same parts."""

    def build(_: Path) -> list[str]:
        passes()
        return []

    obtain(what, build, *parts)


def contents(*places: Path) -> list[bytes | str]:
    """Return the names in the checkout and the contents of files, and of sources of C in folders."""
    files = [file for place in places for file in (modules.sources(place) if place.is_dir() else [place])]
    return [part for file in files for part in (str(file.relative_to(ROOT)), file.read_bytes())]


def programs(*names: str) -> list[str]:
    """Return what distinguishes programs from other versions of them."""
    return [tools.fingerprint(Path(path)) for name in names if (path := shutil.which(name))]
