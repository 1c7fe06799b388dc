# SPDX-License-Identifier: BSD-3-Clause
"""`--film`: make a film of each run of the first seed, in its folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from emulation.lane.errors import Misuse
from emulation.play.run import Task
from emulation.play.traces import TRACE

PAGE, COMMAND = "film.html", "film"
PICTURE = "graph.svg"
OPTION = click.Option(["--film"], is_flag=True, help="make a film of each run, of the first seed, for a browser")


def check(tasks: Sequence[Task]) -> None:
    """Raises Misuse if films are requested for runs that record no frames."""
    if not all(task.specification.measurement.trace for task in tasks):
        raise Misuse("--film needs a trace; leave out --no-trace")


def after(folders: Iterable[Path]) -> list[Path]:
    """Write a film to the folder of each of these runs, which this command played. Return the files. Raises Failure or
    OSError."""
    from emulation.features.film import runs
    from topologies.files import USER

    made = []
    for where in folders:
        runs.write(runs.of_run(where, USER), where / PAGE)
        made.append(where / PAGE)
    return made


def show(where: Path) -> None:
    """Write a film of a script's run to its folder, and a picture of its start, if it has a trace. Raises Failure or
    OSError."""
    from emulation.features.film import runs

    if not (where / TRACE).is_file():
        return
    made = runs.of_run(where)
    runs.write(made, where / PAGE)
    runs.write_still(made, 0, where / PICTURE)
