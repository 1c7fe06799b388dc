# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of commands that sweep: where runs are played, their estimated time, and their progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from emulation.cli.command import jobs
from emulation.features.sweeps.sweep import Here, Place, Sweep
from emulation.play.progress import Progress, duration
from emulation.play.session import progress_bar
from emulation.setup.errors import say


def of_sweeps() -> list[click.Option]:
    return [
        jobs(),
        click.Option(["--dask"], metavar="ADDRESS",
                     help="run on the workers of this Dask scheduler, tcp://HOST:PORT (docs/sweeps.md)"),
        store(),
    ]  # fmt: skip


def store() -> click.Option:
    return click.Option(["--store"], type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
                        help="the folder of stored results  [default: results, in the cache]")  # fmt: skip


@contextmanager
def place_for(dask: str | None, jobs: int | None) -> Iterator[Place]:
    """Yield the place to play. Raises Failure if there is no such scheduler."""
    if dask is None:
        yield Here(jobs)
        return
    from emulation.features.sweeps.workers import There

    there = There(dask)
    try:
        yield there
    finally:
        there.close()


def play(sweep: Sweep, place: Place, check: Callable[[], None] = lambda: None) -> None:
    """Print what will run and an estimate of the time, and run it. If nothing similar was ever run, the first runs
    provide the estimate. `check` is called during the sweep, and ends it by raising."""
    of_all, missing = len(set(sweep.keys)), len(sweep.missing)
    found = f"{of_all - missing} of {of_all} runs are in the store" if missing < of_all else f"{of_all} runs"
    if not missing:
        say(f"{found}: nothing to run")
        return
    try:
        _play(sweep, place, check, found)
    except KeyboardInterrupt:
        say(f"{len(sweep.missing)} of {of_all} runs are left; run the same command to continue")
        raise


def _play(sweep: Sweep, place: Place, check: Callable[[], None], found: str) -> None:
    missing = len(sweep.missing)
    air_s = sum(task.specification.measurement.seconds for task in sweep.missing)
    _, guessed = sweep.estimate(place.jobs)
    said = f"{found}; {missing} to run, {air_s:,.0f} s of air, {place.jobs} side by side"
    if guessed and missing > 2 * place.jobs:
        say(f"{said}. Nothing like {'them' if guessed == missing else f'{guessed} of them'} was run here before: "
            "the first runs will show how long they take")  # fmt: skip
        with showing(sweep, check) as heard:
            sweep.play(place, heard, most=place.jobs)
        said = f"{len(sweep.missing)} are left"
    seconds, guessed = sweep.estimate(place.jobs)
    say(f"{said}: about {duration(seconds)}" + (", a guess" if guessed else ", by what such runs took here"))
    with showing(sweep, check) as heard:
        sweep.play(place, heard)


@contextmanager
def showing(sweep: Sweep, check: Callable[[], None]) -> Iterator[Callable[[int, tuple[float, float]], None]]:
    """Show the progress of missing runs, once there is any."""
    progress = Progress([task.specification.measurement.seconds for task in sweep.missing], time.monotonic)
    with ExitStack() as stack:
        show: Callable[[Progress], None] | None = None

        def heard(index: int, far: tuple[float, float]) -> None:
            nonlocal show
            check()
            progress.update(index, far[0])
            show = show or stack.enter_context(progress_bar(len(progress.done)))
            show(progress)

        yield heard
