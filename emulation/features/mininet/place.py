# SPDX-License-Identifier: BSD-3-Clause
"""The surroundings of a script: a writable /tmp, because the machine's is read-only in a lane; the run folder, with
links to the files beside the script, and to those of the working directory that it names; and `input`."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from emulation.lane import guest, syscalls

TEMPORARY = Path("/tmp")
MOST = 500  # files beside a script
PATH_ONLY = os.O_PATH | os.O_CLOEXEC


@functools.cache
def move_to_run_folder() -> None:
    """Make the run folder the script's working directory, with links to the files beside the script and to those that
    its arguments name. Without effect outside a lane, and the second time. Raises OSError."""
    if "DCFLAB_RUN" not in os.environ:
        return
    script, folder, here = Path(sys.argv[0]).resolve().parent, Path(os.environ["DCFLAB_RUN"]), Path.cwd()
    words = *sys.argv[1:], *shlex.split(os.environ.get(f"{guest.OPTION}CONTROLLER", ""))
    named = [here / Path(word).parts[0] for word in words if word and not os.path.isabs(word)]
    named += [here / path.partition("/")[0] for path in paths_in(Path(sys.argv[0])) if (here / path).exists()]
    make_writable(script)  # before any program uses it
    guest.at_program_end.enter_context(show(folder, script, [each for each in named if each.exists()]))
    os.chdir(folder)


def paths_in(script: Path) -> list[str]:
    """Return what a script's text has of paths, without the slash that they may begin with."""
    return re.findall(r"[\w.+-]+(?:/[\w.+-]+)+", script.read_text(errors="replace"))


def make_writable(script: Path) -> None:
    """Mount an empty /tmp in memory unless it is writable. Keep the script's folder, and those of the environment below
    /tmp, visible. Raises OSError."""
    if os.access(TEMPORARY, os.W_OK):
        return
    needed = {script, Path.cwd(), Path(sys.prefix), *(Path(entry) for entry in sys.path if entry)}
    below = sorted({each for each in needed if TEMPORARY in each.parents and each.is_dir()})
    held = {each: os.open(each, PATH_ONLY) for each in below if not any(other in each.parents for other in below)}
    syscalls.mount("tmpfs", str(TEMPORARY))
    for each, descriptor in held.items():
        each.mkdir(parents=True, exist_ok=True)
        syscalls.mount("", str(each), f"/proc/self/fd/{descriptor}", syscalls.MS_BIND)
        os.close(descriptor)


def show(folder: Path, script: Path, named: Sequence[Path]) -> contextlib.ExitStack:
    """Link the files beside a script, and those `named`, into a folder; closing the result removes the links. Existing
    names stay. Raises OSError."""
    with contextlib.ExitStack() as links:
        beside = sorted(each for each in script.iterdir() if not each.name.startswith((".", "__")))
        if folder != script and folder not in script.parents:
            for each in (*named, *beside[:MOST]):
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
