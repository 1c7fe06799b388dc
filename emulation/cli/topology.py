# SPDX-License-Identifier: BSD-3-Clause
"""`run TOPOLOGY`: one network, under one seed or several, or with options varied."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

import topologies
from analysis.results.names import REPORT
from emulation.cli import vary as varying
from emulation.cli.command import Command, command_line
from emulation.cli.options import options_of, specification_of
from emulation.cli.playing import (
    asked,
    finished,
    folder_for,
    load_reporting,
    of_runs,
    say_speed,
    to_continue,
)
from emulation.lanes import Lane
from emulation.play.drawing import Artist, artist
from emulation.play.run import Outcome, Task
from emulation.play.session import finish, play_with_progress, provide_for

if TYPE_CHECKING:
    from analysis.pages.report import Report
    from analysis.results.result import Result

EXAMPLES = (
    "--rts full --seconds 60 --seeds 1..5",
    "--vary rts=none,partial,full --vary rate=2,11",
    "--freq 5180 --rate 54 --propagation log-distance,exponent=3.5",
    "--tcp sca --module-parameters tcp_sca.ca_increase_thresh=4",
)


def command(name: str) -> click.Command:
    """The command of a topology, by its name or in a file of the user's own. Raises ValueError."""
    summary = topologies.find(name).summary

    def callback(vary: tuple[varying.Varied, ...], **given: Any) -> None:
        if vary:
            from emulation.cli import study

            study.run(varying.study_of(name, Path(name).stem, summary, vary, given), **given)
        else:
            run(Path(name).stem, name, **given)

    params = [*options_of(name), *of_runs(), varying.option()]
    return Command(name, [f"run {name} {line}" for line in EXAMPLES], params=params, callback=callback, help=summary)


def run(
    title: str, what: str | topologies.Network, *, seeds: list[int], out: Path | None, resume: Path | None,
    as_json: bool, jobs: int | None, formats: Sequence[str], lane: Lane,
    usual: Mapping[str, Any] = MappingProxyType({}), **given: Any,
) -> None:  # fmt: skip
    """Run one network, of a topology by its name or itself, under each seed; with the options that were `given`, and
    those that are `usual` where they were not. Raises Misuse, Failure."""
    more, chosen = asked(given), {name: value for name, value in given.items() if value is not None}
    base = specification_of(what, {**usual, **chosen, "seed": seeds[0]})
    tasks = [Task(base.with_seed(seed), base.radio.rts) for seed in seeds]
    for part in more:
        part.check(tasks)
    lab = provide_for(tasks, lane)
    folder = folder_for(out, resume, title)
    began = time.monotonic()
    with artist() if formats else nullcontext() as drawing:
        with to_continue(folder) if len(tasks) > 1 else nullcontext():
            outcomes = play_with_progress(lab, tasks, folder, jobs, bool(resume), load_reporting)
        wall_s = time.monotonic() - began
        result = finish(title, base, tasks, [outcome.run for outcome in outcomes], lab, folder)
        report = show(title, result, outcomes, folder, drawing, formats, as_json, given)
    if more:
        finished(more, folder, outcomes, not as_json)
        report.write(folder / REPORT)  # which leads to what they made
    if resume and not as_json:
        click.echo(f"{folder}/")
    elif not as_json:
        say_speed(outcomes, wall_s, folder)


def show(
    title: str, result: Result, outcomes: Sequence[Outcome], folder: Path, asked: Artist | None,
    formats: Sequence[str], as_json: bool, options: Mapping[str, object],
) -> Report:  # fmt: skip
    """Draw the figures of runs that are no study's, print their tables, or result.json, and leave their report."""
    from analysis.pages.report import Report
    from analysis.tables.table import conditions
    from emulation.cli.reporting import draw, findings_of_runs, over_time, said_of

    runs = result.runs
    findings = findings_of_runs(title, runs, conditions(runs, said_of(options)))
    report = Report(findings, result, command_line(), str(folder), seen=over_time(outcomes, folder, {}))
    if asked:
        draw(asked, report, folder, formats)
    if as_json:
        click.echo((folder / "result.json").read_text(), nl=False)
    else:
        findings.show()
    report.write(folder / REPORT)
    return report
