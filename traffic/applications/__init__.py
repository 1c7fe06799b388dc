# SPDX-License-Identifier: BSD-3-Clause
"""Applications: what runs between two hosts, and is measured.

Each kind is a file here that defines a class `Application`: `bulk` is our own sender, costs next to nothing, and is
what studies use; `iperf3` is the program everybody knows. docs/plugins/application.md shows how to write one.
`Applications` runs those of a plan side by side in one loop.
"""

from __future__ import annotations

import time

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar, Self

    from traffic.host import Host
    from traffic.loop import Loop

TOLD_S = 5  # of the lane's time: how often progress is told at most, as it wakes three processes

# What lane.json says of an application that does not say it itself; the words are those of flows.
UNSAID: dict[str, Any] = {
    "congestion": "", "delivered_bytes": 0, "acked_bytes": 0, "retransmits": 0,
    "tcp_info": {"sender": {}, "receiver": {}}, "finished_s": None,
}  # fmt: skip


class Application:
    """One application's life: `prepare` before any starts, `start` at its time, `finish` when time is up, `close`.

    `plan` is its entry in the plan's `applications` (docs/interfaces.md, section 1), and `seconds`, for how long it may
    run. Whatever it waits for it waits for in `loop`; files go to `folder`.
    """

    programs: tuple[str, ...] = ()  # that must be there, on the search path
    settings: ClassVar[dict[str, Any]] = {}  # what its plan has besides what those of flows have, with defaults

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str) -> None:
        self.plan, self.source, self.destination, self.loop, self.folder = plan, source, destination, loop, folder

    def prepare(self) -> None:
        """Make the receiving end ready. Raises OSError."""

    def start(self) -> None:
        """Begin to send. Raises OSError."""
        raise NotImplementedError

    def finish(self) -> dict[str, Any]:
        """What was achieved so far, for lane.json (docs/interfaces.md, section 2); it may say more, or less."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave nothing behind, however far it came."""


def find(kind: str) -> type[Application]:
    """The application of this kind. Raises ValueError, with the kinds there are, if there is none."""
    found: type[Application] = plugins.find(__name__, kind).Application
    return found


class Applications:
    """The applications of a plan, side by side for so many seconds. Raises ValueError for an unknown kind."""

    def __init__(
        self, plans: Sequence[dict[str, Any]], hosts: Mapping[str, Host], loop: Loop, folder: str, seconds: float
    ) -> None:
        self.loop, self.seconds = loop, seconds
        self.applications = [
            find(plan["kind"])(
                {**plan, "seconds": seconds - plan["start_s"]},
                *(hosts[plan["source"]], hosts[plan["destination"]], loop, folder),
            )
            for plan in plans
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for application in self.applications:
            application.close()

    def prepare(self) -> None:
        """Let all be ready for what comes."""
        for application in self.applications:
            application.prepare()

    def run(self, progress: Callable[[float, float], None] = lambda done, air_s: None) -> None:
        """Run them from now on; `progress` gets the fraction and the seconds done, 100 times or each TOLD_S."""
        began, seconds = time.monotonic_ns(), self.seconds
        steps = max(1, min(100, int(seconds / TOLD_S)))
        for application in self.applications:
            self.loop.at(began + int(application.plan["start_s"] * 1e9), application.start)

        def step(number: int) -> None:
            progress(number / steps, seconds * number / steps)
            if number + 1 < steps:
                self.loop.at(began + int(seconds * 1e9) * (number + 1) // steps, lambda: step(number + 1))

        step(0)
        self.loop.run(began + int(seconds * 1e9))

    def finish(self) -> list[dict[str, Any]]:
        """What each achieved so far, as lane.json has it; to be called as soon as `run` returns."""
        return [{"name": one.plan["name"], **UNSAID, **one.finish()} for one in self.applications]
