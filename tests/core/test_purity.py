# SPDX-License-Identifier: BSD-3-Clause
"""The core needs nothing from outside: no memory, no clock, no file."""

from __future__ import annotations

import subprocess

from dcf import CORE, INCLUDED
from user_space import kept

MAY = {"memcmp", "memcpy", "memmove", "memset"}


def test_the_core_needs_nothing_but_to_copy_memory() -> None:
    whole = kept("core.o", ["-std=gnu11", "-O2", "-fno-stack-protector", "-nostdlib", "-r"], CORE, INCLUDED)
    listed = subprocess.run(["nm", "--undefined-only", whole], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in listed.splitlines()} <= MAY
