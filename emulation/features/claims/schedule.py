# SPDX-License-Identifier: BSD-3-Clause
"""The runs that a claim needs: the cases and variants that its checks name, with the seeds of the next look.

The claim that is expected to be decided with the least CPU time comes first. A `Schedule` adds results to its record.
Its caller plays the sweeps; the results of an interrupted one count, too."""

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import experiments
from analysis.tables.claims import Decision
from analysis.tables.verdicts import Verdict, no_effect
from emulation.features.claims.causes import COMES_OUT, Unit, changes, decisive
from emulation.features.claims.looks import CERTAIN, MOST, deciding_look, next_look
from emulation.features.claims.noise import hidden_in_noise
from emulation.features.claims.record import Claims, Tested
from emulation.features.sweeps.sweep import Sweep
from emulation.play.run import Task
from experiments import Column, Study

Tasks = Callable[[Study, Collection[tuple[str, str]], Sequence[int]], list[Task]]
CROWD, OF_CPU = 50, 500.0  # defaults: stations of a network, and how many a CPU plays in real time


class Rank(Enum):
    """What a look is for. What comes first is looked at first."""

    VERDICT = 0  # a claim that is open
    UNLIKELY = 1  # the same, where a part is likely to stay open, or a cause is sought that is not named
    NUMBER = 2  # numbers of a claim whose findings hold, or a simpler cause of those that do not
    CONTROL = 3


@dataclass
class Schedule:
    """`made` is the current version of what makes results, and `most` the limit of seeds."""

    claims: Claims
    made: str
    tasks_for: Tasks
    most: int = MOST

    def units(self, numbers: Iterable[str]) -> list[Unit]:
        """Return the studies' claims that test these, each once, and those that show a cause if one is needed."""
        found: dict[tuple[str, str], Unit] = {}
        for number in numbers:
            units = self.claims.of(number)
            for column in (Column.PUBLISHED, Column.TODAY):
                units = units + self.causes(number, column)
            found |= {key(unit): unit for unit in units}
        return list(found.values())

    def causes(self, number: str, column: Column) -> list[Unit]:
        """Return what shows the cause of a claim that does not hold: the studies with each change, up to the first
        under which it holds, or that was not tested yet."""
        if self.claims.verdict([self.tested(unit) for unit in self.claims.of(number, column)]) is not Verdict.NOT:
            return []
        found: list[Unit] = []
        for change in changes(self.claims, number, column):
            found += change.units
            verdict = self.claims.verdict([self.tested(unit) for unit in change.units])
            if verdict in COMES_OUT or (verdict is Verdict.OPEN and any(map(self.next, change.units))):
                break
        return found

    def tested(self, unit: Unit) -> Tested:
        return self.claims.tested(*unit)

    def seeds(self, unit: Unit) -> set[int]:
        """Return the seeds that all of a claim's runs have, in the current version."""
        return set.intersection(*(self.claims.seeds(unit[0], *cell, self.made) for cell in cells(unit)))

    def next(self, unit: Unit) -> list[int] | None:
        """Return the seeds for the next look at a claim; None if it is decided, or more are not worth it."""
        there = self.seeds(unit)
        outcome = self.tested(unit).outcome if there else None
        look = next_look(outcome.found if outcome else [], len(there), self.most)
        if look is None:
            return None
        more = (seed for seed in itertools.count(1) if seed not in there)
        return sorted([*there, *itertools.islice(more, look - len(there))])

    def left(self, units: Iterable[Unit]) -> int:
        """Return how many runs are missing for all looks at these claims, if they stay open to the last."""
        found = {(unit[0].name, cell): unit[0] for unit in units for cell in cells(unit)}
        there = (len(self.claims.seeds(study, *cell, self.made)) for (_, cell), study in found.items())
        return sum(max(self.most - seeds, 0) for seeds in there)

    def tasks(self, unit: Unit, seeds: Sequence[int]) -> list[Task]:
        """Return the missing runs of a claim with these seeds."""
        found: list[Task] = []
        missing: dict[tuple[int, ...], list[tuple[str, str]]] = {}
        for cell in cells(unit):
            there = self.claims.seeds(unit[0], *cell, self.made)
            missing.setdefault(tuple(seed for seed in seeds if seed not in there), []).append(cell)
        for lacking, some in missing.items():
            found += self.tasks_for(unit[0], some, lacking) if lacking else []
        return found

    def take(self, study: Study, sweep: Sweep) -> None:
        for _, run in sweep.runs:
            self.claims.add(study, run, self.made)

    def take_plans(self, study: Study, tasks: Iterable[Task]) -> None:
        """Add numbers that follow from the tasks' plans alone."""
        for task in tasks:
            values = {path: of(task) for path, of in study.reckoned.items()}
            self.claims.put(study, (task.case, task.variant), task.seed, values.__getitem__, self.made)

    def first(self, left_out: Collection[tuple[str, str]]) -> Unit | None:
        """The study's claim to look at next, of those that are not left out: where a verdict costs least. None if more
        seeds are worth it nowhere."""
        found: list[tuple[Rank, float, Unit]] = []
        for number in experiments.numbered():
            for column in Column:
                rank, units = self.wanted(number, column)
                costs = {key(unit): self.decision_s(unit) for unit in units if key(unit) not in left_out}
                if costs:
                    cheapest = min((unit for unit in units if key(unit) in costs), key=lambda unit: costs[key(unit)])
                    found.append((rank, sum(costs.values()), cheapest))
        return min(found, key=lambda one: (one[0].value, one[1]))[2] if found else None

    def ahead(self, numbers: Iterable[str]) -> list[Unit]:
        """Return the studies' claims, each once, whose next look may change what is said of these."""
        wanted = (unit for number in numbers for column in Column for unit in self.wanted(number, column)[1])
        return list({key(unit): unit for unit in wanted}.values())

    def wanted(self, number: str, column: Column) -> tuple[Rank, list[Unit]]:
        """The studies' claims whose next look may change a claim's verdict under a column."""
        units = self.claims.of(number, column)
        tested = [self.tested(unit) for unit in units]
        verdict = self.claims.verdict(tested)
        if column is Column.CONTROL:
            return Rank.CONTROL, list(filter(self.next, units))
        if verdict is Verdict.NOT:
            rank = Rank.VERDICT if experiments.numbered()[number].cause(column) else Rank.UNLIKELY
            whole = no_effect([one.outcome for one in tested if one.outcome])
            if whole or decisive(self.claims, changes(self.claims, number, column)):
                rank = Rank.NUMBER
            return rank, list(filter(self.next, self.causes(number, column)))
        if verdict is not Verdict.OPEN:
            return Rank.NUMBER, list(filter(self.next, units))
        open_ = [unit for unit, one in zip(units, tested, strict=True) if not one.outcome or
                 any(found.finding is Decision.OPEN for found in one.outcome.found)]  # fmt: skip
        ahead = list(filter(self.next, open_))
        if hidden_in_noise(tested, list(map(self.tested, self.claims.of(number, Column.PUBLISHED)))):
            return Rank.NUMBER, ahead
        likely = len(ahead) == len(open_) and all(self.decided_at(unit) for unit in open_)
        return Rank.VERDICT if likely else Rank.UNLIKELY, ahead

    def decided_at(self, unit: Unit) -> int | None:
        """Return the number of seeds that may decide its findings; None if they are more than `most`. Without runs it
        is the paper's number of runs, or the first look; few seeds say little of how many are needed."""
        there, outcome = len(self.seeds(unit)), self.tested(unit).outcome
        if there and outcome:
            look = deciding_look(outcome.found, there, self.most)
            return look or (self.most if there < CERTAIN else None)
        first = len(self.next(unit) or [])
        return max(first, min((unit[0].repetition or (0.0, 0))[1], self.most))

    def decision_s(self, unit: Unit) -> float:
        """Estimate the CPU time after which it may be decided."""
        seeds = self.decided_at(unit) or self.most
        return sum(
            guess_s(unit[0], [cell]) * max(seeds - len(self.claims.seeds(unit[0], *cell, self.made)), 0)
            for cell in cells(unit)
        )  # fmt: skip

    def plan(self) -> list[tuple[Rank, float, str, Column]]:
        """Return the claims without a verdict whose runs are worth it, and the CPU time that is expected to decide
        each, in the order in which they are played."""
        found = [
            (rank, sum(map(self.decision_s, units)), number, column)
            for number in experiments.numbered() for column in (Column.PUBLISHED, Column.TODAY)
            for rank, units in [self.wanted(number, column)] if units and rank in (Rank.VERDICT, Rank.UNLIKELY)
        ]  # fmt: skip
        return sorted(found, key=lambda one: (one[0].value, one[1]))

    def cost_s(self, units: Iterable[Unit]) -> float:
        """Estimate the CPU time of the next look at these, from their studies and sizes."""
        runs = {
            (unit[0].name, cell, seed): unit[0]
            for unit in units if (seeds := self.next(unit))
            for cell in cells(unit) for seed in set(seeds) - self.claims.seeds(unit[0], *cell, self.made)
        }  # fmt: skip
        return sum(guess_s(study, [cell]) for (_, cell, _), study in runs.items())


def key(unit: Unit) -> tuple[str, str]:
    return unit[0].name, unit[1].name


def cells(unit: Unit) -> list[tuple[str, str]]:
    """Return the cases and variants that a claim's checks name."""
    return list(dict.fromkeys((case, variant) for case, variant, _ in unit[1].cells))


def guess_s(study: Study, some: Sequence[tuple[str, str]]) -> float:
    """Estimate the CPU time of one run of each of these cases and variants."""
    if study.core_s:
        return study.core_s * len(some)
    options = [{**study.options, **study.cases[case], **study.variants[variant]} for case, variant in some]
    return sum(float(str(of.get("seconds", 120))) * float(str(of.get("stations", CROWD))) for of in options) / OF_CPU
