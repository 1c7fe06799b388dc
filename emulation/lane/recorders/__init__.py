# SPDX-License-Identifier: BSD-3-Clause
"""Recorders: what a run writes down while it is measured.

Each kind is a file in this package that defines a class `Recorder`: `air_trace` records every frame, `tcp_tap` the TCP
state of each sender. docs/plugins.md shows how to write one.
"""

from __future__ import annotations

import os
import select
from abc import abstractmethod

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from traffic.loop import Loop

READ_SIZE = 1 << 20  # bytes to read at a time


class Recorder:
    """A recorder of one run. `plan` is its entry in the plan's `recorders`. Files go to the network's `folder`."""

    def __init__(self, plan: dict[str, Any], net: Network) -> None:
        self.plan, self.net = plan, net

    def there(self) -> bool:
        """Return whether there is something to record; if not, the recorder is not used."""
        return True

    @abstractmethod
    def start(self, loop: Loop) -> None:
        """Start recording; `loop` reports when data is ready. Raises OSError."""
        raise NotImplementedError

    def stop(self) -> None:
        """Record what is left, and clean up. Raises OSError."""

    def report(self) -> dict[str, Any]:
        """Return the recorder's part of lane.json, after `stop`."""
        return {}


class Relay(Recorder):
    """A recorder that copies a relay channel of the kernel, from debugfs, to a file of the run folder."""

    channel: str
    file: str

    def start(self, loop: Loop) -> None:
        self.source = os.open(self.channel, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.copied = open(f"{self.net.folder}/{self.file}", "wb", buffering=0)  # noqa: SIM115
        while os.read(self.source, READ_SIZE):  # left by an earlier run
            pass
        self.loop = loop
        loop.watch(self.source, select.EPOLLIN, self.copy)

    def copy(self) -> None:
        """Append what the channel holds, and make it visible to the host, which reads along. The channel is readable
        when much data is ready."""
        while data := os.read(self.source, READ_SIZE):
            left = memoryview(data)
            while left:  # an almost full disk may write only a part
                left = left[self.copied.write(left) :]
            os.posix_fadvise(self.copied.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def stop(self) -> None:
        self.loop.forget(self.source)
        try:
            self.copy()
        finally:
            os.close(self.source)
            self.copied.close()


class CountingRelay(Relay):
    """A relay channel of a module that counts, in the file `lost`, the records without room since it was loaded."""

    def start(self, loop: Loop) -> None:
        super().start(loop)
        self.lost_before = self.lost()

    def lost(self) -> int:
        with open(f"{os.path.dirname(self.channel)}/lost") as file:
            return int(file.read())

    def report(self) -> dict[str, Any]:
        return {"lost_records": self.lost() - self.lost_before}


def find(kind: str) -> type[Recorder]:
    """Return the recorder class of this kind. Raises ValueError, naming the kinds that exist, if there is none."""
    found: type[Recorder] = plugins.find(__name__, kind).Recorder
    return found
