# SPDX-License-Identifier: BSD-3-Clause
"""The core needs nothing from outside: no memory, no clock, no file."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dcf import SOURCE

MAY = {"memcmp", "memcpy", "memmove", "memset"}


def test_the_core_needs_nothing_but_to_copy_memory(tmp_path: Path) -> None:
    files = sorted(str(file) for folder in ("core", "wire") for file in (SOURCE / folder).glob("*.c"))
    whole = str(tmp_path / "core.o")
    options = ["-std=gnu11", "-O2", "-fno-stack-protector", "-nostdlib", "-r"]
    subprocess.run(["gcc", *options, "-o", whole, *files], check=True)
    listed = subprocess.run(["nm", "--undefined-only", whole], check=True, capture_output=True, text=True).stdout
    assert {line.split()[-1] for line in listed.splitlines()} <= MAY
