# SPDX-License-Identifier: BSD-3-Clause
"""`run STUDY`: its options are those of the specification that the study does not vary."""

from __future__ import annotations

import itertools
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click

import experiments
from analysis.results.names import REPORT
from analysis.tables.table import conditions
from emulation.cli import vary as varying
from emulation.cli.command import Command, Seeds
from emulation.cli.options import options_of, specification_of
from emulation.cli.playing import asked, finished, folder_for, load_reporting, of_runs, say_speed, to_continue
from emulation.cli.reporting import draw, findings_of, over_time, report_of, said_of
from emulation.lanes import Lane
from emulation.plan.errors import refusals
from emulation.play.drawing import artist
from emulation.play.run import Outcome, Task
from emulation.play.session import finish, play_with_progress, provide_for
from emulation.play.store import Store
from emulation.specification import Specification
from experiments import Study
from topologies import Network

MOST_NAMES = 12  # of cases, in a line for people


class Names(click.ParamType[list[str], str]):
    """A name of these, or a pattern (`4-*`) of some."""

    name = "name"

    def __init__(self, there: Collection[str]) -> None:
        self.there = list(there)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        found = [name for name in self.there if name == value or fnmatchcase(name, value)]
        near = sorted(self.there, key=lambda name: -SequenceMatcher(None, name, value).ratio())
        return found or self.fail(f"there is no {value!r}; there are: {', '.join(some_of(near))}", param, ctx)


def _all_of(ctx: click.Context, parameter: click.Parameter, found: Iterable[list[str]]) -> tuple[str, ...]:
    """Each once, in their order."""
    return tuple(dict.fromkeys(name for names in found for name in names))


def some_of(names: Collection[str]) -> list[str]:
    """As many of these names as a line or two have room for."""
    return list(names) if len(names) <= MOST_NAMES else [*list(names)[: MOST_NAMES - 1], "…", list(names)[-1]]


def cost(study: Study) -> str:
    """What a study costs as it is, and as large as it was published. Empty if nobody has measured that."""
    if not study.core_s:
        return ""
    each, seeds = len(study.cases) * len(study.variants), Seeds().convert(study.seeds, None, None)
    words = [f"{each * len(seeds):,} runs, about {_hours(each * len(seeds) * study.core_s)} of one core."]
    if study.repetition:
        seconds, count = study.repetition
        core_s = each * count * study.core_s * seconds / float(str(study.options["seconds"]))
        words.append(
            f"As large as published, --seconds {seconds:g} --seeds 1..{count}: {each * count:,}, {_hours(core_s)}."
        )
    return " ".join(words)


def _hours(seconds: float) -> str:
    """For people, to two figures or so."""
    if seconds < 5400:
        return f"{max(seconds / 60, 1):.0f} min"
    return f"{seconds / 3600:.{1 if seconds < 36000 else 0}f} h"


def picks(study: Study) -> list[click.Option]:
    """Options that take some of its variants and cases."""
    of = [("--variant", "only_variants", "only this one, or several by repeating it or by '*'", study.variants)]
    of += [("--case", "only_cases", "the same of cases", study.cases)] if len(study.cases) > 1 else []
    return [click.Option([flag, name], type=Names(there), multiple=True, callback=_all_of,
                         help=f"{what}: {'|'.join(some_of(there))}  [default: all]")
            for flag, name, what, there in of]  # fmt: skip


def command(name: str) -> click.Command:
    """The command of a study, by its name or in a file of the user's own. Raises ValueError."""
    study = experiments.find(name)
    for option in (*study.options, *study.varied) if study.place else ():
        varying.check(study.topology, option, study.place)
    options = [option for option in options_of(study.topology, study.options) if option.name not in study.varied]
    params = [*options, *of_runs(study.seeds, study.lane), *picks(study)]
    examples = [f"run {name}", f"run {name} --seeds 1..5 --seconds 300",
                f"run {name} --variant {shlex.quote(next(iter(study.variants)))} --json"]  # fmt: skip
    return Command(name, examples, params=params, callback=partial(run, study),
                   help="\n\n".join(filter(None, (study.title, cost(study)))))  # fmt: skip


def run(
    study: Study, *, seeds: list[int], out: Path | None, resume: Path | None, as_json: bool, jobs: int | None,
    formats: Sequence[str], lane: Lane, only_variants: tuple[str, ...] = (),
    only_cases: tuple[str, ...] = (), network: Network | None = None, usual: Mapping[str, Any] = MappingProxyType({}),
    **given: Any,
) -> None:  # fmt: skip
    """Run a study with what the user gave; print its tables, and draw its figures. Of a `network` that comes from no
    topology, with the options that are `usual` for it. Raises Misuse, Failure."""
    more, given = asked(given), {option: value for option, value in given.items() if value is not None}
    what = network or study.topology
    tasks = tasks_of(study, seeds, {**usual, **given}, only_cases, only_variants, what)
    base = specification_of(what, {**usual, **study.options, **given})
    for part in more:
        part.check(tasks)
    lab = provide_for(tasks, lane)
    folder = folder_for(out, resume, study.name)
    began = time.monotonic()
    with artist() if formats else nullcontext() as drawing:
        with to_continue(folder):
            outcomes = play_with_progress(lab, tasks, folder, jobs, bool(resume), load_reporting)
        wall_s = time.monotonic() - began
        with suppress(OSError):  # a sweep would find them there, but nothing hangs on it
            remember(outcomes)
        result = finish(study.name, base, tasks, [outcome.run for outcome in outcomes], lab, folder)
        seen = over_time(outcomes, folder, study.names, also_bulk=False)
        findings = findings_of(study, result, conditions(result.runs, said_of(study.options, given)))
        report = report_of(study, findings, result, folder, seen)
        if drawing:
            draw(drawing, report, folder, formats)
        if as_json:
            click.echo((folder / "result.json").read_text(), nl=False)
        else:
            findings.show()
        report.write(folder / REPORT)
    if more:
        finished(more, folder, outcomes, not as_json)
        report.write(folder / REPORT)  # which leads to what they made
    if resume and not as_json:  # only now are the figures there
        click.echo(f"{folder}/")
    elif not as_json:
        say_speed(outcomes, wall_s, folder)


def remember(outcomes: Sequence[Outcome]) -> None:
    """Keep what was found for sweeps and claims. Raises OSError."""
    store = Store()
    for outcome in outcomes:
        store.put(outcome.run)


def tasks_of(
    study: Study, seeds: Sequence[int], given: Mapping[str, Any], cases: Sequence[str] = (),
    variants: Sequence[str] = (), what: str | Network = "",
    specification: Callable[[str | Network, Mapping[str, Any]], Specification] = specification_of,
) -> list[Task]:  # fmt: skip
    """The runs of a study, or of some of its cases and variants, with what the user gave; `asked_for` makes them
    unplanned. Raises Misuse, Failure."""
    all_ = itertools.product(study.cases, study.variants)
    wanted = [(c, v) for c, v in all_ if c in (cases or study.cases) and v in (variants or study.variants)]
    return tasks_for(study, wanted, seeds, given, what, specification)


def tasks_for(
    study: Study, wanted: Iterable[tuple[str, str]], seeds: Sequence[int], given: Mapping[str, Any],
    what: str | Network = "",
    specification: Callable[[str | Network, Mapping[str, Any]], Specification] = specification_of,
) -> list[Task]:  # fmt: skip
    """The same of some cases and variants, each a pair. Raises Misuse, Failure."""

    def made(case: str, variant: str, user: Mapping[str, Any]) -> Specification:
        options = {**study.options, **user, **study.cases[case], **study.variants[variant]}
        return specification(what or study.topology, options)

    specifications = {}
    for pair in wanted:
        try:
            specifications[pair] = made(*pair, given)
        except ValueError:
            if study.place:
                with refusals(study.place):
                    made(*pair, {})
            raise
    return [
        Task(made.with_seed(seed), variant, case) for seed in seeds for (case, variant), made in specifications.items()
    ]
