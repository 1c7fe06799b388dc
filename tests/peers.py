# SPDX-License-Identifier: BSD-3-Clause
"""The programs of benchmarks that tests compare: peers in ns-3, and the core alone. They are compiled once."""

from __future__ import annotations

from pathlib import Path

import once
from dcf import INCLUDED

from benchmarks import compare
from emulation.setup.tools import fingerprint

NS3 = Path("/usr/include/ns3")


def peer(name: str = "string", *more: str) -> Path:
    """Return a peer in ns-3. `more` are further libraries of ns-3."""
    sources = sorted(file for file in (compare.HERE / "peers").iterdir() if file.is_file())
    parts = [*more, fingerprint(NS3), *once.programs("g++"), *once.contents(Path(compare.__file__), *sources)]
    entry = once.obtain(f"ns3.{name}", lambda folder: [compare.build_peer(folder, name, *more).name], *parts)
    return next(entry.glob("*-ns3"))


def core(name: str = "core") -> Path:
    """Return the program of the core alone with this name."""
    parts = [*once.programs("gcc"), *once.contents(Path(compare.__file__), compare.HERE / f"{name}.c", *INCLUDED)]
    return once.obtain(f"core.{name}", lambda folder: [compare.build_core(folder, name).name], *parts) / name
