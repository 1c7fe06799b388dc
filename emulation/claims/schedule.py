# SPDX-License-Identifier: BSD-3-Clause
"""What to run for a claim: the cases and variants that its checks name, with as many seeds as the next look wants.

A `Schedule` has a record that it adds to, and asks whoever uses it to play a sweep; what a sweep found by the time that
it was stopped is taken in all the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from analysis.claims import Claim, Sure
from emulation.claims.looks import LOOKS, MOST, next_look
from emulation.claims.record import Claims, Tested
from emulation.play.run import Task
from emulation.play.sweep import Sweep
from experiments import Study

Unit = tuple[Study, Claim]
Tasks = Callable[[Study, Collection[tuple[str, str]], Sequence[int]], list[Task]]
CROWD, OF_CPU = (
    50,
    500.0,
)  # where a study says nothing: stations of a network, and how many of these a CPU plays at once


@dataclass
class Schedule:
    """`made` is the version of what makes results now, `most` the seeds that none goes beyond."""

    claims: Claims
    made: str
    tasks_for: Tasks
    most: int = MOST

    def units(self, numbers: Iterable[str]) -> list[Unit]:
        """The studies' claims that are of these, each once."""
        found = {
            (study.name, claim.name): (study, claim) for number in numbers for study, claim in self.claims.of(number)
        }
        return list(found.values())

    def tested(self, unit: Unit) -> Tested:
        return self.claims.tested(*unit)

    def seeds(self, unit: Unit) -> set[int]:
        """Those that all of a claim's runs have, of the version that there is now."""
        study, claim = unit
        cells = {(case, variant) for case, variant, _ in claim.cells}
        return set.intersection(*(self.claims.seeds(study, *cell, self.made) for cell in cells))

    def next(self, unit: Unit) -> list[int] | None:
        """The seeds for the next look at a claim; None if it is decided, or more are not worth it."""
        there = self.seeds(unit)
        verdict = self.tested(unit).verdict if there else None
        look = next_look(verdict.findings if verdict else [], len(there), self.most)
        if look is None:
            return None
        more = (seed for seed in itertools.count(1) if seed not in there)
        return sorted([*there, *itertools.islice(more, look - len(there))])

    def tasks(self, unit: Unit, seeds: Sequence[int]) -> list[Task]:
        """The runs that are missing for a claim with these seeds."""
        study, claim = unit
        found: list[Task] = []
        missing: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        for case, variant in dict.fromkeys((case, variant) for case, variant, _ in claim.cells):
            there = self.claims.seeds(study, case, variant, self.made)
            missing.setdefault(tuple(seed for seed in seeds if seed not in there), []).append((case, variant))
        for lacking, cells in missing.items():
            found += self.tasks_for(study, cells, lacking) if lacking else []
        return found

    def take(self, study: Study, sweep: Sweep) -> None:
        """Take in what was found."""
        for _, run in sweep.runs:
            self.claims.add(study, run, self.made)

    def weight(self, unit: Unit) -> tuple[bool, float, float]:
        """The lower, the sooner: those that were never run, then those of which most is open; and of these what costs
        least, by seconds of air and stations."""
        study, claim = unit
        verdict = self.tested(unit).verdict if self.seeds(unit) else None
        findings = verdict.findings if verdict else []
        open_ = sum(finding.decided is Sure.OPEN for finding in findings) / max(len(findings), 1)
        cells = {(case, variant) for case, variant, _ in claim.cells}
        options = [{**study.options, **study.cases[case], **study.variants[variant]} for case, variant in cells]
        guess = sum(float(str(each.get("seconds", 120))) * float(str(each.get("stations", CROWD))) for each in options)
        cost = len(cells) * study.core_s or guess / OF_CPU
        return bool(findings), -open_, cost * (len(LOOKS) if findings else 1)
