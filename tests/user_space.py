# SPDX-License-Identifier: BSD-3-Clause
"""Compiling kernel code for user space, where tests drive it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import once
from once import ROOT

SANITIZE = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")  # -O1 takes two thirds of -O2's time
DEPENDENCIES = "-MM"  # except the system's headers


def compile_library(variable: str, arguments: Iterable[str], text: str | None = None) -> None:
    """Compile a shared library, with `text` as the standard input."""
    gcc([*library(variable), *arguments], text)


def library(variable: str) -> list[str]:
    """Return the arguments of gcc that make a shared library; with this variable set, for the address and
    undefined-behaviour sanitizers."""
    sanitize = SANITIZE if os.environ.get(variable) else ()
    return ["-std=gnu11", "-O2", "-g", *sanitize, "-Wall", "-Werror", "-shared", "-fPIC"]


def gcc(arguments: Iterable[str], text: str | None = None) -> str:
    """Run gcc in the checkout and return what it prints. The sanitizers are not preloaded into it, which would take
    twice the time."""
    environment = {**os.environ, "LD_PRELOAD": ""}
    ran = subprocess.run(
        ["gcc", *arguments], input=text, text=True, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True
    )
    return ran.stdout


def kept(
    name: str, arguments: Sequence[str], files: Iterable[Path], folders: Iterable[Path], empty: Iterable[str] = ()
) -> Path:
    """Compile files, unless that is in the cache; return the path of the result. What they include, except the system's
    headers, is in `folders`, or `empty` instead of the kernel's."""
    sources = [str(file.relative_to(ROOT)) for file in files]

    def build(folder: Path) -> list[str]:
        for header in empty:
            (folder / header).parent.mkdir(exist_ok=True)
            (folder / header).touch()
        command = [*arguments, f"-I{folder}"]
        read = [file for file in gcc([*command, DEPENDENCIES, *sources]).split() if file.endswith(("c", "h"))]
        hashed = (folder, *folders)
        outside = [file for file in read if not any((ROOT / file).resolve().is_relative_to(one) for one in hashed)]
        assert not outside, f"{name} is kept by a hash without {outside}"
        gcc([*command, "-o", str(folder / name), *sources])
        return [name]

    parts = [*arguments, *sources, *once.contents(*folders), *empty, *once.programs("gcc"), Path(__file__).read_bytes()]
    return once.obtain(name, build, *parts) / name
