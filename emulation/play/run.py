# SPDX-License-Identifier: BSD-3-Clause
"""Runs: each specification becomes a plan, the plan is played in a lane of its own, and what it left becomes a `Run`,
which is kept beside as `run.json`, so that a sweep can be stopped and continued.

Lanes are independent processes of one CPU each, so as many run side by side as there are CPUs; each has a worker
process that boots it, waits for it and reads its trace. A worker tells its story through a pipe and ends with its lane,
whichever of the two is killed first; when the caller is interrupted, all are ended and waited for.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from analysis.result import Run, from_lane
from emulation.lane import syscalls
from emulation.lane.guest import AIR_MODULE
from emulation.lanes import INSIDE
from emulation.lanes.virtual import LaneError, Listener, Reason
from emulation.lanes.virtual import run as run_lane
from emulation.plan import PlanError
from emulation.plan import plan as make_plan
from emulation.play.drawing import CONTEXT, STAND_BACK
from emulation.specification import Specification

if TYPE_CHECKING:
    from analysis.flight import Flight
    from analysis.tcp_flows import Flow

TRACE, TCP_TRACE, FINISHED = "air.pcapng", "tcp.trace", "run.json"
KERNEL, PYTHON = "linux", "python"


@dataclass(frozen=True)
class Lab:
    """What lanes are made of: the kernel, and modules by name."""

    kernel: Path
    modules: Mapping[str, Path]

    def chosen(self, names: Iterable[str]) -> dict[str, Path]:
        """The air's module, and these. Raises PlanError for one there is not."""
        if missing := next((name for name in names if name not in self.modules), None):
            raise PlanError(f"there is no kernel module {missing}; --modules FOLDER names one of your own")
        return {name: self.modules[name] for name in (AIR_MODULE, *names) if name in self.modules}

    @cached_property
    def sha256(self) -> dict[str, str]:
        """Of the kernel, of the programs that run in it, and of each module."""
        programs = sorted(file for folder in INSIDE for file in folder.rglob("*.py"))
        parts = {KERNEL: [self.kernel], PYTHON: programs, **{name: [file] for name, file in self.modules.items()}}
        return {
            name: hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
            for name, files in parts.items()
        }


@dataclass(frozen=True)
class Task:
    """A specification to be run, and its place in a study: a variant, and a case if there are several."""

    specification: Specification
    variant: str = ""
    case: str = ""

    @property
    def seed(self) -> int:
        return self.specification.seed


@dataclass(frozen=True)
class Outcome:
    """One run, and its segments in flight (None without a trace)."""

    run: Run
    flight: Flight | None


class Finished(BaseModel):
    """`run.json`: what a run found, and with which kernel, programs and modules; written last, so that one that was
    interrupted has none."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    sha256: dict[str, str]
    run: Run


def name_of(run: Task | Run) -> str:
    """A run's subfolder."""
    return "-".join(re.sub(r"[^\w.+]+", "-", str(part)) for part in (run.case, run.variant, run.seed) if part != "")


def wall_limit_s(specification: Specification) -> float:
    """When to give a run up as hung: slower than a fifth of real time is not expected of any lab."""
    return 120 + 5 * specification.seconds


def play(
    lab: Lab,
    task: Task,
    folder: Path,
    progress: Callable[[float, float], None] = lambda done, air_s: None,
    lane_over: Callable[[], None] = lambda: None,
    resume: bool = False,
) -> Outcome:
    """Run one task in `folder`/NAME and return what it found.

    `progress` hears the fraction done and the air time in seconds; `lane_over` is called when only the trace is left
    to be read; `resume` takes what a run of the same plan in the same lab has left before. Raises LaneError;
    PlanError where the specification cannot be planned; OSError if the folder cannot be written.
    """
    specification, plan = task.specification, make_plan(task.specification)
    where = folder / name_of(task)
    where.mkdir(parents=True, exist_ok=True)
    modules = lab.chosen(plan["modules"])
    sha256 = {name: lab.sha256[name] for name in (KERNEL, PYTHON, *modules)}
    if resume and (found := finished(where, plan, sha256)):
        lane_over()
        return found
    (where / FINISHED).unlink(missing_ok=True)
    (where / "plan.json").write_text(json.dumps(plan))
    began = time.monotonic()
    run_lane(
        lab.kernel, modules, where, ["plan"], seed=specification.seed,
        wall_limit_s=wall_limit_s(specification), listener=Listener(progress=progress),
    )  # fmt: skip
    lane_over()
    lane = json.loads((where / "lane.json").read_text())
    trace_sha256, flight = digest(where, plan, lane) if plan["air"]["trace"] else (None, None)
    run = from_lane(
        plan, lane, rts=specification.rts, variant=task.variant, case=task.case, wall_s=time.monotonic() - began,
        trace_sha256=trace_sha256, in_flight=flight.means() if flight else None,
        trace=f"{where.name}/{TRACE}" if flight else None,
        tcp={name: flow.summary() for name, flow in tcp_flows(where, plan, lane).items()},
    )  # fmt: skip
    half = where / f"{FINISHED}.new"
    half.write_text(Finished(sha256=sha256, run=run).model_dump_json())
    half.rename(where / FINISHED)
    return Outcome(run, flight)


def finished(where: Path, plan: Mapping[str, Any], sha256: Mapping[str, str]) -> Outcome | None:
    """What a run of this plan with all of this has left; None if there is none, or not all of it."""
    try:
        before = Finished.model_validate_json((where / FINISHED).read_bytes())
        same = json.loads((where / "plan.json").read_bytes()) == plan and before.sha256 == sha256
    except (OSError, ValueError):  # there is none, or one of another version
        return None
    if not same or (before.run.trace and not (where / TRACE).is_file()):
        return None
    return Outcome(before.run, flight_again(where / TRACE, plan) if before.run.trace else None)


def flight_again(capture: Path, plan: Mapping[str, Any]) -> Flight:
    """The segments in flight, from the pcapng."""
    from analysis.capture import read
    from analysis.flight import in_flight
    from analysis.hops import of_observation
    from analysis.medium import Medium
    from analysis.observe import observe

    return in_flight(of_observation(observe(read(capture), Medium.of_plan(plan))))


def tcp_flows(where: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> dict[str, Flow]:
    """The course of each TCP flow of a run; empty if it was not recorded."""
    from analysis.tcp_flows import flows

    return flows(where / TCP_TRACE, plan, lane) if lane["tcp"] else {}


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


def _worker(pipe: Connection, lab: Lab, task: Task, folder: Path, resume: bool) -> None:
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
            said = "done", play(lab, task, folder, progress, lane_over, resume)
        except Exception as error:
            said = "failed", error
        pipe.send(said)


def play_all(
    lab: Lab,
    tasks: Sequence[Task],
    folder: Path,
    progress: Callable[[int, float, float], None] = lambda index, done, air_s: None,
    jobs: int | None = None,
    resume: bool = False,
) -> list[Outcome]:
    """Run all, `jobs` lanes at a time (by default one a CPU), and return their outcomes in order.

    While the trace of one run is read the next lane runs already, so that no CPU is idle; lanes have precedence.

    `progress` hears the index, the fraction done and the air time; with `resume`, runs that are finished are not run
    again. Raises what the first run to fail raised; then, and on KeyboardInterrupt, the others are ended first.
    """
    waiting = list(enumerate(tasks))[::-1]
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    lanes: set[Connection] = set()
    outcomes: dict[int, Outcome] = {}
    jobs = jobs or len(os.sched_getaffinity(0))
    lab.sha256  # noqa: B018  # once, and not in every worker
    try:
        while waiting or running:
            while waiting and len(lanes) < jobs and len(running) < 2 * jobs:
                index, task = waiting.pop()
                ours, theirs = CONTEXT.Pipe(duplex=False)
                process: BaseProcess = CONTEXT.Process(
                    target=_worker, args=(theirs, lab, task, folder, resume), daemon=True
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
    return [outcomes[index] for index in range(len(tasks))]


def _ready(running: Iterable[Connection]) -> list[Connection]:
    return [pipe for pipe in wait(list(running)) if isinstance(pipe, Connection)]
