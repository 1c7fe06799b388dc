# SPDX-License-Identifier: BSD-3-Clause
"""Flows: who sends what to whom, and what arrived.

A flow is a TCP connection between two stations, of one of two kinds. `bulk` is our own sender: all bulk flows live in
one event loop in one process and cost next to nothing, so they are what studies use. `iperf3` is the program everybody
knows, a process at each end. `Traffic` runs the flows of a plan side by side and says what each achieved.
"""

from __future__ import annotations

import heapq
import select
import time

from emulation.lane import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol, Self

    from emulation.lane.node import Station

    class Flow(Protocol):
        """A flow's life: `prepare` its receiving end, `start` at its time, `finish` when time is up, `close`."""

        def prepare(self) -> None: ...
        def start(self) -> None: ...
        def finish(self) -> dict[str, Any]: ...
        def close(self) -> None: ...


class Loop:
    """One thread's events: file descriptors that are ready, and times that have come."""

    def __init__(self) -> None:
        self.epoll = select.epoll()
        self.callbacks: dict[int, Callable[[], None]] = {}
        self.times: list[tuple[int, int, Callable[[], None]]] = []
        self.count = 0
        self.timer = syscalls.timer()
        self.epoll.register(self.timer, select.EPOLLIN)

    def close(self) -> None:
        import os

        os.close(self.timer)
        self.epoll.close()

    def watch(self, descriptor: int, events: int, callback: Callable[[], None]) -> None:
        """Call back whenever one of these epoll events holds; replaces an earlier watch."""
        if descriptor in self.callbacks:
            self.epoll.modify(descriptor, events)
        else:
            self.epoll.register(descriptor, events)
        self.callbacks[descriptor] = callback

    def forget(self, descriptor: int) -> None:
        if self.callbacks.pop(descriptor, None):
            self.epoll.unregister(descriptor)

    def at(self, when_ns: int, callback: Callable[[], None]) -> None:
        """Call back once, at this time of CLOCK_MONOTONIC."""
        self.count += 1
        heapq.heappush(self.times, (when_ns, self.count, callback))

    def run(self, until_ns: int) -> None:
        """Serve events until this time of CLOCK_MONOTONIC."""
        ended: list[bool] = []
        self.at(until_ns, lambda: ended.append(True))
        while not ended:
            syscalls.set_timer(self.timer, self.times[0][0])
            for descriptor, _ in self.epoll.poll():
                if descriptor in self.callbacks:
                    self.callbacks[descriptor]()
            now = time.monotonic_ns()
            while not ended and self.times[0][0] <= now:
                heapq.heappop(self.times)[2]()


class Traffic:
    """The flows of a plan (docs/interfaces.md, section 1)."""

    def __init__(self, flows: list[dict[str, Any]], stations: Mapping[str, Station], folder: str) -> None:
        self.loop = Loop()
        self.flows: list[tuple[dict[str, Any], Flow]] = []
        for flow in flows:
            source, destination = stations[flow["source"]], stations[flow["destination"]]
            self.flows.append((flow, new_flow(flow, source, destination, self.loop, folder)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for _, flow in self.flows:
            flow.close()
        self.loop.close()

    def prepare(self) -> None:
        """Let all receivers listen."""
        for _, flow in self.flows:
            flow.prepare()

    def run(self, seconds: float, progress: Callable[[float, float], None]) -> None:
        """Run all flows for so long from now; `progress` gets the fraction and the seconds done, 100 times."""
        began = time.monotonic_ns()
        for plan, flow in self.flows:
            self.loop.at(began + int(plan["start_s"] * 1e9), flow.start)

        def step(percent: int) -> None:
            progress(percent / 100, seconds * percent / 100)
            if percent < 99:
                self.loop.at(began + int(seconds * 1e7) * (percent + 1), lambda: step(percent + 1))

        step(0)
        self.loop.run(began + int(seconds * 1e9))

    def finish(self) -> list[dict[str, Any]]:
        """What each flow achieved so far, as lane.json has it; to be called as soon as `run` returns."""
        return [{"name": plan["name"], **flow.finish()} for plan, flow in self.flows]


def new_flow(plan: dict[str, Any], source: Station, destination: Station, loop: Loop, folder: str) -> Flow:
    if plan["kind"] == "iperf3":
        from traffic.iperf import Iperf3

        return Iperf3(plan, source, destination, folder)
    from traffic.bulk import Bulk

    return Bulk(plan, source, destination, loop)
