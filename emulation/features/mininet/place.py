# SPDX-License-Identifier: BSD-3-Clause
"""Where a script stands: a /tmp that can be written to, as scripts and the programs that they start expect one, and in
a lane it is the machine's, and read-only; the run folder, with what lies beside the script; and who answers `input`."""

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


def show_beside(script: Path, folder: Path) -> contextlib.ExitStack:
    """Let what lies beside a script be found in the run folder, too, where the script stands: as links, which are gone
    when what is returned is closed. A name that is there is left alone. Raises OSError."""
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
    """What a script's `input` gets: a line of the terminal, or of standard input."""
    if (line := guest.read_line(str(prompt))) is None:
        raise EOFError
    return line.rstrip("\n")
