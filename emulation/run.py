# SPDX-License-Identifier: BSD-3-Clause
"""Runs: each specification becomes a plan, the plan is played in a lane of its own, and what it left becomes a `Run`.

Lanes are independent processes of one CPU each, so as many run side by side as there are CPUs; each has a worker
process that boots it, waits for it and reads its trace. A worker tells its story through a pipe and ends with its lane,
whichever of the two is killed first; when the caller is interrupted, all are ended and waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulation import syscalls
from emulation.drawing import CONTEXT, STAND_BACK
from emulation.lane.virtual import LaneError, Listener, Reason
from emulation.lane.virtual import run as run_lane
from emulation.plan import plan as make_plan
from emulation.result import Run, from_lane
from emulation.specification import Specification

if TYPE_CHECKING:
    from analysis.flight import Flight

TRACE = "air.pcapng"


@dataclass(frozen=True)
class Lab:
    """What lanes are made of: the kernel, and modules by name."""

    kernel: Path
    modules: Mapping[str, Path]


@dataclass(frozen=True)
class Outcome:
    """One run, and its segments in flight (None without a trace)."""

    run: Run
    flight: Flight | None


def name_of(run: Specification | Run) -> str:
    """A run's subfolder."""
    return f"{run.rts}-{run.seed}"


def wall_limit_s(specification: Specification) -> float:
    """When to give a run up as hung: slower than a fifth of real time is not expected of any lab."""
    return 120 + 5 * specification.seconds


def play(
    lab: Lab,
    specification: Specification,
    folder: Path,
    progress: Callable[[float, float], None] = lambda done, air_s: None,
    lane_over: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run one specification in `folder`/NAME and return what it found.

    `progress` hears the fraction done and the air time in seconds; `lane_over` is called when only the trace is left
    to be read. Raises LaneError; PlanError where the specification cannot be planned; OSError if the folder cannot be
    written.
    """
    plan = make_plan(specification)
    where = folder / name_of(specification)
    where.mkdir(parents=True, exist_ok=True)
    (where / "plan.json").write_text(json.dumps(plan))
    began = time.monotonic()
    run_lane(
        lab.kernel, lab.modules, where, ["plan"], seed=specification.seed, wall_limit_s=wall_limit_s(specification),
        listener=Listener(progress=progress),
    )  # fmt: skip
    lane_over()
    lane = json.loads((where / "lane.json").read_text())
    trace_sha256, flight = digest(where, plan, lane) if plan["air"]["trace"] else (None, None)
    run = from_lane(
        plan, lane, rts=specification.rts, wall_s=time.monotonic() - began, trace_sha256=trace_sha256,
        in_flight=flight.means() if flight else None, trace=f"{where.name}/{TRACE}" if flight else None,
    )  # fmt: skip
    return Outcome(run, flight)


def digest(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> tuple[str, Flight]:
    """Turn the lane's trace into pcapng, which takes its place, and look at the segments in flight."""
    from analysis import flight, hops, pcapng, trace

    if lane["air"]["lost_records"]:
        raise LaneError(Reason.PROGRAM, f"the trace lost {lane['air']['lost_records']} records: its reader fell behind")
    raw = where / "air.trace"
    records = trace.read(raw)
    sha256 = pcapng.write(records, plan["stations"], where / TRACE)
    raw.unlink()
    return sha256, flight.in_flight(hops.of_trace(records, plan["stations"]))


def _worker(pipe: Connection, lab: Lab, specification: Specification, folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends us
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    syscalls.die_with_parent(signal.SIGTERM)

    def progress(done: float, air_s: float) -> None:
        pipe.send(("progress", done, air_s))

    def lane_over() -> None:
        os.nice(STAND_BACK)
        pipe.send(("lane over",))

    said: tuple[object, ...]
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):  # nobody listens any more
        try:
            said = "done", play(lab, specification, folder, progress, lane_over)
        except Exception as error:
            said = "failed", error
        pipe.send(said)


def play_all(
    lab: Lab,
    specifications: Sequence[Specification],
    folder: Path,
    progress: Callable[[int, float, float], None] = lambda index, done, air_s: None,
    jobs: int | None = None,
) -> list[Outcome]:
    """Run all, `jobs` lanes at a time (by default one a CPU), and return their outcomes in order.

    While the trace of one run is read the next lane runs already, so that no CPU is idle; lanes have precedence.

    `progress` hears the index, the fraction done and the air time. Raises what the first run to fail raised; then, and
    on KeyboardInterrupt, the others are ended first.
    """
    waiting = list(enumerate(specifications))[::-1]
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    lanes: set[Connection] = set()
    outcomes: dict[int, Outcome] = {}
    jobs = jobs or len(os.sched_getaffinity(0))
    try:
        while waiting or running:
            while waiting and len(lanes) < jobs and len(running) < 2 * jobs:
                index, specification = waiting.pop()
                ours, theirs = CONTEXT.Pipe(duplex=False)
                process: BaseProcess = CONTEXT.Process(
                    target=_worker, args=(theirs, lab, specification, folder), daemon=True
                )
                process.start()
                theirs.close()
                running[ours] = index, process
                lanes.add(ours)
            for pipe in _ready(running):
                index, process = running[pipe]
                try:
                    kind, *said = pipe.recv()
                except EOFError:
                    process.join()
                    if index not in outcomes:
                        how = f"the worker of run {index + 1} ended with {process.exitcode}"
                        raise LaneError(Reason.KILLED, how) from None
                    del running[pipe]
                    continue
                if kind == "progress":
                    progress(index, *said)
                elif kind == "lane over":
                    lanes.remove(pipe)
                elif kind == "done":
                    outcomes[index] = said[0]
                    progress(index, 1.0, said[0].run.air_s)
                else:
                    raise said[0]
    finally:
        for pipe, (_, process) in running.items():
            process.terminate()
            pipe.close()
        for _, process in running.values():
            process.join()
    return [outcomes[index] for index in range(len(specifications))]


def _ready(running: Iterable[Connection]) -> list[Connection]:
    return [pipe for pipe in wait(list(running)) if isinstance(pipe, Connection)]
