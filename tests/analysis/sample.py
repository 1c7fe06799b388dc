# SPDX-License-Identifier: BSD-3-Clause
"""A run folder as a lane leaves it, made by the tiny air."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tiny_air import TinyAir

from analysis.taps.phy import radios
from analysis.traces import pcapng, trace
from analysis.traces.capture import Capture, of_stations, read, read_file, views_of


@dataclass(repr=False)
class Sample:
    """A tiny air that has run, its trace, and the folder with plan.json, lane.json, the pcapng and the views."""

    air: TinyAir
    raw: bytes
    trace: trace.Trace
    folder: Path
    sha256: tuple[str, str]

    @property
    def pcapng(self) -> Path:
        return self.folder / "air.pcapng.gz"

    @property
    def views(self) -> Path:
        return self.folder / "views.gz"

    def of_stations(self) -> bytes:
        """Return what stations received, as a pcapng."""
        air = read_file(self.pcapng)
        seen = views_of(self.pcapng, air)
        assert seen
        return b"".join(of_stations(air, seen))

    @property
    def capture(self) -> Capture:
        return read(self.pcapng)


def make_sample(air: TinyAir, seconds: float, folder: Path) -> Sample:
    """Let `air` run for this long, and write what a lane would into `folder`."""
    raw = air.run(seconds)
    records = trace.parse(np.frombuffer(raw, np.uint8))
    plan = air.plan()
    sha256 = pcapng.write(records, radios(plan), folder)
    stations = [
        {"name": station["name"], "counters": counters}
        for station, counters in zip(radios(plan), air.counters, strict=True)
    ]
    (folder / "plan.json").write_text(json.dumps(plan))
    times = {"air_s": seconds, "started_ns": records.start_ns, "stopped_ns": records.stop_ns}
    (folder / "lane.json").write_text(json.dumps({**times, "air": {"stations": stations}}))
    return Sample(air, raw, records, folder, sha256)
