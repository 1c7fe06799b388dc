# SPDX-License-Identifier: BSD-3-Clause
"""Record what was on the air before a fault. The workout is repeated until then, and the air is recorded in its last
second (`inside.moment`). A run of the comparison in which too little got through is repeated for its last second with
traffic. Nothing is recorded unless something is found.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.results.shapes import read_plan
from analysis.taps.phy import radios
from analysis.traces import pcapng, trace
from emulation.features.check import Finding, Name
from emulation.features.check.corpus import ALONE, Search
from emulation.features.check.exercise import Enough, Place, boot, write_job
from emulation.features.check.inside.moment import MESSAGE, SECONDS
from emulation.features.check.subject import Module
from emulation.files.foreign import Damaged
from emulation.lane.recorders.air_trace import Recorder
from emulation.lanes import LaneError
from emulation.plan import plan
from emulation.play.lab import Lab
from emulation.play.player import wall_limit_s
from emulation.specification import Specification

PLAN = "plan.json"

# Not caused by packets, or noticed long afterwards.
OFF_THE_AIR = (
    Name.LEAK, Name.REFUSED_LOAD, Name.REFUSED_UNLOAD, Name.REFUSED_PARAMETER, Name.EMPTY_LOAD, Name.FAILED_TEST,
)  # fmt: skip


def of(findings: Sequence[Finding]) -> Finding | None:
    """Return the earliest finding that has a time."""
    timed = [one for one in findings if one.time_s and one.seed is not None and one.name not in OFF_THE_AIR]
    return min(timed, key=lambda one: one.time_s or 0.0, default=None)


def record(
    prepared: Place, module: Module, folder: Path, finding: Finding, cycles: int, search: Search = ALONE
) -> Path | None:
    """Leave air.pcapng.gz and views.gz in the empty `folder`. Return the former, or None if the finding did not recur.
    Raises OSError if that fails."""
    assert finding.seed is not None
    assert finding.time_s is not None
    write_job(prepared, module, folder, finding.seed, cycles, search, round(finding.time_s * 1e6))

    def hear(line: str) -> None:
        if line == MESSAGE:
            raise Enough

    try:
        boot(prepared, module, folder, finding.seed, hear)
        return written(folder)
    except (LaneError, FileNotFoundError, Damaged):
        return None


def of_run(lab: Lab, specification: Specification, folder: Path) -> Path:
    """Repeat a run in `folder` and record it likewise. Raises LaneError if it fails, or OSError."""
    traced = specification.model_copy(
        update={"measurement": specification.measurement.model_copy(update={"trace": True})}
    )
    made = plan(traced)
    folder.mkdir()
    (folder / PLAN).write_text(json.dumps(made))
    lab.lane.run(lab.kernel, lab.select_modules(made["modules"]), folder, ["plan"], seed=made["seed"],
                 wall_limit_s=wall_limit_s(traced))  # fmt: skip
    return written(folder)


def written(folder: Path) -> Path:
    """Write the last second in which TCP sent anything, from a lane's trace, as pcapngs."""
    found = trace.read(folder / Recorder.file)
    segments = found.tx[np.isin(found.tx["kind"], (trace.Kind.TCP_DATA, trace.Kind.TCP_ACK))]
    end_ns = int((segments["start_ns"] + segments["duration_ns"]).max(initial=0)) or found.stop_ns
    begin_ns = max(found.start_ns, end_ns - int(SECONDS * 1e9))
    with pcapng.Writer(radios(read_plan(folder)), folder) as writer:
        writer.write(found, begin_ns, trace.NEVER)
        writer.finish(begin_ns, found.stop_ns)
    (folder / Recorder.file).unlink()
    return folder / pcapng.AIR
