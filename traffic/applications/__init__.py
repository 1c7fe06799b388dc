# SPDX-License-Identifier: BSD-3-Clause
"""Applications: what runs between two hosts and is measured.

Each kind is a file here that defines a class `Application`. `bulk` is our own sender, cheap, and used by studies.
`iperf3` is the well-known program. docs/traffic.md has the others, and docs/plugins.md shows how to write
one. `Applications` runs those of a plan in parallel, in one loop.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from functools import partial

from traffic import plugins
from traffic.loop import Part
from traffic.outcome import judge
from traffic.samples import Samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, ClassVar, Self

    from traffic.host import Host
    from traffic.loop import Loop

PROGRESS_S = 5  # s of the lane's time between two progress reports, which wake three processes

# What lane.json says of an application that does not report it itself, in the terms of flows.
UNREPORTED: dict[str, Any] = {
    "congestion": "", "delivered_bytes": 0, "acked_bytes": 0, "retransmits": 0,
    "tcp_info": {"sender": {}, "receiver": {}}, "finished_s": None, "error": None, "last_s": None, "waiting_s": None,
}  # fmt: skip


class Application:
    """The life of an application: `prepare` before any starts, `start` at its time, `finish` when time is up, `close`.

    `plan` is its entry in the plan's `applications` (docs/interfaces.md, section 1), with `seconds`, how long it may
    run, and `seed`, the run's. It waits only in `loop`, and writes files to `folder`.
    """

    programs: tuple[str, ...] = ()  # that must be on the search path
    settings: ClassVar[dict[str, Any]] = {}  # further keys of its plan, with defaults (`traffic.settings`)
    heeds: tuple[str, ...] | None = None  # the settings of flows that affect it; None: all
    started_ns = 0  # before `start` is called
    batches = False  # whether datagrams that arrive together may pass as one packet; known when it is prepared

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str) -> None:
        self.plan, self.source, self.destination, self.loop, self.folder = plan, source, destination, loop, folder

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """Raises ValueError if these settings exclude each other."""

    def prepare(self) -> None:
        """Prepare the receiving end. Raises OSError if that fails."""

    @abstractmethod
    def start(self) -> None:
        """Begin to send. Raises OSError if that fails."""
        raise NotImplementedError

    def sample(self) -> dict[str, Any]:
        """Return the current values of `traffic.samples.COLUMNS`: `delivered_bytes` at least, or nothing at all."""
        return {}

    @abstractmethod
    def finish(self) -> dict[str, Any]:
        """Return the results so far, for lane.json (docs/interfaces.md, section 2); keys may be missing or added."""
        raise NotImplementedError

    def close(self) -> None:
        """Release everything, in any state."""

    def since_start_s(self, then_ns: int) -> float:
        return (then_ns - self.started_ns) / 1e9


def find(kind: str) -> type[Application]:
    """Return the application of this kind. Raises ValueError, which lists the kinds, if there is none."""
    found: type[Application] = plugins.find(__name__, kind).Application
    return found


class Applications:
    """The applications of a plan, in parallel for `seconds`. Raises ValueError for an unknown kind.

    `seed` is the run's. Each is sampled every `sample_s` seconds (None: never), with times since `zero_ns`, by default
    the start of `run`.
    """

    def __init__(
        self, plans: Sequence[dict[str, Any]], hosts: Mapping[str, Host], loop: Loop, folder: str, seconds: float,
        seed: int = 0, sample_s: float | None = None, zero_ns: int | None = None,
    ) -> None:  # fmt: skip
        self.loop, self.folder, self.seconds, self.sample_s, self.zero_ns = loop, folder, seconds, sample_s, zero_ns
        self.samples = Samples()
        self.reports: dict[Application, dict[str, Any]] = {}  # of those that have stopped
        self.applications: list[Application] = []
        self.parts: list[Part] = []
        for plan in plans:
            stop_s = seconds if plan["stop_s"] is None else min(plan["stop_s"], seconds)
            mine = {**plan, "seconds": max(stop_s - plan["start_s"], 0.0), "seed": seed}
            self.parts.append(part := Part(loop))
            self.applications.append(
                find(plan["kind"])(mine, hosts[plan["source"]], hosts[plan["destination"]], part, folder)
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for application, part in zip(self.applications, self.parts, strict=True):
            if not part.over:
                part.over = True
                application.close()

    def prepare(self) -> None:
        """Prepare all."""
        for application in self.applications:
            application.prepare()

    def run(self, progress: Callable[[float, float], None] = lambda done, air_s: None) -> None:
        """Run them from now on; `progress` gets the fraction and the seconds done, 100 times or every PROGRESS_S."""
        began, seconds = time.monotonic_ns(), self.seconds
        self.zero_ns = began if self.zero_ns is None else self.zero_ns
        steps = max(1, min(100, int(seconds / PROGRESS_S)))
        for application, part in zip(self.applications, self.parts, strict=True):
            self.loop.at(began + int(application.plan["start_s"] * 1e9), partial(self._start, application))
            if application.plan["stop_s"] is not None and application.plan["stop_s"] < seconds:
                stop_ns = began + int(application.plan["stop_s"] * 1e9)
                self.loop.at(stop_ns, partial(self._stop, application, part))

        def step(number: int) -> None:
            progress(number / steps, seconds * number / steps)
            if number + 1 < steps:
                self.loop.at(began + int(seconds * 1e9) * (number + 1) // steps, lambda: step(number + 1))

        step(0)
        if self.sample_s:
            self._sample_at(began, 1)
        self.loop.run(began + int(seconds * 1e9))

    def _start(self, application: Application) -> None:
        application.started_ns = time.monotonic_ns()
        application.start()

    def _stop(self, application: Application, part: Part) -> None:
        """Stop an application whose time ends before that of the run."""
        self._sample(application)
        self.reports[application] = application.finish()
        part.over = True
        application.close()

    def _sample_at(self, began_ns: int, number: int) -> None:
        assert self.sample_s

        def look() -> None:
            for application in self.applications:
                self._sample(application)
            self._sample_at(began_ns, number + 1)

        self.loop.at(began_ns + round(number * self.sample_s * 1e9), look)

    def _sample(self, application: Application) -> None:
        zero_ns = self.zero_ns or 0
        if self.sample_s and application.started_ns and application not in self.reports:
            began_s, now_s = ((at - zero_ns) / 1e9 for at in (application.started_ns, time.monotonic_ns()))
            if found := application.sample():
                self.samples.add(application.plan["name"], now_s, found, began_s)

    def finish(self) -> list[dict[str, Any]]:
        """Return the results of each so far, as in lane.json; call this as soon as `run` returns."""
        found = []
        for application in self.applications:
            self._sample(application)
            said = self.reports.get(application) or application.finish()
            outcome, why = judge(bool(application.started_ns), {**UNREPORTED, "delivered_bytes": 1, **said})
            report = {"name": application.plan["name"], **UNREPORTED, **said}
            found.append({**report, "outcome": outcome.value, "why": why})
        return found
