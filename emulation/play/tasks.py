# SPDX-License-Identifier: BSD-3-Clause
"""Turn what a user asks for into tasks. Options become specifications, and each task is planned once, on first use.
Errors are reported before anything is played; for a study, once for all seeds.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emulation.lane.errors import Misuse
from emulation.plan.advice import advice
from emulation.plan.checks import as_misuse
from emulation.play.run import Task
from emulation.play.session import check_programs
from emulation.setup.errors import say
from emulation.specification import Specification, explain, flatten, specify, unflatten
from topologies import Network
from topologies.files import NOBODY, Trust

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.results.result import Result
    from experiments import Study


def specification_for(what: str | Network, given: Mapping[str, Any]) -> Specification:
    """Return the specification of a topology or network with the given options. Raises ValueError if it is invalid."""
    return specify(what, {name: value for name, value in given.items() if value is not None})


def task_for(what: str | Network, given: Mapping[str, Any], variant: str | None = None, case: str = "") -> Task:
    """Return a checked task. Its variant is by default its use of RTS. Raises as `check_task` does."""
    with misuse():
        specification = specification_for(what, given)
    return check_task(Task(specification, specification.radio.rts if variant is None else variant, case))


def check_task(task: Task) -> Task:
    """Plan a task, and return it. Print warnings about it. Raises Misuse, which says what is wrong with it, or Failure
    if a program that it needs is missing."""
    with misuse():
        check_programs(task.plan)
    for sentence in advice(task.plan):
        warn(sentence)
    return task


@contextlib.contextmanager
def misuse() -> Iterator[None]:
    """Turn the ValueError of a specification or plan into Misuse, with one line per error."""
    try:
        yield
    except ValueError as error:
        raise Misuse("\n       ".join(explain(error))) from None


@functools.cache
def warn(sentence: str) -> None:
    """Print a warning once, even if it applies to many runs."""
    say(f"warning: {sentence}")


def tasks_of(
    study: Study, seeds: Sequence[int], given: Mapping[str, Any], cases: Sequence[str] = (),
    variants: Sequence[str] = (), what: str | Network = "",
) -> list[Task]:  # fmt: skip
    """Return the runs of a study, or of some of its cases and variants, with the user's options. Raises Misuse or
    Failure."""
    all_ = itertools.product(study.cases, study.variants)
    wanted = [(c, v) for c, v in all_ if c in (cases or study.cases) and v in (variants or study.variants)]
    return tasks_for(study, wanted, seeds, given, what)


def tasks_for(
    study: Study, wanted: Iterable[tuple[str, str]], seeds: Sequence[int], given: Mapping[str, Any],
    what: str | Network = "",
) -> list[Task]:  # fmt: skip
    """Return the runs of these pairs of case and variant, with the user's options. The tasks of the first seed are
    checked. Raises Misuse, which for a user's own study names its place, or Failure."""

    def made(case: str, variant: str, user: Mapping[str, Any]) -> Task:
        options = {**study.options, **user, **study.cases[case], **study.variants[variant], "seed": seeds[0]}
        return task_for(what or study.topology, options, variant, case)

    first = []
    for pair in wanted:
        try:
            first.append(made(*pair, given))
        except Misuse:
            if study.place:
                with as_misuse(study.place):
                    made(*pair, {})
            raise
    return [*first, *for_seeds(seeds[1:], first)]


def for_seeds(seeds: Iterable[int], tasks: Iterable[Task]) -> list[Task]:
    """Return these tasks, under each of these seeds."""
    return [Task(task.specification.with_seed(seed), task.variant, task.case) for seed in seeds for task in tasks]


def tasks_again(before: Result, folder: Path, trust: Trust = NOBODY) -> list[Task]:
    """Return the tasks of these runs. Raises Misuse if there are none, or they name programs that are not trusted."""
    if not before.runs:
        raise Misuse(f"{folder}/result.json has no runs: there is nothing to replay")
    try:
        common = flatten(Specification.model_validate(before.specification, context=trust))
        return [Task(unflatten({**common, **run.changes}, trust), run.variant, run.case) for run in before.runs]
    except ValueError as error:
        raise Misuse(f"{folder}/result.json: {explain(error)[0]}") from None
