# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of `emulation.cli` do: set up what is missing, run, print, and leave a run folder.

A run folder holds `result.json`, one subfolder a run (plan, what the lane left, the air's pcapng), and figures.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import topologies
from emulation.drawing import artist
from emulation.lane.virtual import LaneError, Reason
from emulation.options import Seeds, options_of, specification_of
from emulation.plan import PlanError
from emulation.result import Host, Result
from emulation.run import Lab, Outcome, name_of, play_all
from emulation.specification import Specification

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments import Study

ALWAYS: list[Callable[[], click.Parameter]] = [
    lambda: click.Option(["--seeds", "--seed", "seeds"], type=Seeds(), default="1", show_default=True,
                         help="one seed, or several: 1..5, 1,4,9"),
    lambda: click.Option(["--out"], type=click.Path(path_type=Path), metavar="FOLDER",
                         help="the run folder  [default: runs/NAME-TIME]"),
    lambda: click.Option(["--json", "as_json"], is_flag=True, help="print result.json instead of tables"),
    lambda: click.Option(["--jobs"], type=click.IntRange(1, 256), help="lanes side by side  [default: one a CPU]"),
    lambda: click.Option(["--figures/--no-figures"], default=True,
                         help="draw figures into the run folder  [default: --figures]"),
]  # fmt: skip


def provide(*groups: str) -> Lab:
    """Set up what is missing for runs, and for these groups besides. Raises Failure with what mends it."""
    from emulation.cli import Failure
    from emulation.setup import Group, SetupError, prepare

    try:
        prepared = prepare(*(Group(group) for group in groups))
    except SetupError as error:
        raise Failure(str(error)) from None
    return Lab(prepared.kernel.linux, prepared.modules)


def new_folder(out: Path | None, name: str) -> Path:
    """Make the run folder. Raises UsageError if it cannot be one: not ours to write, or not empty."""
    folder = out or Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise click.UsageError(f"{folder}: the run folder is not empty; name another with --out")
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        why = f"{folder}: this cannot be the run folder: {error.strerror}; name another with --out"
        raise click.UsageError(why) from None
    return folder


@contextmanager
def failures() -> Iterator[None]:
    """What a run can raise, as messages: the reason, and the lane's last words where they help."""
    from emulation.cli import Failure

    try:
        yield
    except LaneError as error:
        if error.reason is Reason.INTERRUPTED:
            raise KeyboardInterrupt from None
        last = "".join(f"\n    {line}" for line in error.console if line.strip())
        raise Failure(f"{error}" + (f"\n  the lane's console ended with:{last}" if last else "")) from None
    except PlanError as error:
        raise click.UsageError(str(error)) from None


def play_with_progress(
    lab: Lab, specifications: Sequence[Specification], folder: Path, jobs: int | None
) -> list[Outcome]:
    """Run all, with a progress bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[air]:.0f} s of air"),
               MofNCompleteColumn(), TimeElapsedColumn())  # fmt: skip
    console = Console(stderr=True)
    with failures(), Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("running", total=len(specifications), air=0.0)
        done, air = [0.0] * len(specifications), [0.0] * len(specifications)

        def heard(index: int, fraction: float, air_s: float) -> None:
            done[index], air[index] = fraction, air_s
            bar.update(task, completed=sum(done), air=sum(air))

        return play_all(lab, specifications, folder, heard, jobs)


def finish(name: str, base: dict[str, Any], outcomes: Sequence[Outcome], folder: Path) -> Result:
    """Write result.json."""
    lane = json.loads((folder / name_of(outcomes[0].run) / "lane.json").read_text())
    result = Result(
        experiment=name, specification=base, runs=[outcome.run for outcome in outcomes],
        host=Host(lane="virtual", kernel=lane.get("kernel", ""), tools={"python": platform.python_version()}),
    )  # fmt: skip
    (folder / "result.json").write_text(result.model_dump_json(indent=1) + "\n")
    return result


def say_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = f"{air_s / wall_s:.0f} times real time"
    click.echo(f"{air_s:.0f} s of air time in {wall_s:.1f} s of wall time ({times}); {folder}/")


def study_command(name: str) -> click.Command:
    """`run STUDY`."""
    import experiments

    study = experiments.find(name)

    def callback(seeds: list[int], out: Path | None, as_json: bool, jobs: int | None, figures: bool) -> None:
        base = specification_of(study.topology, dict(study.options))
        specifications = [
            specification_of(study.topology, {**study.options, **variant, "seed": seed})
            for seed in seeds
            for variant in study.variants.values()
        ]
        folder, lab = new_folder(out, name), provide()
        began = time.monotonic()
        with artist() if figures else nullcontext() as draw:
            outcomes = play_with_progress(lab, specifications, folder, jobs)
            wall_s = time.monotonic() - began
            result = finish(name, base.model_dump(mode="json"), outcomes, folder)
            if draw:
                draw_study(draw, study, result, outcomes, folder)
            if as_json:
                click.echo((folder / "result.json").read_text(), nl=False)
                return
            print_study(study, result)
            say_speed(outcomes, wall_s, folder)

    return click.Command(name, params=[make() for make in ALWAYS], callback=callback, help=study.title)


def print_study(study: Study, result: Result) -> None:
    from rich.console import Console

    from analysis.table import judge, study_table

    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(study_table(study.title, result.runs, published=study.published, names=study.names))
    for claim in study.claims:
        console.print("\n".join(judge(claim, result.runs).lines()), highlight=False)


def draw_study(
    draw: Callable[..., None], study: Study, result: Result, outcomes: Sequence[Outcome], folder: Path
) -> None:
    """The figures of a study; segments in flight are of the first seed."""
    from analysis import figures

    first = result.runs[0].seed
    flights = {o.run.rts: o.flight for o in outcomes if o.run.seed == first and o.flight}
    draw(figures.in_flight, folder / "in-flight.png", flights, study.names)
    draw(figures.goodput, folder / "goodput.png", result.runs, study.published, study.names)
    draw(figures.collisions, folder / "collisions.png", result.runs, study.names)


def topology_command(name: str) -> click.Command:
    """`run TOPOLOGY`."""

    def callback(
        seeds: list[int], out: Path | None, as_json: bool, jobs: int | None, figures: bool, **given: Any
    ) -> None:
        specifications = [specification_of(name, given | {"seed": seed}) for seed in seeds]
        folder, lab = new_folder(out, name), provide()
        began = time.monotonic()
        outcomes = play_with_progress(lab, specifications, folder, jobs)
        wall_s = time.monotonic() - began
        result = finish(name, specifications[0].model_dump(mode="json"), outcomes, folder)
        if figures and outcomes[0].flight:
            from analysis.figures import in_flight

            in_flight(folder / "in-flight.png", {outcomes[0].run.rts: outcomes[0].flight})
        if as_json:
            click.echo((folder / "result.json").read_text(), nl=False)
            return
        from rich.console import Console

        from analysis.table import run_table, study_table

        console = Console()
        if len(outcomes) == 1:
            console.print(run_table(f"{name}, seed {seeds[0]}", outcomes[0].run))
        else:
            console.print(study_table(f"{name}, {len(seeds)} seeds, mean ± 95 % confidence", result.runs))
        say_speed(outcomes, wall_s, folder)

    params = [*options_of(name), *(make() for make in ALWAYS)]
    return click.Command(name, params=params, callback=callback, help=topologies.find(name).summary)


def script_command(path: str) -> click.Command:
    """`run SCRIPT.py ARGUMENTS`: the script runs inside a lane, as root of its kernel."""

    def callback(seeds: list[int], out: Path | None, arguments: tuple[str, ...]) -> None:
        from emulation.lane.virtual import Listener
        from emulation.lane.virtual import run as run_lane

        if not Path(path).is_file():
            raise click.UsageError(f"there is no script {path}")
        folder, lab = new_folder(out, Path(path).stem), provide()
        with failures():
            status = run_lane(
                lab.kernel, lab.modules, folder, ["script", str(Path(path).resolve()), *arguments], seed=seeds[0],
                listener=Listener(line=click.echo),
            ).status  # fmt: skip
        sys.exit(status)

    params = [*(make() for make in ALWAYS[:2]), click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)]
    return click.Command(path, params=params, callback=callback, help="Run a script of your own inside a lane.")


def shell_command(name: str) -> click.Command:
    """`shell TOPOLOGY`."""

    def callback(seeds: list[int], **given: Any) -> None:
        import tempfile

        from emulation.lane.virtual import Listener
        from emulation.lane.virtual import run as run_lane
        from emulation.plan import plan
        from emulation.shell import terminal

        specification = specification_of(name, given | {"seed": seeds[0]})
        lab = provide()
        with failures(), tempfile.TemporaryDirectory(prefix="dcflab-shell-") as folder:
            (Path(folder) / "plan.json").write_text(json.dumps(plan(specification)))
            status = run_lane(
                lab.kernel, lab.modules, Path(folder), ["shell"], seed=specification.seed,
                listener=Listener(line=click.echo, ask=terminal),
            ).status  # fmt: skip
        sys.exit(status)

    return click.Command(name, params=[*options_of(name), ALWAYS[0]()], callback=callback,
                         help=f"A prompt inside a running {name}.")  # fmt: skip
