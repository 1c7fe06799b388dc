# SPDX-License-Identifier: BSD-3-Clause
"""The file of a live session's script. It is written when a lane starts, and each action adds to it.

So it is complete however the session ends.
"""

from __future__ import annotations

from pathlib import Path

from emulation import files
from emulation.features.live.actions import Action, lines
from emulation.files.whole import at_once


class ScriptFile:
    """The file, in a folder that a lane can write to. Methods raise OSError."""

    def __init__(self, path: Path, script: str) -> None:
        self.path = path
        self.rewrite(script)

    def rewrite(self, script: str) -> None:
        """Replace the content."""
        with at_once(self.path.parent) as half:
            self.file = files.made(half / self.path.name)
            files.put(self.file, self.path, script.encode())

    def add(self, action: Action) -> None:
        files.put(self.file, self.path, lines(action).encode())
