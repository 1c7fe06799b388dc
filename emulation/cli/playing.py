# SPDX-License-Identifier: BSD-3-Clause
"""What commands share that play runs: their options, their folder, and how to go on after an interruption."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from emulation import lanes
from emulation.cli.command import as_json, film, jobs, lane, out, pictures, resume, seeds
from emulation.play.errors import Failure, Misuse
from emulation.play.run import Outcome, Task, name_of
from emulation.play.session import new_folder
from emulation.play.traces import VIEWS
from topologies.files import USER


def of_runs(default_seeds: str = "1", default_lane: str = lanes.DEFAULT) -> list[click.Option]:
    """The options of all that plays tasks."""
    return [
        seeds(default_seeds),
        out(),
        as_json("result.json instead of tables"),
        jobs(),
        *pictures(),
        film(),
        *lane(default_lane),
        resume(),
    ]


def load_reporting() -> None:
    """Load what shows runs: meanwhile, as they run."""
    from rich import console, table  # noqa: F401

    from analysis import flow_tables  # noqa: F401
    from emulation.cli import reporting  # noqa: F401


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


def command_line() -> str:
    """That of this program, without the run folder that it names."""
    words = sys.argv[1:]
    for option in ("--out", "--resume"):
        words = [word for word in words if not word.startswith(f"{option}=")]
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join(["./dcflab", *words])


def check_film(film: bool, tasks: Sequence[Task]) -> None:
    """Raises Misuse if films are wanted of runs that record no frame."""
    if film and not all(task.specification.measurement.trace for task in tasks):
        raise Misuse("--film: --no-trace leaves nothing that a film could be made of")


def make_films(folder: Path, outcomes: Sequence[Outcome], say: bool) -> None:
    """Leave a film in the folder of each run of the first seed, and `say` where; what was run, this command line has
    said. Raises Failure, OSError."""
    from emulation.play import film

    runs = [outcome.run for outcome in outcomes]
    for where in (folder / name_of(run) for run in runs if run.seed == runs[0].seed):
        film.write(film.of_run(where, USER), where / film.FILM)
        if say:
            click.echo(where / film.FILM)


def say_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = air_s / wall_s if wall_s else 0.0
    said = f" ({times:.0f} times real time)" if times >= 10 else f" ({times:.2g} times real time)" if times else ""
    if left_out := [outcome for outcome in outcomes if outcome.run.trace and not outcome.run.views]:
        of_all = f"{len(left_out)} of {len(outcomes)} runs: " if len(outcomes) > 1 else ""
        click.echo(f"{of_all}what stations received ({VIEWS}) is left out; --views yes keeps it, however large")
    lasted = f"{air_s:.0f}" if air_s >= 10 else f"{air_s:.2g}"
    click.echo(f"{lasted} s of air time in {wall_s:.1f} s of wall time{said}; {folder}/")
