# SPDX-License-Identifier: BSD-3-Clause
"""A sweep: many independent runs. Runs in the store are not repeated, results go to the store at once, and a failure is
recorded while the others continue. So a sweep can be interrupted at any time, and the same command continues it.

Runs with equal inputs are one run. A `Place` says where they are played: `LocalProcesses` in those of this machine,
`emulation.features.sweeps.workers` on others. Traces are deleted once a run has been read.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol

from analysis.results.result import Run
from emulation.lane.errors import Failure
from emulation.lanes.virtual.scratch import scratch
from emulation.play import traces
from emulation.play.lab import Lab
from emulation.play.player import play
from emulation.play.processes import Killed, Parent, run_all
from emulation.play.run import Task, name_of
from emulation.play.session import failures
from emulation.play.store import GONE, Store, key

UNKNOWN_COST = 1 / 500  # s per second of air and node, if nothing similar was ever run here


@dataclass(frozen=True)
class Failed:
    """Why a run failed."""

    why: str


Outcome = Run | Failed
OnDone = Callable[[int, Outcome], None]
OnProgress = Callable[[int, tuple[float, float]], None]  # for a run: the fraction done, and the air time


class Place(Protocol):
    """Where runs are played. It puts each result into the store before it calls `on_done`."""

    @property
    def jobs(self) -> int:
        """Number of runs that are played in parallel."""
        ...

    def __call__(self, lab: Lab, tasks: Sequence[Task], store: Store, on_done: OnDone, on_progress: OnProgress) -> None:
        """Play all. Raises Failure if none can be played there, or KeyboardInterrupt."""
        ...


@dataclass(frozen=True)
class LocalProcesses:
    """Processes of this machine, by default one per CPU."""

    chosen: int | None = None

    @property
    def jobs(self) -> int:
        return self.chosen or len(os.sched_getaffinity(0))

    def __call__(self, lab: Lab, tasks: Sequence[Task], store: Store, on_done: OnDone, on_progress: OnProgress) -> None:
        lab.sha256  # noqa: B018  # once, and not in every worker
        traces.load()
        calls = [partial(play_into, store, lab, task) for task in tasks]
        run_all(calls, on_progress, self.jobs, on_done=on_done, replacement=killed)


def play_into(store: Store, lab: Lab, task: Task, parent: Parent) -> Outcome:
    """Play one run in its own process, and keep its result."""
    try:
        with failures(), scratch("sweep") as folder:
            run = play(lab, without_views(task), Path(folder), lambda *far: parent.report(far), parent.give_way).run
            store.put(run)
        return run
    except (Failure, OSError, ValueError) as error:
        return Failed(str(error))


def work(task: Task) -> float:
    """Return what a run's cost is proportional to: seconds of air times nodes."""
    return task.specification.measurement.seconds * len(task.specification.network.standing().nodes)


def killed(how: Killed) -> Failed:
    return Failed(f"its process {how.how}; {how.advice}")


def without_views(task: Task) -> Task:
    """Return the run without the stations' receptions, which no result needs."""
    measured = task.specification.measurement.model_copy(update={"views": "no"})
    return replace(task, specification=task.specification.model_copy(update={"measurement": measured}))


def inputs_of(lab: Lab, task: Task) -> dict[str, str]:
    """Return the inputs of a run's trace, and drop its plan, which is made again where it is played."""
    found = lab.made_of(task.plan)
    task.forget()
    return found


class Sweep:
    """A set of runs; those in the store are in `found` from the start. `guess_s`: CPU time of one run, if known (0:
    unknown). Raises Misuse if one cannot be planned."""

    def __init__(self, lab: Lab, tasks: Sequence[Task], store: Store, guess_s: float = 0.0) -> None:
        self.lab, self.tasks, self.store, self.guess_s = lab, tasks, store, guess_s
        parts = [inputs_of(lab, task) for task in tasks]
        self.keys = [key(made_of) for made_of in parts]
        self._made_of = dict(zip(self.keys, parts, strict=True))
        self.found: dict[str, Outcome] = {}
        self.look_up()

    def look_up(self) -> None:
        """Take what is in the store by now, for example from another sweep."""
        missing = {name: of for name, of in self._made_of.items() if not isinstance(self.found.get(name), Run)}
        self.found |= {name: run for name, made_of in missing.items() if (run := self.store.get(made_of))}

    @cached_property
    def first(self) -> Mapping[str, Task]:
        """One task for each key."""
        return {name: task for name, task in zip(reversed(self.keys), reversed(self.tasks), strict=True)}

    @property
    def missing(self) -> list[Task]:
        """The tasks still to run, once each, in order."""
        return [self.first[name] for name in dict.fromkeys(self.keys) if name not in self.found]

    def estimate(self, jobs: int) -> tuple[float, int]:
        """Return the seconds that the missing runs may take with `jobs` in parallel, and for how many of them this is a
        guess, because nothing similar was ever run here. Guesses use the others' rate if there are others."""
        missing = self.missing
        costs = [(self.store.cost(task), work(task)) for task in missing]
        known_s = sum(cost for cost, _ in costs if cost is not None)
        known = sum(amount for cost, amount in costs if cost is not None)
        rate = known_s / known if known else UNKNOWN_COST
        guess_s = 0.0 if known else self.guess_s
        seconds = sum((guess_s or rate * amount) if cost is None else cost for cost, amount in costs)
        return seconds / max(1, min(jobs, len(missing))), sum(cost is None for cost, _ in costs)

    def play(self, place: Place, on_progress: OnProgress = lambda index, far: None, most: int | None = None) -> None:
        """Run the missing tasks, at most `most`, and failed ones again. `on_progress` gets indices into `missing`."""
        self.found = {name: found for name, found in self.found.items() if isinstance(found, Run)}
        names = [name for name in dict.fromkeys(self.keys) if name not in self.found][:most]
        tasks = [self.first[name] for name in names]
        taken: list[tuple[Task, Run]] = []

        def on_done(index: int, found: Outcome) -> None:
            self.found[names[index]] = found
            if isinstance(found, Run):
                taken.append((tasks[index], found))
            on_progress(index, (1.0, tasks[index].specification.measurement.seconds))

        try:
            if tasks:
                place(self.lab, tasks, self.store, on_done, on_progress)
        finally:
            if taken:
                self.store.record_costs(taken)

    @property
    def runs(self) -> list[tuple[Task, Run]]:
        """The results, under each task's own names; their traces are gone."""
        found = ((task, self.found.get(name)) for task, name in zip(self.tasks, self.keys, strict=True))
        return [
            (task, run.model_copy(update={**GONE, "variant": task.variant, "case": task.case}))
            for task, run in found if isinstance(run, Run)
        ]  # fmt: skip

    @property
    def failed(self) -> dict[str, str]:
        """The reasons of failures, by the names of runs."""
        found = ((task, self.found.get(name)) for task, name in zip(self.tasks, self.keys, strict=True))
        return {name_of(task): failed.why for task, failed in found if isinstance(failed, Failed)}
