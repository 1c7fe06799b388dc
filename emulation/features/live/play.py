# SPDX-License-Identifier: BSD-3-Clause
"""The lanes of a live session, one after the other: going back boots a new one."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emulation.features.live.actions import program
from emulation.features.live.session import BackError, Session
from emulation.files import tree
from emulation.lanes import Lane, LaneError, LaneResult, Listener, run
from emulation.lanes.virtual.ownership import take_back
from emulation.lanes.virtual.scratch import scratch
from emulation.net.stepping import LIVE


@dataclass
class Lanes:
    """A lane that runs a session, whatever command it is given. Its runs belong to the session's script."""

    lane: Lane
    session: Session

    def __getattr__(self, name: str) -> Any:
        return getattr(self.lane, name)

    def run(
        self, kernel: Path, modules: Mapping[str, Path], run_folder: Path, command: Sequence[str], *,
        listener: Listener | None = None, **options: Any,
    ) -> LaneResult:  # fmt: skip
        """Run as `emulation.lanes.Lane.run` does; boot another lane each time that the session goes back."""
        asked = replace(listener or Listener(), ask=self.session.answer)
        while True:
            try:
                with scratch("live") as there:
                    live = Path(there, "live.py")
                    live.write_text(program(self.session.specification.model_dump_json()))
                    ended = run(
                        self.lane, kernel, modules, run_folder, ["script", str(live)], listener=asked, **options
                    )
            except BackError:
                with suppress(OSError):
                    tree.remove(str(self.session.trace.parent))
                self.session.take()
                continue
            except BaseException:
                with suppress(OSError, LaneError):
                    take_back(run_folder.resolve())  # so that we can write there
                    if self.session.latest:
                        self.session.keep()
                raise
            self.session.keep()
            return ended


def trace_of(folder: Path, seed: int) -> Path:
    """Return the file of a lane's trace."""
    return folder / f"{LIVE}1-{seed}" / "air.trace"
