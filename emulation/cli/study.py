# SPDX-License-Identifier: BSD-3-Clause
"""`run STUDY`: its options are those of the specification that the study does not vary."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

import experiments
from analysis.result import Result, Run
from emulation.cli.command import Command
from emulation.cli.options import options_of, specification_of
from emulation.cli.playing import folder_for, of_runs, say_speed, to_continue
from emulation.lanes import Lane
from emulation.play import traces
from emulation.play.drawing import artist
from emulation.play.run import Outcome, Task, name_of
from emulation.play.session import finish, play_with_progress, provide
from experiments import Study


def command(name: str) -> click.Command:
    """The command of a study, by its name or in a file of the user's own. Raises ValueError."""
    study = experiments.find(name)
    own = [click.Option(["--variant", "only_variants"], type=click.Choice(list(study.variants)), multiple=True,
                        help="only this one, or several by repeating it  [default: all]")]  # fmt: skip
    if len(study.cases) > 1:
        cases = click.Choice(list(study.cases))
        own.append(click.Option(["--case", "only_cases"], type=cases, multiple=True, help="the same of cases"))
    options = [option for option in options_of(study.topology, study.options) if option.name not in study.varied]
    params = [*options, *of_runs(study.seeds, study.lane), *own]
    examples = [f"run {name}", f"run {name} --seeds 1..5 --seconds 300",
                f"run {name} --variant {shlex.quote(next(iter(study.variants)))} --no-figures --json"]  # fmt: skip
    return Command(name, examples, params=params, callback=partial(run, study), help=study.title)


def run(
    study: Study, *, seeds: list[int], out: Path | None, resume: Path | None, as_json: bool, jobs: int | None,
    figures: bool, lane: Lane, only_variants: tuple[str, ...] = (), only_cases: tuple[str, ...] = (), **given: Any,
) -> None:  # fmt: skip
    """Run a study with what the user gave; print its tables, and draw its figures. Raises Misuse, Failure."""
    given = {option: value for option, value in given.items() if value is not None}
    base = specification_of(study.topology, {**study.options, **given})
    tasks = tasks_of(study, seeds, given, only_cases, only_variants)
    folder = folder_for(out, resume, study.name)
    lab = provide(folders=base.kernel.modules, lane=lane)
    began = time.monotonic()
    with artist() if figures else nullcontext() as draw:
        with to_continue(folder):
            outcomes = play_with_progress(lab, tasks, folder, jobs, bool(resume))
        wall_s = time.monotonic() - began
        result = finish(study.name, base, tasks, [outcome.run for outcome in outcomes], lab, folder)
        if draw:
            draw_study(draw, study, result, outcomes, folder)
        if as_json:
            click.echo((folder / "result.json").read_text(), nl=False)
            return
        print_study(study, result, given)
        if resume:
            click.echo(f"{folder}/")
        else:
            say_speed(outcomes, wall_s, folder)


def tasks_of(
    study: Study, seeds: Sequence[int], given: dict[str, Any], cases: Sequence[str] = (), variants: Sequence[str] = ()
) -> list[Task]:
    """The runs of a study, or of some of its cases and variants, with what the user gave. Raises Misuse, Failure."""
    specifications = {
        (case, variant): specification_of(study.topology, {**study.options, **given, **of_case, **of_variant})
        for case, of_case in study.cases.items()
        for variant, of_variant in study.variants.items()
        if case in (cases or study.cases) and variant in (variants or study.variants)
    }
    return [
        Task(specification.with_seed(seed), variant, case)
        for seed in seeds
        for (case, variant), specification in specifications.items()
    ]


def print_study(study: Study, result: Result, given: dict[str, Any]) -> None:
    from rich.console import Console

    from analysis.claims import NotTested, judge
    from analysis.table import case_name, study_tables

    console = Console(width=None if sys.stdout.isatty() else 200)
    title = study.title + "".join(f", --{name.replace('_', '-')} {value}" for name, value in given.items())
    if len(study.cases) > len({run.case for run in result.runs}) == 1:
        title += f": {case_name(result.runs[0].case, study.names, study.rows)}"
    tables = study_tables(
        title, result.runs, published=study.published, names=study.names, rows=study.rows, quantities=study.quantities
    )
    if tables[0].title != title:
        console.print(title, style="bold", highlight=False)
    console.print(*tables, sep="\n")
    for claim in study.claims:
        try:
            lines = judge(claim, result.runs).lines(study.names, study.rows, study.quantities)
        except NotTested as error:
            lines = [f"{claim.name}  not tested: {claim.text}", f"    {error}"]
        console.print("\n".join(lines), highlight=False, markup=False)


def draw_study(
    draw: Callable[..., None], study: Study, result: Result, outcomes: Sequence[Outcome], folder: Path
) -> None:
    """The figures of a study. Of several cases, each quantity over the cases; of one, goodput, collisions and, of the
    first seed, segments in flight and TCP's windows."""
    from analysis import figures

    names = dict(study.names)
    if len({run.case for run in result.runs}) > 1:
        for path, label in study.quantities.items():
            figure = folder / f"{path}.png"
            draw(figures.over_cases, figure, result.runs, path, label, study.rows, names, study.published)
        return
    first = [outcome for outcome in outcomes if outcome.run.seed == result.runs[0].seed]
    if flights := {outcome.run.variant: outcome.flight for outcome in first if outcome.flight}:
        draw(figures.in_flight, folder / "in-flight.png", flights, names)
    if 0 < len(flows := flows_of([outcome.run for outcome in first], folder, names)) <= len(figures.COLOURS):
        draw(figures.tcp_flows, folder / "tcp.png", flows)
    draw(figures.goodput, folder / "goodput.png", result.runs, study.published.get(result.runs[0].case), names)
    draw(figures.collisions, folder / "collisions.png", result.runs, names)


def flows_of(runs: Sequence[Run], folder: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """What TCP's senders did in these runs, as far as it was recorded, by what to call them."""
    found = {}
    for run in runs:
        where = folder / name_of(run)
        if any(flow.tcp for flow in run.flows):
            plan, lane = (json.loads((where / file).read_text()) for file in ("plan.json", "lane.json"))
            for name, flow in traces.tcp_flows(where, plan, lane).items():
                found[f"{names.get(run.variant, run.variant)}{f', {name}' if len(run.flows) > 1 else ''}"] = flow
    return found
