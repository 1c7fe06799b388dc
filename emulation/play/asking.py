# SPDX-License-Identifier: BSD-3-Clause
"""From what a user asks for to tasks: options become specifications, and each task is planned once, where that is
first asked for. What cannot be is said before anything is played, of a study once for all seeds.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emulation.lane.errors import Misuse
from emulation.plan.advice import advice
from emulation.plan.errors import refusals
from emulation.play.run import Task
from emulation.play.session import check_programs
from emulation.setup.errors import say
from emulation.specification import Specification, explain, specify
from topologies import Network

if TYPE_CHECKING:
    from experiments import Study


def asked_for(what: str | Network, given: Mapping[str, Any]) -> Specification:
    """The specification of a topology, or of a network, and the options that were given. Raises ValueError."""
    return specify(what, {name: value for name, value in given.items() if value is not None})


def task_for(what: str | Network, given: Mapping[str, Any], variant: str | None = None, case: str = "") -> Task:
    """A run of it, `checked`; its variant is its use of RTS, if it is not of a study."""
    with misuse():
        asked = asked_for(what, given)
    return checked(Task(asked, asked.radio.rts if variant is None else variant, case))


def checked(task: Task) -> Task:
    """The same, planned. Raises Misuse, which says what is wrong with it; and Failure, if a program that it needs is
    not there. What is dubious about it is said."""
    with misuse():
        check_programs(task.plan)
    for sentence in advice(task.plan):
        warn(sentence)
    return task


@contextlib.contextmanager
def misuse() -> Iterator[None]:
    """What a specification refuses, or its plan, a line each."""
    try:
        yield
    except ValueError as error:
        raise Misuse("\n       ".join(explain(error))) from None


@functools.cache
def warn(sentence: str) -> None:
    """Say it once, however many runs it is true of."""
    say(f"warning: {sentence}")


def tasks_of(
    study: Study, seeds: Sequence[int], given: Mapping[str, Any], cases: Sequence[str] = (),
    variants: Sequence[str] = (), what: str | Network = "",
) -> list[Task]:  # fmt: skip
    """The runs of a study, or of some of its cases and variants, with what the user gave. Raises Misuse, Failure."""
    all_ = itertools.product(study.cases, study.variants)
    wanted = [(c, v) for c, v in all_ if c in (cases or study.cases) and v in (variants or study.variants)]
    return tasks_for(study, wanted, seeds, given, what)


def tasks_for(
    study: Study, wanted: Iterable[tuple[str, str]], seeds: Sequence[int], given: Mapping[str, Any],
    what: str | Network = "",
) -> list[Task]:  # fmt: skip
    """The same of some cases and variants, each a pair; those of the first seed are `checked`. Raises Misuse, which
    says of a study of the user's own where it is, Failure."""

    def made(case: str, variant: str, user: Mapping[str, Any]) -> Task:
        options = {**study.options, **user, **study.cases[case], **study.variants[variant], "seed": seeds[0]}
        return task_for(what or study.topology, options, variant, case)

    first = []
    for pair in wanted:
        try:
            first.append(made(*pair, given))
        except Misuse:
            if study.place:
                with refusals(study.place):
                    made(*pair, {})
            raise
    return [*first, *under(seeds[1:], first)]


def under(seeds: Iterable[int], tasks: Iterable[Task]) -> list[Task]:
    """The same under each of these seeds."""
    return [Task(task.specification.with_seed(seed), task.variant, task.case) for seed in seeds for task in tasks]
