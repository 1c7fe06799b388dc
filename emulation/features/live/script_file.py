# SPDX-License-Identifier: BSD-3-Clause
"""The script of what was done in a live session, in its file: whole as a lane begins, and a deed longer with each that
is done. So it is there, and can be run, whatever ends the session, and whenever."""

from __future__ import annotations

from pathlib import Path

from emulation import files
from emulation.features.live.actions import Action, lines
from emulation.files.whole import at_once


class ScriptFile:
    """Such a file, in a folder that a lane can write to."""

    def __init__(self, path: Path, script: str) -> None:
        """Raises OSError, as the others do."""
        self.path = path
        self.rewrite(script)

    def rewrite(self, script: str) -> None:
        """Have this in it, in place of what was."""
        with at_once(self.path.parent) as half:
            self.file = files.made(half / self.path.name)
            files.put(self.file, self.path, script.encode())

    def add(self, action: Action) -> None:
        files.put(self.file, self.path, lines(action).encode())
