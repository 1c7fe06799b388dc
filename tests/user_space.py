# SPDX-License-Identifier: BSD-3-Clause
"""Compiling kernel code as a shared library, which tests drive in user space."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable

SANITIZE = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")  # -O1 takes two thirds of -O2's time


def compile_library(variable: str, arguments: Iterable[str], text: str | None = None) -> None:
    """Run gcc, with `text` as its standard input; with this variable set, for the address and undefined-behaviour
    sanitizers. These are preloaded then, but not into gcc, which would take twice the time."""
    sanitize = SANITIZE if os.environ.get(variable) else ()
    command = ["gcc", "-std=gnu11", "-O2", "-g", *sanitize, "-Wall", "-Werror", "-shared", "-fPIC", *arguments]
    subprocess.run(command, input=text, text=True, env={**os.environ, "LD_PRELOAD": ""}, check=True)
