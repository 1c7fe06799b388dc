# SPDX-License-Identifier: BSD-3-Clause
"""The bench plays the runs that claims need: of some claims until they are decided, or of all while there is time. It
keeps what is done when it is stopped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import experiments
from emulation import lanes
from emulation.features.claims.causes import Unit
from emulation.features.claims.page import file
from emulation.features.claims.record import Claims, made_now
from emulation.features.claims.schedule import Schedule, key
from emulation.features.sweeps.playing import play
from emulation.features.sweeps.sweep import Place, Sweep
from emulation.play.progress import duration
from emulation.play.session import provide
from emulation.play.store import Store
from emulation.play.tasks import tasks_for
from emulation.setup.errors import say

tasks = partial(tasks_for, given={})


class TimeUp(Exception):
    """The time is up."""


class Bench:
    """Plays the runs of a schedule, and files their results."""

    def __init__(
        self, claims: Claims, place: Place, store: Store, most: int, write: bool, budget_s: float | None
    ) -> None:
        self.lab = provide(folders=folders(), lane=lanes.find(lanes.DEFAULT))
        name, made = made_now(self.lab.release or "")
        claims.record.made[name] = made
        self.schedule = Schedule(claims, name, tasks, most)
        self.claims, self.place, self.store, self.write = claims, place, store, write
        self.until = None if budget_s is None else time.monotonic() + budget_s
        self.failed: dict[str, str] = {}

    def named(self, numbers: Sequence[str], seeds: list[int] | None) -> None:
        """Look at these claims until they are decided or more seeds are not worth it; or once, with these seeds. A
        result may require more runs, to show a cause."""
        looked: set[tuple[str, str]] = set()
        while not self.failed:
            if seeds:
                units = [unit for unit in self.schedule.units(numbers) if key(unit) not in looked]
            else:
                units = self.schedule.ahead(numbers)
            if not (todo := [(unit, seeds or self.schedule.next(unit) or []) for unit in units]):
                break
            looked |= {key(unit) for unit, _ in todo}
            by_study = {study: [pair for pair in todo if pair[0][0].name == study]
                        for study in dict.fromkeys(study.name for (study, _), _ in todo)}  # fmt: skip
            planned = [(some, self.sweep(some)) for some in by_study.values()]
            self.announce([sweep for _, sweep in planned if sweep], 0 if seeds else self.schedule.left(units))
            for some, sweep in planned:
                self.run(some, sweep)

    def all(self) -> None:
        """Test all claims while there is time, the cheapest verdicts first."""
        left = self.schedule.units(experiments.numbered())
        seconds = self.schedule.cost_s(left) / max(self.place.jobs, 1)
        say(f"one more test of all undecided claims takes about {duration(seconds)}, by estimate")
        left_out: set[tuple[str, str]] = set()
        try:
            while unit := self.schedule.first(left_out):
                seeds = self.schedule.next(unit)
                if not seeds or not self.run([(unit, seeds)]):
                    left_out.add(key(unit))
        except TimeUp:
            say("the time is up; run the same command to continue")

    def announce(self, sweeps: Sequence[Sweep], most: int) -> None:
        """Print how many runs a look needs, and how long they take; and how many all later looks need at `most`."""
        missing = sum(len(sweep.missing) for sweep in sweeps)
        if not missing or (len(sweeps) < 2 and most <= missing):
            return
        found = [sweep.estimate(self.place.jobs) for sweep in sweeps]
        guessed, seconds = sum(guessed for _, guessed in found), sum(seconds for seconds, _ in found)
        of = f" of {len(sweeps)} studies" * (len(sweeps) > 1)
        what = f", by estimate: nothing like {guessed:,} of them was run here before" if guessed else ""
        more = (f". What they leave open is looked at again, with up to {self.schedule.most} seeds: {most:,} runs in "
                f"all, about {duration(seconds * most / missing)}, at most") * (most > missing)  # fmt: skip
        say(f"{missing:,} runs{of} to do: about {duration(seconds)}{what}{more}")

    def sweep(self, wanted: Sequence[tuple[Unit, list[int]]]) -> Sweep | None:
        """Return the runs that a study needs for these claims and seeds; None if none are missing, or nothing is
        played."""
        found = [task for unit, seeds in wanted for task in self.schedule.tasks(unit, seeds)]
        tasks = list({(task.case, task.variant, task.seed): task for task in found}.values())
        if (study := wanted[0][0][0]).reckoned:
            self.schedule.take_plans(study, tasks)
            if self.write:
                file(self.claims)
            return None
        return Sweep(self.lab, tasks, self.store, study.core_s) if tasks else None

    def run(self, wanted: Sequence[tuple[Unit, list[int]]], planned: Sweep | None = None) -> bool:
        """Play the missing runs of a study for these claims and seeds, or the `planned` ones, and add their results
        even if interrupted. Leave out what does not fit into the time. Return whether all runs succeeded."""
        study, sweep = wanted[0][0][0], planned or self.sweep(wanted)
        if sweep is None:
            return True
        if planned:
            sweep.look_up()  # studies of both columns may have runs in common
        if self.until is not None:
            if (left := self.until - time.monotonic()) <= 0:
                raise TimeUp
            if sweep.estimate(self.place.jobs)[0] > left:
                return False
        names = ", ".join(claim.name for (_, claim), _ in wanted)
        say(f"{study.name}: {names}: {max(len(seeds) for _, seeds in wanted)} seeds")
        try:
            play(sweep, self.place, self.check)
        finally:
            self.schedule.take(study, sweep)
            if self.write:
                file(self.claims)
        self.failed |= {f"{study.name}, {name}": why for name, why in sweep.failed.items()}
        return not sweep.failed

    def check(self) -> None:
        """Raises TimeUp."""
        if self.until is not None and time.monotonic() > self.until:
            raise TimeUp


def folders() -> list[str]:
    """Return the folders of the modules that named causes need."""
    causes = [cause for said in experiments.numbered().values() for cause in said.causes]
    return sorted(
        {str(lanes.CHECKOUT / str(cause.options["modules"])) for cause in causes if "modules" in cause.options}
    )
