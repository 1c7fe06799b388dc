# SPDX-License-Identifier: BSD-3-Clause
"""What tests of sweeps share: synthetic runs, a lab that is never booted, a place that plays nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.results.result import Run
from emulation.features.sweeps.sweep import Failed, OnDone, OnProgress
from emulation.play.lab import Lab
from emulation.play.run import Task
from emulation.play.store import Store
from emulation.play.tasks import specification_for

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
GRID = """
topology = "string"
seeds = "1..2"
[options]
seconds = 1
trace = false
[grid]
rts = ["full", "none"]
stations = [2, 3]
"""


def task(seed: int = 1, variant: str = "", **options: Any) -> Task:
    return Task(
        specification_for("string", {"stations": 3, "seconds": 1, "trace": False, **options, "seed": seed}), variant
    )


def found(seed: int = 1, made_of: Mapping[str, str] | None = None, **more: Any) -> Run:
    """Return a possible result of a run."""
    none = {"rtscts": 0, "data": 0, "ack": 0}
    return Run.model_validate({
        "seed": seed, "made_of": made_of or {"plan": str(seed)}, "goodput_segments": 5, "goodput_kbps": 1.5,
        "col": {**none, "any": none}, "fail": none, "in_flight": None, "queue_drops": 0, "trace": "a/air.pcapng.gz",
        "trace_sha256": "00", "air_s": 10, "wall_s": 2, "flows": [], "settings": [], "stations": [], "lost_records": 0,
        "refused_frames": 0, "late_ns_max": 0, **more,
    })  # fmt: skip


class Elsewhere:
    """A place that plays nothing: seeds in `bad` fail, and it is interrupted after a number of runs."""

    jobs = 2

    def __init__(self, bad: Sequence[int] = (), ends_after: int = 99) -> None:
        self.bad, self.ends_after, self.played = bad, ends_after, list[int]()

    def __call__(self, lab: Lab, tasks: Sequence[Task], store: Store, on_done: OnDone, on_progress: OnProgress) -> None:
        from emulation.plan import plan

        for index, one in enumerate(tasks):
            if len(self.played) == self.ends_after:
                raise KeyboardInterrupt
            self.played.append(one.seed)
            if one.seed in self.bad:
                on_done(index, Failed("it rained"))
                continue
            run = found(one.seed, lab.made_of(plan(one.specification)))
            store.put(run)
            on_done(index, run)


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "my.toml").write_text(text)
    return tmp_path / "my.toml"
