# SPDX-License-Identifier: BSD-3-Clause
"""What compilers and checkers make of sources, kept in the cache under a hash of all that goes in, as ccache and mypy
do: a test compiles or checks only what changed since it passed. A failure is not kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from emulation.setup import cache, modules, tools

ROOT = Path(__file__).resolve().parents[1]
SPACE = 64 << 20  # bytes


def obtain(what: str, build: Callable[[Path], Iterable[str]], *parts: bytes | str) -> Path:
    """Return the folder that `build` filled from these parts, now or before. It returns the names of its files."""
    return cache.obtain(f"tests.{what}-{cache.key(*parts)}", build, space=SPACE)


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
