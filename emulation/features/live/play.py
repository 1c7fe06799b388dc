# SPDX-License-Identifier: BSD-3-Clause
"""A live session in its lanes: one after the other, until one comes to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emulation.features.live.actions import program
from emulation.features.live.session import BackError, Session
from emulation.files import tree
from emulation.lanes import Lane, LaneError, LaneResult, Listener
from emulation.lanes.virtual.ownership import take_back
from emulation.lanes.virtual.scratch import scratch
from emulation.net.stepping import LIVE


@dataclass
class Lanes:
    """A lane in which a session takes place, whatever it is told to run: each time that the session goes back, another
    one boots. What it leaves are runs of the script that the session keeps."""

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
                with scratch("live") as there:
                    live = Path(there, "live.py")
                    live.write_text(program(self.session.specification.model_dump_json()))
                    ended = self.lane.run(kernel, modules, run_folder, ["script", str(live)], listener=heard, **options)
            except BackError:
                with suppress(OSError):
                    tree.remove(str(self.session.trace.parent))
                self.session.take()
                continue
            except BaseException:
                with suppress(OSError, LaneError):
                    take_back(run_folder.resolve())  # else nothing is written there
                    if self.session.latest:
                        self.session.keep()
                raise
            self.session.keep()
            return ended


def trace_of(folder: Path, seed: int) -> Path:
    """Where a lane's trace grows."""
    return folder / f"{LIVE}1-{seed}" / "air.trace"
