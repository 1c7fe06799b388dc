# SPDX-License-Identifier: BSD-3-Clause
"""A measurement: what happens in a network between two moments, from recorders and the air's counters.

A run is a measurement in which the plan's applications run. A session at the prompt is one, too.
"""

from __future__ import annotations

import contextlib
import os
import select
import time

from emulation.lane import clock, recorders
from emulation.lane.clock import wait_for_multiple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Self

    from emulation.lane.network import Network
    from traffic.loop import Loop

LOOP_NS = 3_600_000_000_000  # per call; the value does not matter
REQUEST_FILE = "asked.json"  # written for a script's run: its `name` and `specification`


class Measurement:
    """A context in which recorders write; the measurement itself lasts from `start` to `stop`."""

    def __init__(self, net: Network, loop: Loop) -> None:
        self.net, self.loop = net, loop
        made = [recorders.find(each["kind"])(each, net) for each in net.plan["recorders"]]
        self.recorders = [recorder for recorder in made if recorder.there()]
        self.open: list[recorders.Recorder] = []
        self.started_ns = self.stopped_ns = 0
        self.stolen_s = 0.0

    def __enter__(self) -> Self:
        try:
            for recorder in self.recorders:
                recorder.start(self.loop)
                self.open.append(recorder)
            for link in self.net.links.values():
                link.watch(self.loop)
            for node in self.net.nodes.values():
                for daemon in node.daemons:
                    daemon.watch(self.loop)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.net.nodes.values():
            for daemon in node.daemons:
                daemon.unwatch(self.loop)
        for link in self.net.links.values():
            link.unwatch()
        while self.open:
            self.open.pop().stop()

    def start(self) -> None:
        """Start at the next multiple of 0.1 s."""
        wait_for_multiple()
        self.stolen_s = -clock.stolen_s()
        self.started_ns = self.net.air.start() if self.net.air else time.monotonic_ns()

    def stop(self) -> None:
        self.stopped_ns = self.net.air.stop() if self.net.air else time.monotonic_ns()
        self.stolen_s += clock.stolen_s()

    def result(self, applications: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the content of lane.json (docs/interfaces.md, section 2). Call it after the end of the block."""
        net = self.net
        settings = [*net.settings, *(setting for node in net.nodes.values() for setting in node.settings)]
        return {
            "air_s": (self.stopped_ns - self.started_ns) / 1e9,
            "started_ns": self.started_ns,
            "stopped_ns": self.stopped_ns,
            "steal_s": self.stolen_s,
            "settings": [setting for setting in settings if setting["value"] != setting["default"]],
            "applications": list(applications),
            "recorders": {recorder.plan["kind"]: recorder.report() for recorder in self.recorders},
            "air": net.air.report() if net.air else None,
            "moves": net.motion.report(self.started_ns),
            "changes": net.motion.changes,
        }


class Service:
    """A context that serves a loop in a thread.

    Recorders need it while the program that started them does something else. `with service.paused():` pauses it.
    """

    def __init__(self, loop: Loop) -> None:
        self.loop, self.end = loop, os.eventfd(0, os.EFD_CLOEXEC)
        self.error: OSError | None = None

    def __enter__(self) -> Self:
        self.loop.watch(self.end, select.EPOLLIN, self._end_thread)
        self._resume()
        return self

    def __exit__(self, *_: object) -> None:
        self._pause()
        self.loop.forget(self.end)
        os.close(self.end)
        if self.error:
            raise self.error

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def _resume(self) -> None:
        import threading

        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _pause(self) -> None:
        os.eventfd_write(self.end, 1)
        self.thread.join()

    def _end_thread(self) -> None:
        os.eventfd_read(self.end)
        raise _EndOfThreadError

    def _serve(self) -> None:
        try:
            while True:
                self.loop.run(time.monotonic_ns() + LOOP_NS)
        except _EndOfThreadError:
            pass
        except OSError as error:  # no room for a trace, for example
            self.error = error


class _EndOfThreadError(Exception):
    """Ends the thread."""
