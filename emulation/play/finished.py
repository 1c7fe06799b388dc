# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a finished run: a `Run` in `run.json`, made from what its lane left.

Importing this takes as long as a lane takes to boot, so it is imported while lanes run (`play.player.load`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from analysis.results.names import PLAN
from analysis.results.result import Run, from_lane
from analysis.results.shapes import read_lane
from analysis.results.timing import timing
from emulation import files, lanes
from emulation.lanes import Clock, Lane, LaneError, LaneResult, Reason
from emulation.play import traces
from emulation.play.run import FINISHED, Outcome, Task


class Finished(BaseModel):
    """`run.json`: what a run found. It is written last, so an interrupted run has none."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[3] = 3
    run: Run


def finish_run(
    converter: traces.TraceConverter, made_of: Mapping[str, str], task: Task, wall_s: Callable[[], float],
    ended: LaneResult, in_lane: Lane,
) -> Outcome:  # fmt: skip
    """Convert what the lane left into what is kept. `wall_s` returns the real time so far, reading included. Raises
    LaneError if it left no results, the trace is incomplete, or the lane did not keep time and that is not allowed."""
    where, plan = converter.where, converter.plan
    try:
        lane = read_lane(where, plan)
    except FileNotFoundError:
        raise LaneError(
            Reason.PROGRAM,
            f"it ended with status {ended.status} before it wrote lane.json, which has the results. If a "
            "plug-in or a lane of yours ends it, raise an error there, which says why",
        ) from None
    traces.check_complete(lane)
    kept_time = timing(lane, lanes.clock(in_lane) is Clock.REAL, ended.waited_s)
    if kept_time and not kept_time.valid and not lanes.allows_late(in_lane):
        raise LaneError(Reason.LATE, f"{'; '.join(kept_time.invalid)}. Use --allow-late to keep such a run")
    kept = converter.finish()
    traces.pack(where, lane)
    tcp = traces.tcp_flows(where, plan, lane)
    routing = traces.routing(where, plan, lane, kept.seen if kept else traces.NOTHING)
    run = from_lane(
        plan, lane, made_of=made_of, variant=task.variant, case=task.case, wall_s=wall_s(),
        trace=f"{where.name}/{traces.TRACE}" if kept else None, trace_sha256=kept.trace_sha256 if kept else None,
        views=f"{where.name}/{traces.VIEWS}" if kept and kept.views_sha256 else None,
        views_sha256=kept.views_sha256 if kept else None,
        in_flight=kept.flight.means() if kept and kept.flight else None, same_slot=kept.same_slot if kept else None,
        aggregates=kept.aggregates if kept else None,
        tcp={name: flow.summary() for name, flow in tcp.items()}, routing=routing.summary if routing else None,
        route=routing.flow_summaries(tcp) if routing else None, repeatable=ended.repeatable, timing=kept_time,
    )  # fmt: skip
    half = where / f"{FINISHED}.new"
    files.write(half, Finished(run=run).model_dump_json())
    half.rename(where / FINISHED)
    return Outcome(run, kept.flight if kept else None, routing.for_figures() if routing else None)


def load_finished(where: Path, plan: Mapping[str, Any], made_of: Mapping[str, str], views: str) -> Outcome | None:
    """Return what an earlier run of this plan, made of the same, left; None if it is missing or incomplete. `views`:
    "yes" requires what stations received."""
    try:
        before = Finished.model_validate(files.read_json(where / FINISHED)).run
        same = files.read_json(where / PLAN) == plan and before.made_of == made_of
    except (OSError, ValueError):  # missing, or of another version
        return None
    wanted = [where.parent / name for name in (before.trace, before.views) if name]
    if not same or (before.trace and views == "yes" and not before.views) or not all(map(Path.is_file, wanted)):
        return None
    try:
        with traces.reading_lane(where):
            return Outcome(before, traces.reread_flight(where, plan) if before.in_flight else None)
    except LaneError:  # its trace is damaged
        return None
