# SPDX-License-Identifier: BSD-3-Clause
"""A /tmp that can be written to: scripts and the programs that they start expect one, and in a lane it is the
machine's, and read-only. What of the run lies below it stays where it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from emulation.lane import syscalls

TEMPORARY = Path("/tmp")
PATH_ONLY = os.O_PATH | os.O_CLOEXEC


def make_writable(script: Path) -> None:
    """Cover /tmp with an empty one in memory, unless it can be written to; show in it the script's folder and those of
    the environment that lie below it. Raises OSError."""
    if os.access(TEMPORARY, os.W_OK):
        return
    needed = {script, Path(sys.prefix), *(Path(entry) for entry in sys.path if entry)}
    below = sorted({each for each in needed if TEMPORARY in each.parents and each.is_dir()})
    held = {each: os.open(each, PATH_ONLY) for each in below if not any(other in each.parents for other in below)}
    syscalls.mount("tmpfs", str(TEMPORARY))
    for each, descriptor in held.items():
        each.mkdir(parents=True, exist_ok=True)
        syscalls.mount("", str(each), f"/proc/self/fd/{descriptor}", syscalls.MS_BIND)
        os.close(descriptor)
