# SPDX-License-Identifier: BSD-3-Clause
"""Read a run folder in Python, for instance in a notebook (docs/python.md).

    found = load("runs/rts-cts-…")
    for run in found.runs:
        print(run.result.variant, run.result.goodput_kbps, run.flows["flow1"].cwnd.max())

Each attribute is read on first use, once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.results import result
from analysis.results.result import Result, Run
from analysis.results.shapes import read_lane, read_plan
from emulation.files.foreign import Damaged

if TYPE_CHECKING:
    from scapy.packet import Packet

    from analysis.results.flow_series import Series
    from analysis.routes.paths import Paths
    from analysis.routes.routes import Routes
    from analysis.taps.aired import Aired
    from analysis.taps.observe import Observation
    from analysis.tcp.in_flight import Flight
    from analysis.tcp.senders import Flow


@dataclass(frozen=True)
class Recorded:
    """One run: its `result`, and the files in `folder`. Attributes raise OSError if their file is missing."""

    result: Run
    folder: Path

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The run's plan: every number that the run was made from (docs/interfaces.md, section 1)."""
        return read_plan(self.folder)

    @cached_property
    def lane(self) -> dict[str, Any]:
        """What the lane reported (docs/interfaces.md, section 2)."""
        return read_lane(self.folder, self.plan)

    @cached_property
    def observation(self) -> "Observation":
        """What the pcapngs show: frames as numpy columns, their receivers, attempts, and counters."""
        from analysis.taps.observe import observe
        from analysis.taps.phy import Medium
        from analysis.traces.capture import read
        from analysis.traces.pcapng import AIR

        medium = Medium.of_plan(self.plan, self.lane["started_ns"], self.lane.get("changes", ()))
        return observe(read(self.folder / AIR), medium)

    @cached_property
    def flight(self) -> "Flight":
        """The segments in flight over time. Raises ValueError if frames are encrypted, because they hide the
        segments."""
        from analysis.tcp.hops import of_observation
        from analysis.tcp.journeys import in_flight

        if not self.result.in_flight:
            raise ValueError(f"{self.folder}: the segments in flight are unknown, because frames are encrypted")
        return in_flight(of_observation(self.observation))

    @cached_property
    def flows(self) -> "dict[str, Flow]":
        """Each TCP sender over time, by flow name: window, round-trip time, phases."""
        from analysis.tcp.senders import flows

        return flows(self.folder / "tcp.trace", self.plan, self.lane)

    @cached_property
    def series(self) -> "dict[str, Series]":
        """Samples of each flow at fixed intervals, by flow name and column name (`flows.csv`)."""
        from analysis.results.flow_series import FILE, read

        return read(self.folder / FILE)

    @cached_property
    def air(self) -> "Aired":
        """All transmissions, one per row, in Wireshark's order; row 0 is frame 1 there."""
        from analysis.taps import aired
        from analysis.traces.pcapng import AIR

        return aired.read(self.folder / AIR, self.plan)

    @cached_property
    def paths(self) -> "dict[str, Paths]":
        """The path and arrival time of each segment that arrived, by flow name."""
        from analysis.routes import paths

        return paths.paths(paths.Legs.of_air(self.air, self.lane["stopped_ns"]), self.plan)

    @cached_property
    def routes(self) -> "dict[str, Routes]":
        """What each flow's source knew of its route over time, by flow name; empty without a routing protocol."""
        from analysis.routes import flow_routes, routes

        if flow_routes.RECORDER in self.lane["recorders"]:
            return flow_routes.routes(flow_routes.read(self.folder / "routes.jsonl"), self.plan, self.lane)
        if routes.RECORDER not in self.lane["recorders"]:
            return {}
        records = routes.read(self.folder / "manet.trace", self.lane)
        paths = self.paths if self.result.trace else {}
        return routes.routes(records, self.plan, self.lane, paths)

    def frames(self, **options: Any) -> "Iterator[Packet]":
        """The frames as Scapy packets; `options` are those of `analysis.taps.sniff.frames`."""
        from analysis.taps.sniff import frames

        return frames(self.folder, **options)


@dataclass(frozen=True)
class Loaded:
    """A run folder: the whole `result`, and its `runs` in order."""

    result: Result
    folder: Path

    @cached_property
    def runs(self) -> list[Recorded]:
        return [Recorded(run, self.folder / run.folder) for run in self.result.runs]

    def __getitem__(self, folder: str) -> Recorded:
        """Return the run in this subfolder, such as `full-1`. Raises KeyError, which lists the runs, if there is
        none."""
        for run in self.runs:
            if run.folder.name == folder:
                return run
        raise KeyError(f"there is no run {folder}; there are: {', '.join(run.folder.name for run in self.runs)}")


def load(folder: Path | str) -> Loaded:
    """Read a run folder. Raises Damaged if its result.json cannot be read, or is of another version."""
    file = Path(folder) / "result.json"
    try:
        return Loaded(result.read(file), Path(folder))
    except OSError as error:
        raise Damaged(f"{file}: {error.strerror}") from error
