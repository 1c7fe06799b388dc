# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of `emulation.cli.main` do: set up what is missing, run, print, and leave a run folder.

A run folder holds `result.json`, one subfolder a run (plan, what the lane left, the air's pcapng), and figures.
A study that was interrupted, or that is to have more seeds, is continued in its folder: only what is missing is run.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import topologies
from analysis.result import Host, Result, Run
from emulation.cli.options import Seeds, options_of, specification_of
from emulation.lanes.virtual import LaneError, Reason
from emulation.plan import PlanError
from emulation.play.drawing import artist
from emulation.play.run import Lab, Outcome, Task, name_of, play_all
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


def provide(*groups: str, folders: Iterable[str] = ()) -> Lab:
    """Set up what is missing for runs, for these groups besides, and the modules of these folders.

    Raises UsageError for a folder that holds no modules, Failure with what mends it for the rest.
    """
    from emulation.cli.main import Failure
    from emulation.setup import Group, SetupError, prepare

    for folder in folders:
        if not any((Path(folder) / name).is_file() for name in ("Kbuild", "Makefile")):
            raise click.UsageError(f"modules: there is no Kbuild in {folder}")
    try:
        prepared = prepare(*(Group(group) for group in groups), folders=tuple(map(Path, folders)))
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
    from emulation.cli.main import Failure

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
    lab: Lab, tasks: Sequence[Task], folder: Path, jobs: int | None, resume: bool = False
) -> list[Outcome]:
    """Run all, with a progress bar on a terminal; with `resume`, only those that are not finished."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[air]:.0f} s of air"),
               MofNCompleteColumn(), TimeElapsedColumn())  # fmt: skip
    console = Console(stderr=True)
    with failures(), Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        shown = bar.add_task("running", total=len(tasks), air=0.0)
        done, air = [0.0] * len(tasks), [0.0] * len(tasks)

        def heard(index: int, fraction: float, air_s: float) -> None:
            done[index], air[index] = fraction, air_s
            bar.update(shown, completed=sum(done), air=sum(air))

        return play_all(lab, tasks, folder, heard, jobs, resume)


def finish(name: str, base: Specification, tasks: Sequence[Task], runs: Sequence[Run], folder: Path) -> Result:
    """Write result.json."""
    lane = json.loads((folder / name_of(runs[0]) / "lane.json").read_text())
    common = base.model_dump(mode="json")

    def changed(task: Task) -> dict[str, Any]:
        own = task.specification.model_dump(mode="json")
        return {name: value for name, value in own.items() if value != common[name]}

    result = Result(
        experiment=name, specification=common,
        runs=[run.model_copy(update={"changes": changed(task)}) for task, run in zip(tasks, runs, strict=True)],
        host=Host(lane="virtual", kernel=lane.get("kernel", ""), tools={"python": platform.python_version()}),
    )  # fmt: skip
    (folder / "result.json").write_text(result.model_dump_json(indent=1) + "\n")
    return result


def say_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = f"{air_s / wall_s:.0f} times real time"
    click.echo(f"{air_s:.0f} s of air time in {wall_s:.1f} s of wall time ({times}); {folder}/")


def study_command(name: str) -> click.Command:
    """`run STUDY`: its options are those of the specification that the study does not vary."""
    import experiments

    study = experiments.find(name)

    def callback(
        seeds: list[int], out: Path | None, resume: Path | None, as_json: bool, jobs: int | None, figures: bool,
        only_variants: tuple[str, ...], only_cases: tuple[str, ...] = (), **given: Any,
    ) -> None:  # fmt: skip
        given = {option: value for option, value in given.items() if value is not None}
        base = specification_of(study.topology, {**study.options, **given})
        tasks = tasks_of(study, seeds, given, only_cases, only_variants)
        if out and resume:
            raise click.UsageError("--resume names the run folder: leave out --out")
        folder, lab = resume or new_folder(out, name), provide(folders=base.modules)
        began = time.monotonic()
        with artist() if figures else nullcontext() as draw:
            try:
                outcomes = play_with_progress(lab, tasks, folder, jobs, bool(resume))
            except (KeyboardInterrupt, click.ClickException):
                click.echo(f"to continue: {again(folder)}", err=True)
                raise
            wall_s = time.monotonic() - began
            result = finish(name, base, tasks, [outcome.run for outcome in outcomes], folder)
            if draw:
                draw_study(draw, study, result, outcomes, folder)
            if as_json:
                click.echo((folder / "result.json").read_text(), nl=False)
                return
            print_study(study, result, given)
            if resume:
                click.echo(f"{folder}/")
            else:
                say_speed(outcomes, wall_s, folder)

    own = [
        click.Option(["--resume"], type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
                     help="continue in this run folder: what is finished there is not run again"),
        click.Option(["--variant", "only_variants"], type=click.Choice(list(study.variants)), multiple=True,
                     help="only this one, or several by repeating it  [default: all]"),
    ]  # fmt: skip
    if len(study.cases) > 1:
        cases = click.Choice(list(study.cases))
        own.append(click.Option(["--case", "only_cases"], type=cases, multiple=True, help="the same of cases"))
    options = [option for option in options_of(study.topology, study.options) if option.name not in study.varied]
    always = [make() for make in ALWAYS]
    always[0].default = study.seeds
    params = [*always, *own, *options]
    return click.Command(name, params=params, callback=callback, help=study.title)


def tasks_of(
    study: Study, seeds: Sequence[int], given: dict[str, Any], cases: Sequence[str] = (), variants: Sequence[str] = ()
) -> list[Task]:
    """The runs of a study, or of some of its cases and variants, with what the user gave. Raises UsageError."""
    specifications = {
        (case, variant): specification_of(study.topology, {**study.options, **given, **of_case, **of_variant})
        for case, of_case in study.cases.items()
        for variant, of_variant in study.variants.items()
        if case in (cases or study.cases) and variant in (variants or study.variants)
    }
    return [
        Task(specification.model_copy(update={"seed": seed}), variant, case)
        for seed in seeds
        for (case, variant), specification in specifications.items()
    ]


def again(folder: Path) -> str:
    """The command line of this program that continues in a run folder."""
    words = sys.argv[1:]
    for option in ("--out", "--resume"):
        words = [word for word in words if not word.startswith(f"{option}=")]
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join(["./dcflab", *words, "--resume", str(folder)])


def print_study(study: Study, result: Result, given: dict[str, Any]) -> None:
    from rich.console import Console

    from analysis.claims import NotTested, judge
    from analysis.table import case_name, study_tables

    console = Console(width=None if sys.stdout.isatty() else 200)
    title = study.title + "".join(f", --{name.replace('_', '-')} {value}" for name, value in given.items())
    if len(study.cases) > len({run.case for run in result.runs}) == 1:
        title += f": {case_name(result.runs[0].case, study.names, study.rows)}"
    tables = study_tables(
        title, result.runs, published=study.published, names=study.names, rows=study.rows, quantities=study.quantities
    )
    if tables[0].title != title:
        console.print(title, style="bold", highlight=False)
    console.print(*tables, sep="\n")
    for claim in study.claims:
        try:
            lines = judge(claim, result.runs).lines(study.names, study.rows, study.quantities)
        except NotTested as error:
            lines = [f"{claim.name}  not tested: {claim.text}", f"    {error}"]
        console.print("\n".join(lines), highlight=False, markup=False)


def draw_study(
    draw: Callable[..., None], study: Study, result: Result, outcomes: Sequence[Outcome], folder: Path
) -> None:
    """The figures of a study. Of several cases, each quantity over the cases; of one, goodput, collisions and, of the
    first seed, segments in flight and TCP's windows."""
    from analysis import figures

    names = dict(study.names)
    if len({run.case for run in result.runs}) > 1:
        for path, label in study.quantities.items():
            figure = folder / f"{path}.png"
            draw(figures.over_cases, figure, result.runs, path, label, study.rows, names, study.published)
        return
    first = [outcome for outcome in outcomes if outcome.run.seed == result.runs[0].seed]
    if flights := {outcome.run.variant: outcome.flight for outcome in first if outcome.flight}:
        draw(figures.in_flight, folder / "in-flight.png", flights, names)
    if 0 < len(flows := flows_of([outcome.run for outcome in first], folder, names)) <= len(figures.COLOURS):
        draw(figures.tcp_flows, folder / "tcp.png", flows)
    draw(figures.goodput, folder / "goodput.png", result.runs, study.published.get(result.runs[0].case), names)
    draw(figures.collisions, folder / "collisions.png", result.runs, names)


def flows_of(runs: Sequence[Run], folder: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """What TCP's senders did in these runs, as far as it was recorded, by what to call them."""
    from analysis import tcp_flows

    found = {}
    for run in runs:
        where = folder / name_of(run)
        if any(flow.tcp for flow in run.flows):
            plan, lane = (json.loads((where / file).read_text()) for file in ("plan.json", "lane.json"))
            for name, flow in tcp_flows.flows(where / "tcp.trace", plan, lane).items():
                found[f"{names.get(run.variant, run.variant)}{f', {name}' if len(run.flows) > 1 else ''}"] = flow
    return found


def topology_command(name: str) -> click.Command:
    """`run TOPOLOGY`."""

    def callback(
        seeds: list[int], out: Path | None, as_json: bool, jobs: int | None, figures: bool, **given: Any
    ) -> None:
        specifications = [specification_of(name, given | {"seed": seed}) for seed in seeds]
        tasks = [Task(specification, specification.rts) for specification in specifications]
        folder, lab = new_folder(out, name), provide(folders=specifications[0].modules)
        began = time.monotonic()
        outcomes = play_with_progress(lab, tasks, folder, jobs)
        wall_s = time.monotonic() - began
        result = finish(name, specifications[0], tasks, [outcome.run for outcome in outcomes], folder)
        if figures and outcomes[0].flight:
            from analysis.figures import in_flight

            in_flight(folder / "in-flight.png", {outcomes[0].run.variant: outcomes[0].flight})
        if as_json:
            click.echo((folder / "result.json").read_text(), nl=False)
            return
        from rich.console import Console

        from analysis.table import run_table, study_tables

        console = Console()
        if len(outcomes) == 1:
            console.print(run_table(f"{name}, seed {seeds[0]}", outcomes[0].run))
        else:
            console.print(*study_tables(f"{name}, {len(seeds)} seeds, mean ± 95 % confidence", result.runs))
        say_speed(outcomes, wall_s, folder)

    params = [*options_of(name), *(make() for make in ALWAYS)]
    return click.Command(name, params=params, callback=callback, help=topologies.find(name).summary)


def script_command(path: str) -> click.Command:
    """`run SCRIPT.py ARGUMENTS`: the script runs inside a lane, as root of its kernel."""

    def callback(seeds: list[int], out: Path | None, arguments: tuple[str, ...]) -> None:
        from emulation.lanes.virtual import Listener
        from emulation.lanes.virtual import run as run_lane

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

        from emulation.lane.prompt import terminal
        from emulation.lanes.virtual import Listener
        from emulation.lanes.virtual import run as run_lane
        from emulation.plan import plan

        specification = specification_of(name, given | {"seed": seeds[0]})
        lab = provide(folders=specification.modules)
        with failures(), tempfile.TemporaryDirectory(prefix="dcflab-shell-") as folder:
            (Path(folder) / "plan.json").write_text(json.dumps(plan(specification)))
            status = run_lane(
                lab.kernel, lab.modules, Path(folder), ["shell"], seed=specification.seed,
                listener=Listener(line=click.echo, ask=terminal),
            ).status  # fmt: skip
        sys.exit(status)

    return click.Command(name, params=[*options_of(name), ALWAYS[0]()], callback=callback,
                         help=f"A prompt inside a running {name}.")  # fmt: skip
