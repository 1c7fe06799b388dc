# SPDX-License-Identifier: BSD-3-Clause
"""Play runs: each specification becomes a plan, the plan is played in its own lane, and its output becomes a `Run`. The
Run is kept as `run.json`, so that a sweep can be interrupted and continued.

Lanes are independent, so as many run in parallel as there are CPUs. Each has a worker that boots it, waits for it and
reads its trace. If either of the two is killed, the other ends too.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from analysis.results.names import LANE, PLAN
from emulation import files, lanes
from emulation.lanes import Listener
from emulation.lanes.virtual.ownership import take_back
from emulation.play import traces
from emulation.play.lab import Lab
from emulation.play.processes import Killed, Parent, SideBySide, run_all
from emulation.play.run import FINISHED, Outcome, Task, name_of
from emulation.specification import Specification


def wall_limit_s(specification: Specification) -> float:
    """Return the wall time after which a run counts as hung: every lab should reach a fifth of real time."""
    return 120 + 5 * specification.measurement.seconds


def load() -> None:
    """Load what makes results from a lane's output; this takes as long as booting a lane."""
    from emulation.play import finished  # noqa: F401

    traces.load()


def play(
    lab: Lab, task: Task, folder: Path, progress: Callable[[float, float], None] = lambda done, air_s: None,
    lane_over: Callable[[], None] = lambda: None, resume: bool = False,
) -> Outcome:  # fmt: skip
    """Run one task in `folder`/NAME and return what it found.

    `progress` is called with the fraction done and the air time in seconds. `lane_over` is called when only the end of
    the trace is left to read. `resume` reuses what a run of the same plan in the same lab left. Raises LaneError if the
    run fails or its output cannot be read, Misuse if the specification cannot be planned, OSError if the folder cannot
    be written.
    """
    plan, where = task.plan, folder / name_of(task)
    where.mkdir(parents=True, exist_ok=True)
    take_back(where)  # from a run that was killed
    made_of = lab.made_of(plan)
    if resume:
        from emulation.play.finished import load_finished

        if found := load_finished(where, plan, made_of, task.specification.measurement.views):
            progress(1.0, found.run.air_s)
            lane_over()
            return found
    for earlier in (FINISHED, LANE):
        (where / earlier).unlink(missing_ok=True)
    files.write(where / PLAN, json.dumps(plan))
    began = time.monotonic()
    with traces.TraceConverter(where, plan, task.specification.measurement.most_views) as converter:

        def started() -> None:
            progress(0.0, 0.0)
            load()

        def heard(done: float, air_s: float) -> None:
            progress(done, air_s)
            with traces.reading_lane(where):
                converter.progress()

        ended = lanes.run(
            lab.lane, lab.kernel, lab.select_modules(plan["modules"]), where, ["plan"], seed=plan["seed"],
            wall_limit_s=wall_limit_s(task.specification), listener=Listener(progress=heard, started=started),
            plugins=[Path(own) for own in plan["plugins"]], **lanes.memory_arguments(plan),
        )  # fmt: skip
        lane_over()
        from emulation.play.finished import finish_run

        with traces.reading_lane(where):
            return finish_run(converter, made_of, task, lambda: time.monotonic() - began, ended, lab.lane)


def play_all(
    lab: Lab, tasks: Sequence[Task], folder: Path,
    progress: Callable[[int, float, float], None] = lambda index, done, air_s: None, jobs: int | None = None,
    resume: bool = False, side_by_side: SideBySide = run_all,
) -> list[Outcome]:  # fmt: skip
    """Run all tasks, `jobs` lanes at a time (by default one per CPU), and return their outcomes in order.

    While the trace of a run is read, the next lane already runs, so no CPU is idle; lanes have priority.

    `progress` is called with the index, the fraction done and the air time. With `resume`, finished runs are not
    repeated. `side_by_side` makes the calls: in processes of this machine, or elsewhere if `folder` is shared. Raises
    what the first failing run raised. Before that, and on KeyboardInterrupt, it ends the others.
    """
    lab.sha256  # noqa: B018  # once, and not in every worker
    if len(tasks) > 1:
        load()  # likewise; a single task's worker loads it while the lane boots
    calls = [partial(_play, lab, task, folder, resume) for task in tasks]
    try:
        return side_by_side(calls, lambda index, said: progress(index, *said), jobs)
    except Killed as killed:
        which = f"run {name_of(tasks[killed.index])}" if killed.index is not None else "a run"
        raise ChildProcessError(
            f"the process of {which} {killed.how}; {killed.advice}; add --resume to continue"
        ) from None


def _play(lab: Lab, task: Task, folder: Path, resume: bool, parent: Parent) -> Outcome:
    outcome = play(lab, task, folder, lambda *said: parent.report(said), parent.give_way, resume)
    parent.report((1.0, outcome.run.air_s))
    return outcome
