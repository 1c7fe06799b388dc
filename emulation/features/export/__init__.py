# SPDX-License-Identifier: BSD-3-Clause
"""Runs as tidy tables (`schema`) for pandas, and as files for other programs (`files`, `flent`).

    found = load("runs/rts-cts-…")
    found.frames.groupby(["variant", "seed", "kind"]).size()

A table has all runs of a folder. It is made run by run, in pieces of up to ROWS rows, so the memory is bounded by the
largest run's trace, not by the number of runs. Columns have the same types and names in each piece.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import load
from analysis.load import Loaded, Recorded
from analysis.routes import flow_routes, routes
from analysis.tcp.senders import NO_SSTHRESH, Phase
from analysis.traces.trace import Array
from emulation.features.export import results
from emulation.features.export.frame import data_frame
from emulation.features.export.schema import SAMPLES, TABLES
from emulation.files.foreign import Damaged, reading

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 100_000  # of a piece
TCP_TAP = "tcp_tap"
Columns = dict[str, Any]


def whole(name: str) -> cached_property[DataFrame]:
    """Return the property for a table."""

    def read(tables: Tables) -> DataFrame:
        return tables.table(name)

    return cached_property(read)


@dataclass(frozen=True)
class Tables:
    """A run folder's tables, each a pandas.DataFrame with the columns of docs/columns.md, read on first use. `recorded`
    has everything else (`analysis.load`)."""

    recorded: Loaded

    runs = whole("runs")
    options = whole("options")
    flows = whole("flows")
    samples = whole("samples")
    frames = whole("frames")
    tcp = whole("tcp")
    routes = whole("routes")

    def table(self, name: str) -> DataFrame:
        """Return a whole table, without rows if nothing was recorded. Raises Damaged if malformed, OSError if
        unreadable."""
        import pandas

        pieces = list(self.pieces(name)) or [data_frame(TABLES[name], {}, 0, self.names)]
        return pieces[0] if len(pieces) == 1 else pandas.concat(pieces, ignore_index=True)

    def polars(self, name: str) -> Any:
        """Return it as a polars.DataFrame; polars must be installed."""
        import polars

        from emulation.features.export.files import parquet

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"{name}.parquet")
            parquet(file, self.pieces(name)) or parquet(file, iter([self.table(name)]))
            return polars.read_parquet(file, memory_map=False)

    def pieces(self, name: str) -> Iterator[DataFrame]:
        """Yield a table in pieces, in order; none if nothing was recorded. Raises Damaged if malformed, OSError if
        unreadable."""
        if whole := {"runs": results.runs, "options": results.options, "flows": results.flows}.get(name):
            columns = whole(self.recorded.result)
            if count := len(columns["seed"]):
                yield data_frame(TABLES[name], columns, count, self.keys)
        else:
            read = {"samples": self._samples, "frames": self._frames, "tcp": self._tcp, "routes": self._routes}[name]
            names = self.names  # of all runs, so that a damaged one is reported before any piece is written
            for number, run in enumerate(self.recorded.runs):
                with reading(run.folder):
                    for columns in read(run):
                        yield from self._cut(name, columns, number, names)

    def _cut(self, name: str, columns: Columns, number: int, names: Mapping[str, Sequence[str]]) -> Iterator[DataFrame]:
        """Yield the pieces of one run's columns; `number` is the run's."""
        size, result = len(next(iter(columns.values()))), self.recorded.runs[number].result
        for first in range(0, size, ROWS):
            piece = {column: values[first : first + ROWS] for column, values in columns.items()}
            count = min(ROWS, size - first)
            keys: Columns = {
                key: np.full(count, self.keys[key].index(value), np.int32)
                for key, value in (("run", result.folder), ("case", result.case), ("variant", result.variant))
            }
            keys["seed"] = np.full(count, result.seed)
            yield data_frame(TABLES[name], keys | piece, count, names)

    @cached_property
    def keys(self) -> Mapping[str, Sequence[str]]:
        """The values of the columns that identify a row, in all tables."""
        result = self.recorded.result
        return {
            "run": [run.folder for run in result.runs], "case": unique(run.case for run in result.runs),
            "variant": unique(run.variant for run in result.runs),
            "flow": unique(flow.name for run in result.runs for flow in run.flows),
        }  # fmt: skip

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Those values with all names in what runs left: stations in order, and applications that are no flows."""
        from emulation.features.export.frames import NAMES

        stations, planned = [], []
        for run in filter(self.kept, self.recorded.runs):
            with reading(run.folder):
                stations += [node["name"] for node in run.plan["nodes"]]
                planned += [application["name"] for application in run.plan.get("applications", ())]
        return {
            **self.keys, "flow": unique([*self.keys["flow"], *planned]), **NAMES,
            **dict.fromkeys(("sender", "receiver", "culprit"), unique(stations)),
            "phase": [phase.name.lower() for phase in Phase],
        }  # fmt: skip

    def kept(self, run: Recorded) -> bool:
        """Return whether the folder has the run's files; a sweep's has not. Raises Damaged if some are missing."""
        if not any(one.folder.is_dir() for one in self.recorded.runs):
            return False
        files = ["plan.json", "lane.json", *([Path(run.result.trace).name] if run.result.trace else [])]
        for name in files:
            if not (run.folder / name).is_file():
                raise Damaged(f"{run.folder / name}: missing, though the run wrote it: the folder is incomplete")
        return True

    def _samples(self, run: Recorded) -> Iterator[Columns]:
        if not self.kept(run) or not (run.folder / "flows.csv").is_file():
            return
        for flow, series in run.series.items():
            columns = {column.name: series.get(column.path or column.name) for column in SAMPLES.columns}
            size = series["time_s"].size
            present: Columns = {name: values for name, values in columns.items() if values is not None}
            yield {**present, "flow": np.full(size, self.names["flow"].index(flow), np.int32)}

    def _frames(self, run: Recorded) -> Iterator[Columns]:
        from emulation.features.export import frames

        if self.kept(run) and run.result.trace:
            yield frames.columns(run, self.names["sender"], self.names["flow"])

    def _tcp(self, run: Recorded) -> Iterator[Columns]:
        if not self.kept(run) or TCP_TAP not in run.lane["recorders"]:
            return
        for name, flow in run.flows.items():
            yield {
                **self._spans(name, flow.time_ns), "cwnd_segments": flow.cwnd,
                "ssthresh_segments": np.where(flow.ssthresh == NO_SSTHRESH, -1, flow.ssthresh.astype(np.int64)),
                "srtt_us": np.where(flow.srtt_us == 0, -1, flow.srtt_us.astype(np.int64)),
                "in_flight_segments": flow.in_flight, "phase": flow.phase,
            }  # fmt: skip

    def _routes(self, run: Recorded) -> Iterator[Columns]:
        if not self.kept(run) or not {routes.RECORDER, flow_routes.RECORDER} & run.lane["recorders"].keys():
            return
        for name, route in run.routes.items():
            yield {
                **self._spans(name, route.time_ns), "has_route": route.hops != routes.NO_ROUTE,
                "hops": np.where(route.hops > 0, route.hops, -1),
            }  # fmt: skip

    def _spans(self, flow: str, edges: Array) -> Columns:
        number = self.names["flow"].index(flow)
        return {"time_ns": edges[:-1], "until_ns": edges[1:], "flow": np.full(edges.size - 1, number, np.int32)}


def unique(names: Iterable[str]) -> list[str]:
    """Return the distinct names, in order."""
    return list(dict.fromkeys(names))


def tables(folder: Path | str) -> Tables:
    """Return the tables of a run folder. Raises Damaged if it has no result.json, or a malformed one."""
    return Tables(load.load(folder))
