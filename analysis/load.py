# SPDX-License-Identifier: BSD-3-Clause
"""A run folder in Python, as from a notebook (docs/python.md).

    found = load("runs/rts-cts-…")
    for run in found.runs:
        print(run.result.variant, run.result.goodput_kbps, run.flows["flow1"].cwnd.max())

All is read when it is asked for, once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.results import result
from analysis.results.result import Result, Run
from analysis.results.shapes import read_lane, read_plan

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
    """One run: its `result`, and in `folder` all that is left of it. Raises OSError for what there is not."""

    result: Run
    folder: Path

    @cached_property
    def plan(self) -> dict[str, Any]:
        """Every number that it was made from (docs/interfaces.md, section 1)."""
        return read_plan(self.folder)

    @cached_property
    def lane(self) -> dict[str, Any]:
        """What the lane said of it (docs/interfaces.md, section 2)."""
        return read_lane(self.folder, self.plan)

    @cached_property
    def observation(self) -> "Observation":
        """What the pcapngs show: frames as numpy columns, who received them, attempts, and counters of all that."""
        from analysis.taps.observe import observe
        from analysis.taps.phy import Medium
        from analysis.traces.capture import read
        from analysis.traces.pcapng import AIR

        medium = Medium.of_plan(self.plan, self.lane["started_ns"], self.lane.get("changes", ()))
        return observe(read(self.folder / AIR), medium)

    @cached_property
    def flight(self) -> "Flight":
        """The segments in flight over time. Raises ValueError where frames are encrypted, as nobody knows then."""
        from analysis.tcp.hops import of_observation
        from analysis.tcp.journeys import in_flight

        if not self.result.in_flight:
            raise ValueError(f"{self.folder}: which segments are in flight is not known: frames are encrypted")
        return in_flight(of_observation(self.observation))

    @cached_property
    def flows(self) -> "dict[str, Flow]":
        """What each sender's TCP did over time, by the flow's name: window, round trip, phases."""
        from analysis.tcp.senders import flows

        return flows(self.folder / "tcp.trace", self.plan, self.lane)

    @cached_property
    def series(self) -> "dict[str, Series]":
        """How each flow stood every so many seconds, by its name and that of the column (`flows.csv`)."""
        from analysis.results.flow_series import FILE, read

        return read(self.folder / FILE)

    @cached_property
    def air(self) -> "Aired":
        """What was on the air: a row for each transmission, in the order in which Wireshark numbers them, from 1 on."""
        from analysis.taps import aired
        from analysis.traces.pcapng import AIR

        return aired.read(self.folder / AIR, self.plan)

    @cached_property
    def paths(self) -> "dict[str, Paths]":
        """The stations that each segment went over which arrived, and when it did, by the flow's name."""
        from analysis.routes import paths

        return paths.paths(paths.Legs.of_air(self.air, self.lane["stopped_ns"]), self.plan)

    @cached_property
    def routes(self) -> "dict[str, Routes]":
        """What each flow's source knew of the way, over time, by the flow's name; empty without a routing protocol."""
        from analysis.routes import flow_routes, routes

        if flow_routes.RECORDER in self.lane["recorders"]:
            return flow_routes.routes(flow_routes.read(self.folder / "routes.jsonl"), self.plan, self.lane)
        if routes.RECORDER not in self.lane["recorders"]:
            return {}
        records = routes.read(self.folder / "manet.trace", self.lane)
        paths = self.paths if self.result.trace else {}
        return routes.routes(records, self.plan, self.lane, paths)

    def frames(self, **options: Any) -> "Iterator[Packet]":
        """The frames as Scapy packets (`analysis.taps.sniff.frames`, whose options these are)."""
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
        """A run by the name of its subfolder, `full-1`. Raises KeyError, with those there are."""
        for run in self.runs:
            if run.folder.name == folder:
                return run
        raise KeyError(f"there is no run {folder}; there are: {', '.join(run.folder.name for run in self.runs)}")


def load(folder: Path | str) -> Loaded:
    """What a run folder holds. Raises OSError if there is no result.json, Damaged for one of another version."""
    return Loaded(result.read(Path(folder) / "result.json"), Path(folder))
