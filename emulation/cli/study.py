# SPDX-License-Identifier: BSD-3-Clause
"""`run TOPOLOGY`, `run STUDY`: one network under one or several seeds, or with varied options; or a study.

The options of a study are those of the specification that it does not vary. A network runs as a study with one case.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

import topologies
from analysis.results.names import REPORT
from emulation import features
from emulation.cli import vary as varying
from emulation.cli.command import Command, Seeds, command_line
from emulation.cli.options import options_of, short_help_options
from emulation.cli.playing import folder_for, hint_to_resume, print_speed, run_options, show
from emulation.lanes import Lane
from emulation.play.run import name_of
from emulation.play.session import provide_for
from emulation.play.study import Request, play_study
from emulation.play.tasks import for_seeds, misuse, specification_for, task_for, tasks_of
from emulation.specification import OPTIONS

if TYPE_CHECKING:
    from experiments import Study

EXAMPLES = (
    "--rts full --seconds 60 --seeds 1..5",
    "--vary rts=none,partial,full --vary rate=2,11",
    "--freq 5180 --rate 54 --propagation log-distance,exponent=3",
    "--tcp sca --module-parameters tcp_sca.ca_increase_thresh=4",
)
MOST_NAMES = 12  # of cases, in a message


class Names(click.ParamType[list[str], str]):
    """One of these names, or a pattern (`4-*`)."""

    name = "name"

    def __init__(self, names: Collection[str]) -> None:
        self.names = list(names)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        found = [name for name in self.names if name == value or fnmatchcase(name, value)]
        near = sorted(self.names, key=lambda name: -SequenceMatcher(None, name, value).ratio())
        return found or self.fail(f"there is no {value!r}; there are: {', '.join(shortened(near))}", param, ctx)


def _all_of(ctx: click.Context, parameter: click.Parameter, found: Iterable[list[str]]) -> tuple[str, ...]:
    """Return the names, each once and in order."""
    return tuple(dict.fromkeys(name for names in found for name in names))


def shortened(names: Collection[str]) -> list[str]:
    """Return as many of these names as fit into two lines."""
    return list(names) if len(names) <= MOST_NAMES else [*list(names)[: MOST_NAMES - 1], "…", list(names)[-1]]


def cost(study: Study) -> str:
    """Return the cost of a study as it is, and in its published size; empty if it was not measured."""
    if not study.core_s:
        return ""
    each, seeds = len(study.cases) * len(study.variants), Seeds().convert(study.seeds, None, None)
    words = [f"{each * len(seeds):,} runs, about {_hours(each * len(seeds) * study.core_s)} of one core."]
    if study.repetition:
        seconds, count = study.repetition
        core_s = (
            each * count * study.core_s * seconds / float(str(study.options.get("seconds", OPTIONS["seconds"].default)))
        )
        words.append(
            f"At the paper's size, --seconds {seconds:g} --seeds 1..{count}: {each * count:,} runs, {_hours(core_s)}."
        )
    return " ".join(words)


def _hours(seconds: float) -> str:
    """Format a time to about two digits."""
    if seconds < 5400:
        return f"{max(seconds / 60, 1):.0f} min"
    return f"{seconds / 3600:.{1 if seconds < 36000 else 0}f} h"


def selection_options(study: Study) -> list[click.Option]:
    options = [("--variant", "only_variants", "only this variant; repeat it, or use '*', for several", study.variants)]
    if len(study.cases) > 1:
        options.append(("--case", "only_cases", "only this case; repeat it, or use '*', for several", study.cases))
    return [click.Option([flag, name], type=Names(names), multiple=True, callback=_all_of,
                         help=f"{what}: {'|'.join(shortened(names))}  [default: all]")
            for flag, name, what, names in options]  # fmt: skip


def topology_command(name: str) -> click.Command:
    """Return the command of a topology, given its name or file. Raises ValueError."""
    title, summary = Path(name).stem, topologies.find(name).summary

    def callback(vary: tuple[varying.Varied, ...], **given: Any) -> None:
        run(varying.study_of(name, title, summary, vary, given) if vary else None, title, name, **given)

    params = [*options_of(name), *run_options(), varying.option()]
    return Command(name, [f"run {name} {line}" for line in EXAMPLES], short_help_options(name), params=params,
                   callback=callback, help=summary)  # fmt: skip


def study_command(name: str) -> click.Command:
    """Return the command of a study, given its name or file. Raises ValueError."""
    import experiments

    study = experiments.find(name)
    for option in (*study.options, *study.varied) if study.place else ():
        varying.check(study.topology, option, study.place)
    options = [option for option in options_of(study.topology, study.options) if option.name not in study.varied]
    params = [*options, *run_options(study.seeds, study.lane), *selection_options(study)]
    examples = [f"run {name}", f"run {name} --seeds 1..5 --seconds 300",
                f"run {name} --variant {shlex.quote(next(iter(study.variants)))} --json"]  # fmt: skip
    first = short_help_options(study.topology, study.varied)
    return Command(name, examples, first, params=params, callback=partial(run, study, study.name, study.topology),
                   help="\n\n".join(filter(None, (study.title, cost(study)))))  # fmt: skip


def run(
    study: Study | None, title: str, what: str | topologies.Network, *, seeds: list[int], out: Path | None,
    resume: Path | None, full: bool, as_json: bool, jobs: int | None, formats: Sequence[str], lane: Lane,
    only_variants: tuple[str, ...] = (), only_cases: tuple[str, ...] = (),
    usual: Mapping[str, Any] = MappingProxyType({}), **given: Any,
) -> None:  # fmt: skip
    """Run a study of a topology or network, or that network alone. `given` are the user's options, `usual` the defaults
    for others. Raises Misuse or Failure."""
    parts = [part for part in features.parts("of_runs") if given.pop(str(part.OPTION.name), False)]
    chosen = {name: value for name, value in given.items() if value is not None}
    if study:
        tasks = tasks_of(study, seeds, {**usual, **chosen}, only_cases, only_variants, what)
        with misuse():
            base = specification_for(what, {**usual, **study.options, **chosen})
    else:
        first = task_for(what, {**usual, **chosen, "seed": seeds[0]})
        base, tasks = first.specification, [first, *for_seeds(seeds[1:], [first])]
    for part in parts:
        part.check(tasks)
    lab, folder = provide_for(tasks, lane), folder_for(out, resume, title)
    request = Request(chosen, command_line(), folder, formats)
    around = hint_to_resume(folder) if len(tasks) > 1 else None
    playing = play_study(lab, study or title, base, tasks, request, jobs, bool(resume), around)
    with playing as (report, outcomes, wall_s):
        show(report, as_json, full)
    first_folders = [folder / name_of(task) for task in tasks if task.seed == seeds[0]]
    made = [file for part in parts for file in part.after(first_folders)]
    if parts:
        report.write(folder / REPORT)  # again: it links to the files that features made
    if as_json:
        return
    for file in made:
        click.echo(file)
    if resume:  # the figures exist only now
        click.echo(f"report: {folder / REPORT}")
    else:
        print_speed(outcomes, wall_s, folder)
