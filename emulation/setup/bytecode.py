# SPDX-License-Identifier: BSD-3-Clause
"""Bytecode of the checkout. A lane's root file system is read-only, so programs in it cannot write their own."""

import contextlib
import importlib.util
import os
import py_compile
import struct
from collections.abc import Iterable
from pathlib import Path

from emulation.lanes import INSIDE

WORD = 0xFFFFFFFF


def refresh(folders: Iterable[Path] = INSIDE) -> None:
    """Compile what changed. Leave other users' checkouts alone: they work, only slower."""
    for folder in folders:
        for path, _, names in os.walk(folder):
            if not os.access(path, os.W_OK):
                continue
            for name in names:
                if name.endswith(".py") and stale(file := os.path.join(path, name)):
                    with contextlib.suppress(OSError):
                        py_compile.compile(file, quiet=2)


def stale(source: str) -> bool:
    """Return whether a source's bytecode is missing, or for another version of it (PEP 552: time and size)."""
    stat = os.stat(source)
    expected = importlib.util.MAGIC_NUMBER + struct.pack("<3I", 0, int(stat.st_mtime) & WORD, stat.st_size & WORD)
    try:
        with open(importlib.util.cache_from_source(source), "rb") as cached:
            return cached.read(16) != expected
    except OSError:
        return True
