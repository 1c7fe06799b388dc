# SPDX-License-Identifier: BSD-3-Clause
"""`run TOPOLOGY`: one network, under one seed or several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import topologies
from emulation.cli.command import Command, of_runs, say_speed
from emulation.cli.options import options_of, specification_of
from emulation.lanes import Lane
from emulation.play.run import Outcome, Task
from emulation.play.session import finish, new_folder, play_with_progress, provide


def command(name: str) -> click.Command:
    """The command of a topology, by its name or in a file of the user's own. Raises ValueError."""

    def callback(
        seeds: list[int], out: Path | None, as_json: bool, jobs: int | None, figures: bool, lane: Lane, **given: Any
    ) -> None:
        base, title = specification_of(name, given | {"seed": seeds[0]}), Path(name).stem
        tasks = [Task(base.with_seed(seed), base.radio.rts) for seed in seeds]
        folder = new_folder(out, title)
        lab = provide(folders=base.kernel.modules, lane=lane)
        began = time.monotonic()
        outcomes = play_with_progress(lab, tasks, folder, jobs)
        wall_s = time.monotonic() - began
        finish(title, base, tasks, [outcome.run for outcome in outcomes], lab, folder)
        show(title, outcomes, folder, figures, as_json)
        if not as_json:
            say_speed(outcomes, wall_s, folder)

    params = [*options_of(name), *of_runs()]
    return Command(name, params=params, callback=callback, help=topologies.find(name).summary)


def show(title: str, outcomes: Sequence[Outcome], folder: Path, figures: bool, as_json: bool) -> None:
    """Draw the figures of runs that are no study's, and print their table, or result.json."""
    runs = [outcome.run for outcome in outcomes]
    flights = {outcome.run.variant: outcome.flight for outcome in reversed(outcomes) if outcome.flight}
    if figures and flights:
        from analysis.figures import in_flight

        in_flight(folder / "in-flight.png", dict(reversed(flights.items())))
    if as_json:
        click.echo((folder / "result.json").read_text(), nl=False)
        return
    from rich.console import Console

    from analysis.table import run_table, study_tables

    if len(runs) == 1:
        Console().print(run_table(f"{title}, seed {runs[0].seed}", runs[0]))
    else:
        seeds = len({run.seed for run in runs})
        of = f", {seeds} seeds, mean ± 95 % confidence" if seeds > 1 else f", seed {runs[0].seed}"
        Console().print(*study_tables(title + of, runs))
