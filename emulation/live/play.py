# SPDX-License-Identifier: BSD-3-Clause
"""A live session in its lanes: one after the other, until one comes to its end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emulation.lanes import Lane, LaneResult, Listener
from emulation.live.deeds import program
from emulation.live.session import BackError, Session
from emulation.net.played import LIVE
from emulation.play.script import KEPT


@dataclass
class Lanes:
    """A lane in which a session takes place: each time that it goes back, another one boots. When it is over, the
    script of what was done is where its program was, so that what it leaves are the runs of that script."""

    lane: Lane
    session: Session

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lane, name)

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *,
        listener: Listener | None = None, **options: Any,
    ) -> LaneResult:  # fmt: skip
        """As `emulation.lanes.Lane` has it."""
        heard = replace(listener or Listener(), ask=self.session.answer)
        while True:
            try:
                ended = self.lane.run(kernel, modules, run_folder, command, listener=heard, **options)
            except BackError:
                shutil.rmtree(self.session.trace.parent, ignore_errors=True)
                self.session.take()
                (run_folder / KEPT).write_text(program(self.session.asked.model_dump_json()))
                continue
            (run_folder / KEPT).write_text(self.session.script())
            return ended


def trace_of(folder: Path, seed: int) -> Path:
    """Where a lane's trace grows."""
    return folder / f"{LIVE}1-{seed}" / "air.trace"
