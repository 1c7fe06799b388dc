# SPDX-License-Identifier: BSD-3-Clause
"""What commands share that play runs: their options, their folder, and how to go on after an interruption."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from emulation import features, lanes
from emulation.cli.command import as_json, command_line, jobs, lane, out, pictures, resume, seeds
from emulation.lane.errors import Failure, Misuse
from emulation.play.run import Outcome, name_of
from emulation.play.session import new_folder
from emulation.play.traces import VIEWS


def of_runs(default_seeds: str = "1", default_lane: str = lanes.DEFAULT) -> list[click.Option]:
    """The options of all that plays tasks."""
    return [
        seeds(default_seeds),
        out(),
        as_json("result.json instead of tables"),
        jobs(),
        *pictures(),
        *(part.OPTION for part in features.parts("of_runs")),
        *lane(default_lane),
        resume(),
    ]


def load_reporting() -> None:
    """Load what shows runs, and hash what read them: meanwhile, as they run."""
    from rich import console, table  # noqa: F401

    from analysis.tables import flow_tables  # noqa: F401
    from emulation.cli import reporting  # noqa: F401
    from emulation.play import store

    store.readers()


def folder_for(out: Path | None, resume: Path | None, name: str) -> Path:
    """The run folder: a new one, or one to continue in. Raises Misuse."""
    if out and resume:
        raise Misuse("--resume names the run folder: leave out --out")
    return resume or new_folder(out, name)


@contextmanager
def to_continue(folder: Path) -> Iterator[None]:
    """What is interrupted, or fails, says how to go on."""
    try:
        yield
    except (KeyboardInterrupt, Misuse, Failure):
        click.echo(f"to continue: {again(folder)}", err=True)
        raise


def again(folder: Path) -> str:
    """The command line of this program that continues in a run folder."""
    return f"{command_line()} {shlex.join(['--resume', str(folder)])}"


def asked(given: dict[str, Any]) -> list[ModuleType]:
    """The features (`of_runs.py`) whose options were given, which are taken out."""
    return [part for part in features.parts("of_runs") if given.pop(str(part.OPTION.name), False)]


def finished(asked: Sequence[ModuleType], folder: Path, outcomes: Sequence[Outcome], say: bool) -> None:
    """Let features make what they make of runs, of those of the first seed, and `say` where it is. Raises Failure,
    OSError."""
    runs = [outcome.run for outcome in outcomes]
    folders = [folder / name_of(run) for run in runs if run.seed == runs[0].seed]
    for made in (made for part in asked for made in part.after(folders)):
        if say:
            click.echo(made)


def say_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = air_s / wall_s if wall_s else 0.0
    said = f" ({times:.0f} times real time)" if times >= 10 else f" ({times:.2g} times real time)" if times else ""
    if left_out := [outcome for outcome in outcomes if outcome.run.trace and not outcome.run.views]:
        of_all = f"{len(left_out)} of {len(outcomes)} runs: " if len(outcomes) > 1 else ""
        click.echo(f"{of_all}what stations received ({VIEWS}) is left out; --views yes keeps it, however large")
    lasted = f"{air_s:.0f}" if air_s >= 10 else f"{air_s:.2g}"
    click.echo(f"{lasted} s of air time in {wall_s:.1f} s of wall time{said}; {folder}/")
