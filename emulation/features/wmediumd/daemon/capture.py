# SPDX-License-Identifier: BSD-3-Clause
"""-p under our air: its trace, from which a pcapng as for runs is made at the end (docs/traces.md)."""

from __future__ import annotations

import gzip
import os
import select
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.traces import pcapng, trace
from emulation.lane.recorders import READ_SIZE
from emulation.lane.recorders.air_trace import Recorder

if TYPE_CHECKING:
    from traffic.loop import Loop


class Capture:
    """Copies the air's trace from now on; `finish` writes the pcapng of these stations. Raises OSError on failure."""

    def __init__(self, loop: Loop, path: str, stations: Sequence[Mapping[str, Any]]) -> None:
        self.loop, self.path, self.stations = loop, Path(path).resolve(), stations
        self.folder = Path(tempfile.mkdtemp(prefix=f".{self.path.name}.", dir=self.path.parent))
        try:
            self.source = os.open(Recorder.channel, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            shutil.rmtree(self.folder)
            raise OSError(error.errno, f"-p: {Recorder.channel}: {error.strerror}; mount debugfs") from None
        self.copied = open(self.folder / Recorder.file, "wb", buffering=0)  # noqa: SIM115
        loop.watch(self.source, select.EPOLLIN, self._copy)

    def _copy(self) -> None:
        while data := os.read(self.source, READ_SIZE):
            self.copied.write(data)

    def finish(self) -> None:
        """Write the file after the air has stopped. Raises OSError or ValueError if that fails."""
        self.loop.forget(self.source)
        try:
            self._copy()
            self.copied.close()
            pcapng.write(trace.read(self.folder / Recorder.file), self.stations, self.folder)
            with gzip.open(self.folder / pcapng.AIR) as packed, open(self.path, "wb") as plain:
                shutil.copyfileobj(packed, plain)
        finally:
            os.close(self.source)
            self.copied.close()
            shutil.rmtree(self.folder)
