# SPDX-License-Identifier: BSD-3-Clause
"""What commands that play runs share: options, folder, messages on how to continue, and output."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from analysis.results.names import REPORT, RESULT
from emulation import features, lanes
from emulation.cli.command import as_json, command_line, figure_options, full, jobs, lane, out, resume, seeds
from emulation.lane.errors import Failure, Misuse
from emulation.play.run import Outcome
from emulation.play.session import new_folder
from emulation.play.traces import VIEWS

if TYPE_CHECKING:
    from analysis.pages.report import Report


def run_options(default_seeds: str = "1", default_lane: str = lanes.DEFAULT) -> list[click.Option]:
    """Return the options of commands that play tasks."""
    return [
        seeds(default_seeds),
        out(),
        full(),
        as_json("result.json instead of tables"),
        jobs(),
        *figure_options(),
        *(part.OPTION for part in features.parts("of_runs")),
        *lane(default_lane),
        resume(),
    ]


def folder_for(out: Path | None, resume: Path | None, name: str) -> Path:
    """Return the run folder: a new one, or one to continue in. Raises Misuse."""
    if out and resume:
        raise Misuse("--resume already gives the run folder; leave out --out")
    return resume or new_folder(out, name)


@contextmanager
def hint_to_resume(folder: Path) -> Iterator[None]:
    """If the block is interrupted or fails, tell the user how to continue."""
    try:
        yield
    except (KeyboardInterrupt, Misuse, Failure):
        click.echo(f"to continue: {command_line()} {shlex.join(['--resume', str(folder)])}", err=True)
        raise


def show(report: Report, as_json: bool, full: bool = False) -> None:
    """Print the results, briefly or in `full`."""
    if as_json:
        click.echo(Path(report.folder, RESULT).read_text(), nl=False)
    elif full:
        report.findings.show()
    else:
        from analysis.tables import brief

        brief.show(report, report.folder)


def print_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    """Print how long it took, and where the report is."""
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = air_s / wall_s if wall_s else 0.0
    factor = f" ({times:.0f} times real time)" if times >= 10 else f" ({times:.2g} times real time)" if times else ""
    if left_out := [outcome for outcome in outcomes if outcome.run.trace and not outcome.run.views]:
        count = f"{len(left_out)} of {len(outcomes)} runs: " if len(outcomes) > 1 else ""
        click.echo(
            f"{count}the views of stations ({VIEWS}) are not kept, because they are large; --views yes keeps them"
        )
    seconds = f"{air_s:.0f}" if air_s >= 10 else f"{air_s:.2g}"
    click.echo(f"{seconds} s of air time in {wall_s:.1f} s of wall time{factor}; report: {folder / REPORT}")
