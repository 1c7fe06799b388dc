# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of commands that sweep: where runs are played, their estimated time, and their progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from emulation.cli.command import jobs
from emulation.features.sweeps.sweep import LocalProcesses, Place, Sweep
from emulation.play.progress import Progress, duration
from emulation.play.session import progress_bar
from emulation.setup.errors import say


def sweep_options() -> list[click.Option]:
    return [
        jobs(),
        click.Option(["--dask"], metavar="ADDRESS",
                     help="run on the workers of this Dask scheduler, tcp://HOST:PORT (docs/sweeps.md)"),
        store_option(),
    ]  # fmt: skip


def store_option() -> click.Option:
    return click.Option(["--store"], type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
                        help="the folder of stored results  [default: results, in the cache]")  # fmt: skip


@contextmanager
def place_for(dask: str | None, jobs: int | None) -> Iterator[Place]:
    """Yield the place to play. Raises Failure if there is no such scheduler."""
    if dask is None:
        yield LocalProcesses(jobs)
        return
    from emulation.features.sweeps.workers import DaskWorkers

    with closing(DaskWorkers(dask)) as workers:
        yield workers


def play(sweep: Sweep, place: Place, check: Callable[[], None] = lambda: None) -> None:
    """Print what will run and an estimate of the time, and run it. If nothing similar was ever run, the first runs
    provide the estimate. `check` is called during the sweep, and ends it by raising."""
    total, missing = len(set(sweep.keys)), len(sweep.missing)
    stored = f"{total - missing} of {total} runs are in the store" if missing < total else f"{total} runs"
    if not missing:
        say(f"{stored}: nothing to run")
        return
    try:
        _play(sweep, place, check, stored)
    except KeyboardInterrupt:
        say(f"{len(sweep.missing)} of {total} runs are left; run the same command to continue")
        raise


def _play(sweep: Sweep, place: Place, check: Callable[[], None], stored: str) -> None:
    missing = len(sweep.missing)
    air_s = sum(task.specification.measurement.seconds for task in sweep.missing)
    _, guessed = sweep.estimate(place.jobs)
    summary = f"{stored}; {missing} to run, {air_s:,.0f} s of air, {place.jobs} side by side"
    if guessed and missing > 2 * place.jobs:
        say(f"{summary}. Nothing like {'them' if guessed == missing else f'{guessed} of them'} was run here before: "
            "the first runs will show how long they take")  # fmt: skip
        with progress_shown(sweep, check) as on_progress:
            sweep.play(place, on_progress, most=place.jobs)
        summary = f"{len(sweep.missing)} are left"
    seconds, guessed = sweep.estimate(place.jobs)
    say(f"{summary}: about {duration(seconds)}" + (", by estimate" if guessed else ", by what such runs took here"))
    with progress_shown(sweep, check) as on_progress:
        sweep.play(place, on_progress)


@contextmanager
def progress_shown(sweep: Sweep, check: Callable[[], None]) -> Iterator[Callable[[int, tuple[float, float]], None]]:
    """Show the progress of missing runs, once there is any."""
    progress = Progress([task.specification.measurement.seconds for task in sweep.missing], time.monotonic)
    with ExitStack() as stack:
        show: Callable[[Progress], None] | None = None

        def on_progress(index: int, progress_: tuple[float, float]) -> None:
            nonlocal show
            check()
            progress.update(index, progress_[0])
            show = show or stack.enter_context(progress_bar(len(progress.done)))
            show(progress)

        yield on_progress
