# SPDX-License-Identifier: BSD-3-Clause
"""The surroundings of a script: a writable /tmp, because the machine's is read-only in a lane; the run folder, with
links to the files beside the script; and `input`."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from emulation.lane import guest, syscalls

TEMPORARY = Path("/tmp")
MOST = 500  # files beside a script
PATH_ONLY = os.O_PATH | os.O_CLOEXEC


def make_writable(script: Path) -> None:
    """Mount an empty /tmp in memory unless it is writable. Keep the script's folder, and those of the environment below
    /tmp, visible. Raises OSError."""
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


def show_beside(script: Path, folder: Path) -> contextlib.ExitStack:
    """Link the files beside a script into the run folder, its working directory; closing the result removes the links.
    Existing names stay. Raises OSError."""
    with contextlib.ExitStack() as links:
        beside = sorted(each for each in script.iterdir() if not each.name.startswith((".", "__")))
        if folder != script and folder not in script.parents:
            for each in beside[:MOST]:
                link = folder / each.name
                if not os.path.lexists(link) and each not in (folder, *folder.parents):
                    link.symlink_to(each)
                    links.callback(link.unlink, missing_ok=True)
        return links.pop_all()


def answer(prompt: object = "") -> str:
    """Return the answer to a script's `input`: a line from the terminal or standard input."""
    if (line := guest.read_line(str(prompt))) is None:
        raise EOFError
    return line.rstrip("\n")
