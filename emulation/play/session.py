# SPDX-License-Identifier: BSD-3-Clause
"""A session: set up what is missing, make a run folder, play, and write result.json.

A run folder has `result.json`, a subfolder per run (plan, the lane's output, the air's pcapng), and the report. A study
that was interrupted, or gets more seeds, continues in its folder; only missing runs are played.
"""

from __future__ import annotations

import errno
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulation import features, files, lanes
from emulation.lane import programs
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import Lane, LaneError, Reason
from emulation.play.lab import Lab
from emulation.play.player import play_all
from emulation.play.progress import Progress, duration
from emulation.play.run import Outcome, Task
from emulation.setup import Prepared, PreparedStock, packages, prepare, prepare_stock
from emulation.setup.errors import say
from emulation.specification import Specification, flatten
from traffic import applications

if TYPE_CHECKING:
    from analysis.results.result import Result, Run, Script

LONGEST = 200  # characters of a path in a message


def provide(*groups: packages.AnyGroup, folders: Iterable[str] = (), lane: Lane | None = None) -> Lab:
    """Set up what runs need and is missing, the packages of `groups`, and the modules in `folders`. Raises Misuse if a
    folder has no modules, Failure with a remedy otherwise."""
    for folder in folders:
        if not any((Path(folder) / name).is_file() for name in ("Kbuild", "Makefile")):
            raise Misuse(f"modules: there is no Kbuild in {folder}")
    lane = lane or lanes.find(lanes.DEFAULT)
    with failures(), lanes.as_lane_error(lane):
        if refused := lanes.refusal(lane):
            raise Misuse(refused)
    own = tuple(map(Path, folders))
    prepared: Prepared | PreparedStock
    if (stock := lanes.stock(lane)) is None:
        prepared = prepare(*groups, folders=own)
    else:
        prepared = prepare_stock(stock, *groups, folders=own, boots=getattr(lane, "boots", True))
    with failures(), lanes.as_lane_error(lane):
        lane, said = lanes.ready(lane, prepared.kernel.linux)
    if said:
        say(said)
    return Lab(prepared.kernel.linux, prepared.modules, lane)


def provide_for(tasks: Sequence[Task], lane: Lane) -> Lab:
    """Return the lab that these runs need, and check the modules and parameters that they name. Raises Misuse or
    Failure."""
    lab = provide(folders=tasks[0].specification.kernel.modules, lane=lane)
    with failures():
        for task in tasks:
            if task.seed == tasks[0].seed:
                lab.check(task.plan)
    return lab


def check_programs(made: Mapping[str, Any]) -> None:
    """Check for the programs that a plan's network and applications call, and offer to install them. Raises Failure
    with a remedy for a program that is missing and may not be installed."""
    if medium := made.get("medium"):
        features.medium(medium["kind"]).check(medium)
    called = list(programs.needed_by(made))
    for kind in dict.fromkeys(application["kind"] for application in made["applications"]):
        called += [(program, f"applications of kind {kind}") for program in applications.find(kind).programs]
    needs = [(packages.program(program), program, what) for program, what in dict.fromkeys(called)]
    if missing := [(program, what) for need, program, what in needs if not need.present()]:
        why = "; ".join(f"{program}, for {what}" for program, what in missing)
        packages.obtain([need for need, _, _ in needs], f"this run needs programs that are not installed: {why}")


@contextmanager
def failures() -> Iterator[None]:
    """Turn the errors of runs into Failure or Misuse: the reason, with the last console lines where they help."""
    try:
        yield
    except LaneError as error:
        if error.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt from None
        if error.reason is Reason.MISUSE:
            raise Misuse(error.detail) from None
        last = "".join(f"\n    {line}" for line in error.console if line.strip())
        said = f"{error}" + (f"\n  the lane's console ended with:{last}" if last else "")
        raise Failure(said, error.code) from None


def new_folder(out: Path | None, name: str) -> Path:
    """Make the run folder. Raises Misuse if it cannot be written or is not empty."""
    folder = out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Misuse(f"{folder}: the run folder is not empty; give another with --out")
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        name = str(folder) if len(str(folder)) < LONGEST else f"{str(folder)[:LONGEST]}…"
        why = f"{name}: this cannot be the run folder: {error.strerror}; give another with --out"
        raise Misuse(why) from None
    return folder


def play_with_progress(
    lab: Lab, tasks: Sequence[Task], folder: Path, jobs: int | None = None, resume: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Outcome]:  # fmt: skip
    """Run all tasks with a progress bar, or with lines if there is no terminal. With `resume`, run only unfinished
    ones. `meanwhile` is called when the last task begins, because CPUs become free then. Raises Misuse, Failure or
    OSError."""
    progress = Progress([task.specification.measurement.seconds for task in tasks], time.monotonic)
    with failures(), ExitStack() as stack:
        show: Callable[[Progress], None] | None = None
        begun = set[int]()

        def heard(index: int, fraction: float, air_s: float) -> None:
            nonlocal show
            progress.update(index, fraction)
            show = show or stack.enter_context(progress_bar(len(tasks)))  # imported late: that takes as long as a boot
            show(progress)
            if index == len(tasks) - 1 and index not in begun:
                meanwhile()
            begun.add(index)

        return play_all(lab, tasks, folder, heard, jobs, resume)


@contextmanager
def progress_bar(runs: int, air: bool = True) -> Iterator[Callable[[Progress], None]]:
    """Provide a function that shows the progress of this many runs: a bar on a terminal, or lines. `air`: durations are
    those of the air."""
    if not sys.stderr.isatty():

        def tell(progress: Progress) -> None:
            if line := progress.line():
                say(line)

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(),
               *([TextColumn("{task.fields[air]:.0f} s of air")] if air else []),
               MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))  # fmt: skip
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("running", total=runs, air=0.0, left="")

        def show(progress: Progress) -> None:
            left = progress.left_s()
            said = f"about {duration(left)} left" if left else ""
            bar.update(task, completed=sum(progress.done), air=progress.air_s, left=said)

        yield show


def write_result(
    name: str, base: Specification, tasks: Sequence[Task], runs: Sequence[Run], lab: Lab, folder: Path,
    script: Script | None = None,
) -> Result:  # fmt: skip
    """Write result.json; each run's `changes` are the options in which it differs from `base`."""
    from analysis.results.result import Host, Result

    common = flatten(base)

    def changed(task: Task) -> dict[str, Any]:
        own = flatten(task.specification)
        return {name: value for name, value in own.items() if value != common.get(name)}

    result = Result(
        experiment=name, specification=base.model_dump(mode="json"),
        runs=[run.model_copy(update={"changes": changed(task)}) for task, run in zip(tasks, runs, strict=True)],
        host=Host(
            lane=lab.lane.name, clock=lanes.clock(lab.lane).value, kernel=lab.release,
            tools={"python": platform.python_version()},
        ),
        script=script,
    )  # fmt: skip
    files.write(folder / "result.json", result.model_dump_json(indent=1) + "\n")
    return result
