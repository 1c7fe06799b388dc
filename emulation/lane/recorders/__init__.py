# SPDX-License-Identifier: BSD-3-Clause
"""Recorders: what a run writes down while it is measured.

Each kind is a file here that defines a class `Recorder`: `air_trace` keeps every frame, `tcp_tap` what each sender's
TCP does. docs/plugins/recorder.md shows how to write one.
"""

from __future__ import annotations

import os
import select

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from traffic.loop import Loop

MOST = 1 << 20  # bytes to read at once


class Recorder:
    """One recorder of one run; `plan` is its entry in the plan's `recorders`. Files go to the network's `folder`."""

    def __init__(self, plan: dict[str, Any], net: Network) -> None:
        self.plan, self.net = plan, net

    def there(self) -> bool:
        """Whether there is something to record; if not, this one takes no part."""
        return True

    def start(self, loop: Loop) -> None:
        """Record from now on, whenever `loop` says that there is something. Raises OSError."""
        raise NotImplementedError

    def stop(self) -> None:
        """Time is up: record what is left, and give everything back. Raises OSError."""

    def report(self) -> dict[str, Any]:
        """What lane.json shall say, once it has stopped."""
        return {}


class Relay(Recorder):
    """A recorder that copies a relay channel of the kernel, which it finds in debugfs, to a file of the run folder."""

    channel: str
    file: str

    def start(self, loop: Loop) -> None:
        self.source = os.open(self.channel, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.copied = open(f"{self.net.folder}/{self.file}", "wb", buffering=0)  # noqa: SIM115
        while os.read(self.source, MOST):  # what an earlier run has left
            pass
        self.loop = loop
        loop.watch(self.source, select.EPOLLIN, self.copy)

    def copy(self) -> None:
        """Append what there is, and let the host have it at once, which reads along; the channel is readable whenever
        it is much."""
        while data := os.read(self.source, MOST):
            left = memoryview(data)
            while left:  # a disk that is almost full takes a part
                left = left[self.copied.write(left) :]
            os.posix_fadvise(self.copied.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def stop(self) -> None:
        self.loop.forget(self.source)
        try:
            self.copy()
        finally:
            os.close(self.source)
            self.copied.close()


def find(kind: str) -> type[Recorder]:
    """The recorder of this kind. Raises ValueError, with the kinds there are, if there is none."""
    found: type[Recorder] = plugins.find(__name__, kind).Recorder
    return found
