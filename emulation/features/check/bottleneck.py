# SPDX-License-Identifier: BSD-3-Clause
"""Compare a qdisc with the kernel's own, each below the same token bucket: its queue, delays, drops and shares. This is
the host's side; `emulation.features.check.inside.bottleneck` runs in the lane."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import topologies
from analysis.tables import statistics
from emulation.features.check.exercise import INNER, shown
from emulation.features.check.inside.bottleneck import DELAYS_MS, RATE_KBPS, SECONDS
from emulation.features.check.subject import Module
from emulation.files.foreign import parsed
from emulation.lanes import Listener
from emulation.plan import plan
from emulation.play import processes
from emulation.play.lab import Lab
from emulation.specification import specify

PROGRAM = INNER / "bottleneck.py"
BESIDE = ("pfifo", "fq_codel")
LIMIT_S = 120.0
STALLED = 0.1  # of pfifo's goodput
# All hear each other; two have long flows, one has a sparse flow; then the router and the receiver.
NETWORK = topologies.Layout(
    stations={f"sta{i + 1}": (10.0 * i, 0.0, 0.0) for i in range(len(DELAYS_MS) + 3)}, flows=[("sta1", "sta5")]
).network()
QUANTITIES = {
    "goodput_kbps": "goodput of the long flows, kb/s",
    "fairness": "fairness between them, Jain's index",
    "backlog_packets": "backlog, packets",
    "backlog_kb": "backlog, kB",
    "sojourn_ms": "sojourn time, ms",
    "sparse_ms": "delay of the sparse flow, ms",
    "sparse_p95_ms": "its 95th percentile, ms",
    "sparse_lost": "lost of the sparse flow, packets",
    "drops": "drops",
    "retransmits": "retransmitted segments",
}
SITUATION = f"at a bottleneck of {RATE_KBPS} kb/s, {SECONDS:g} s, two flows of {' and '.join(map(str, DELAYS_MS))} ms"


def measure(
    lab: Lab, module: Module, against: str, seeds: Sequence[int], folder: Path, progress: Callable[[float], None]
) -> list[dict[str, Any]]:
    """Run all, and return each run's measurements, `kind` and `seed`. Raises LaneError if a lane fails, or OSError."""
    kinds = [kind for kind in BESIDE if kind != module.qdisc] + [str(module.qdisc)]
    wanted = [(kind, seed) for kind in kinds for seed in seeds]
    calls = [
        partial(measure_one, lab, module if kind == module.qdisc else None, kind, against, seed, folder)
        for kind, seed in wanted
    ]
    done = 0

    def heard(index: int, what: object) -> None:
        nonlocal done
        done += 1
        progress(done / len(wanted))

    found = processes.run_all(calls, heard)
    return [{"kind": kind, "seed": seed, **run} for (kind, seed), run in zip(wanted, found, strict=True)]


def measure_one(
    lab: Lab, module: Module | None, kind: str, against: str, seed: int, folder: Path, parent: processes.Parent
) -> dict[str, Any]:
    where = folder / f"bottleneck-{kind}-{seed}"
    where.mkdir(parents=True)
    (where / "plan.json").write_text(json.dumps(plan(specify(NETWORK, {"trace": False, "seed": seed}))))
    heard: list[str] = []
    tested = [part for part in (module.name, shown(module, where), module.options) if part] if module else []
    command = ["script", str(PROGRAM), kind, against, *tested]
    modules = {one.name: one.path for one in module.before} if module else {}
    if name := next((name for name in (against, f"tcp_{against}") if name in lab.modules), None):
        modules[name] = lab.modules[name]
    lab.lane.run(
        lab.kernel, modules, where, command, seed=seed, wall_limit_s=LIMIT_S, listener=Listener(heard.append)
    )  # fmt: skip
    parent.report(kind)
    result: dict[str, Any] = parsed(heard[-1])
    return result


def by_kind(runs: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    kinds = dict.fromkeys(run["kind"] for run in runs)
    return {kind: [run for run in runs if run["kind"] == kind] for kind in kinds}


def stalled(runs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the first run in which almost nothing got through, unlike with pfifo."""
    first = {run["seed"]: run["goodput_kbps"] for run in runs if run["kind"] == BESIDE[0]}
    bad = (run for run in runs if run["goodput_kbps"] < STALLED * first.get(run["seed"], 0.0))
    return next(bad, None)


def mean(runs: Sequence[Mapping[str, Any]], quantity: str) -> statistics.Estimate | None:
    values = [run[quantity] for run in runs if run[quantity] is not None]
    return statistics.mean(values) if values else None
