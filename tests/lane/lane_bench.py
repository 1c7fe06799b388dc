# SPDX-License-Identifier: BSD-3-Clause
"""A run folder, and virtual lanes that run in it: some Python each, and its output."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from emulation.lane.guest import AIR_MODULE
from emulation.lanes import virtual
from emulation.lanes.virtual import LaneResult, Listener
from emulation.plan import plan
from emulation.setup import Prepared
from emulation.specification import specify

WALL_LIMIT_S = 120.0


class Bench:
    """A run folder, and lanes that run in it."""

    def __init__(self, prepared: Prepared, folder: Path) -> None:
        self.prepared, self.folder = prepared, folder
        self.lines: list[str] = []
        self.answers: Iterator[str] = iter(())
        self.words: dict[str, Any] = {}
        self.at: dict[str, Callable[[], None]] = {}  # what to do when a line is printed

    def heard(self, line: str) -> None:
        self.lines.append(line)
        self.at.get(line, lambda: None)()

    def run(self, *command: str, air: bool = True, **options: Any) -> LaneResult:
        """Run a lane's command; `lines` then has its output. Without `air`, all radios receive each other."""
        self.lines.clear()
        listener = Listener(self.heard, ask=lambda prompt: next(self.answers, None), words=self.words.update)
        modules = {name: path for name, path in self.prepared.modules.items() if air or name != AIR_MODULE}
        kernel = self.prepared.kernel.linux
        limited = {"wall_limit_s": WALL_LIMIT_S, **options}
        return virtual.run(kernel, modules, self.folder, command, listener=listener, **limited)

    def script(self, text: str, **options: Any) -> list[str]:
        """Run lines of Python and return their output."""
        (self.folder / "script.py").write_text(textwrap.dedent(text))
        assert self.run("script", str(self.folder / "script.py"), **options).status == 0
        return self.lines

    def prompt(self, text: str, **options: Any) -> LaneResult:
        """Run them with a prompt, at which `answers` are typed."""
        (self.folder / "script.py").write_text(textwrap.dedent(text))
        return self.run("shell", str(self.folder / "script.py"), **options)

    def plan(self, topology: str = "string", **options: Any) -> dict[str, Any]:
        """Write a plan to the run folder, and return it."""
        made = plan(specify(topology, options))
        (self.folder / "plan.json").write_text(json.dumps(made))
        return made

    def result(self) -> Any:
        """Return the content of lane.json."""
        return json.loads((self.folder / "lane.json").read_text())
