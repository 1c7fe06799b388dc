# SPDX-License-Identifier: BSD-3-Clause
"""`sweep STUDY`: run a study or a grid of options, and reuse all earlier results. `sweep FILE.toml` runs a grid or a
list of options over a topology.

A file is a short form of a study. Its `points` are the variants, or else the values of the first option of its `grid`.
All combinations of the grid's other options are the cases. Everything is checked before anything starts.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ValidationError

import experiments
import topologies
from analysis.results.names import REPORT, RESULT
from analysis.results.result import Run
from analysis.tables.quantities import OF_RUNS, QUANTITIES
from analysis.tables.table import conditions, is_path
from emulation.cli import study, vary
from emulation.cli.command import Command, Seeds, as_json, command_line, full, lane, out, seeds
from emulation.cli.groups import STUDY, RunCommands, defines
from emulation.cli.options import options_of, short_help_options
from emulation.cli.playing import show
from emulation.features.sweeps.playing import place_for, play, sweep_options
from emulation.features.sweeps.sweep import Sweep
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import Lane
from emulation.plan.checks import as_misuse
from emulation.play import trust
from emulation.play.reporting import findings_of, make_report, stated_options
from emulation.play.run import Task
from emulation.play.session import new_folder, provide_for, write_result
from emulation.play.store import Store
from emulation.play.tasks import for_seeds, tasks_for
from emulation.specification import explain
from experiments import Options, Study

FAILURES = "failures.json"
EXAMPLES = ("sweep my_sweep.toml", "sweep rts-cts --seeds 1..20", "sweep my_sweep.toml --dask tcp://lab7:8786")


class SweepFile(BaseModel, extra="forbid"):
    """The keys of a sweep file."""

    topology: str
    title: str = ""
    seeds: str = "1"
    show: list[str] = []
    options: dict[str, Any] = {}
    grid: dict[str, list[Any]] = {}
    points: list[dict[str, Any]] = []


def programs_of(path: Path) -> list[str]:
    """Return the programs and folders that a file names for this machine; none if it cannot be read."""
    try:
        return list(dict.fromkeys(trust.programs_in(tomllib.loads(path.read_text()))))
    except (OSError, ValueError, RecursionError):
        return []


def read(path: Path) -> tuple[Study, list[int]]:
    """Return the study that a file describes, and its seeds. Raises Misuse if the file is wrong."""
    try:
        found = SweepFile.model_validate(tomllib.loads(path.read_text()))
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        lines = [line.replace("there is no such option", f"there are: {', '.join(SweepFile.model_fields)}")
                for line in explain(error)]  # fmt: skip
        raise Misuse("\n       ".join(f"{place_of(path, line)}: {line}" for line in lines)) from None
    except ValueError as error:  # no TOML
        raise Misuse(f"{path}: {error}") from None
    options, grid = (
        {name.replace("-", "_"): value for name, value in each.items()} for each in (found.options, found.grid)
    )
    for name, values in grid.items():
        if not values or any(values.count(value) > 1 for value in values):
            raise Misuse(f"{place_of(path, name)}: grid: {name} needs values, each once")
    if not grid and not found.points:
        raise Misuse(f"{path}: there is nothing to vary: write options with their values under [grid], or [[points]]")
    with as_misuse(place_of(path, "topology")):
        topologies.find(found.topology)
    for name in [*found.options, *grid, *(name for point in found.points for name in point if name != "name")]:
        vary.check(found.topology, name.replace("-", "_"), place_of(path, name))
    variants = points_by_name(path, found.points)
    rows = dict(grid)
    if not variants:
        first = next(iter(rows))
        variants = vary.points([(first, rows.pop(first))])
    cases = vary.points(list(rows.items()))
    shown = {path: QUANTITIES.get(path, path) for path in found.show}
    try:
        chosen = list(Seeds().convert(found.seeds, None, None))
    except click.UsageError as error:
        raise Misuse(f"{place_of(path, 'seeds')}: {error.message}") from None
    if strange := next((quantity for quantity in found.show if not is_path(quantity)), None):
        raise Misuse(f"{place_of(path, 'show')}: a run has no quantity {strange!r}")
    made = Study(
        path.stem, found.title or path.stem, found.topology, options, variants, [], cases, ", ".join(rows),
        names={case: case.split(" ", 1)[1] for case in cases} if len(rows) == 1 else {},
        quantities=shown or ({path: QUANTITIES[path] for path in vary.SHOWN} if rows else OF_RUNS), place=str(path),
    )  # fmt: skip
    return made, chosen


def place_of(path: Path, said: str) -> str:
    """Return the file, with the line in which it has the key that a message begins with, if one line only does."""
    key = re.split("[:.]", said)[0].replace("_", "[_-]")
    key = re.sub(r"[^\w\[\]-]", ".", key)
    lines = [
        number for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.match(rf"\s*(\[+\s*)?{key}\s*[=\]]", line)
    ]  # fmt: skip
    return f"{path}, line {lines[0]}" if len(lines) == 1 else str(path)


def points_by_name(path: Path, points: Sequence[Mapping[str, Any]]) -> dict[str, Options]:
    """Return the points of a list, by their names or what they set. Raises Misuse if a name occurs twice."""
    found: dict[str, Options] = {}
    for point in points:
        options = {name.replace("-", "_"): value for name, value in point.items() if name != "name"}
        name = str(point.get("name", ", ".join(f"{name} {vary.value_text(value)}" for name, value in options.items())))
        if name in found:
            raise Misuse(f"{path}: points: {name!r} is given twice")
        found[name] = options
    return found


def command(name: str) -> click.Command:
    """Return the command of a sweep file, or of a study by its name or path. Raises ValueError if there is none."""
    if name.endswith(".toml"):
        others = click.Option(["--seeds", "--seed", "seeds"], type=Seeds(), help="other seeds than the file's")
        params = [others, *output_options(), *lane()]
        return Command(name, EXAMPLES, params=params, callback=partial(run_file, Path(name)),
                       help=f"Run the sweep that {name} describes.")  # fmt: skip
    found = experiments.find(name)
    options = [option for option in options_of(found.topology, found.options) if option.name not in found.varied]
    params = [*options, seeds(found.seeds), *output_options(), *lane(found.lane), *study.selection_options(found)]
    first = short_help_options(found.topology, found.varied)
    return Command(name, EXAMPLES, first, params=params, callback=partial(sweep, found), help=found.title)


def output_options() -> list[click.Option]:
    return [out(), full(), as_json("result.json instead of tables"), *sweep_options()]


def run_file(path: Path, seeds: list[int] | None, **chosen: Any) -> None:
    found, usual = read(path)
    sweep(found, seeds=seeds or usual, **chosen)


def sweep(
    found: Study, *, seeds: list[int], out: Path | None, full: bool, as_json: bool, jobs: int | None, dask: str | None,
    store: Path | None, lane: Lane, only_variants: Sequence[str] = (), only_cases: Sequence[str] = (), **given: Any,
) -> None:  # fmt: skip
    """Run what the store lacks, print the tables of all runs, and write result.json and failures. Raises Misuse;
    Failure if any run failed."""
    given = {name: value for name, value in given.items() if value is not None}
    tasks = checked_tasks(found, seeds, given, only_cases, only_variants)
    lab = provide_for(tasks, lane)
    folder = new_folder(out, found.name)
    running = Sweep(lab, tasks, Store(store), found.core_s)
    with place_for(dask, jobs) as place:
        play(running, place)
    if runs := running.runs:
        played, results = zip(*runs, strict=True)
        result = write_result(found.name, tasks[0].specification, played, results, lab, folder)
        if as_json:
            click.echo((folder / RESULT).read_text(), nl=False)
        if complete := runs_of_complete_seeds(result.runs):
            complete_result = result.model_copy(update={"runs": complete})
            findings = findings_of(found, complete_result, conditions(complete, stated_options(found.options, given)))
            report = make_report(found, findings, complete_result, folder, command_line())
            if not as_json:
                show(report, False, full)
            report.write(folder / REPORT)
    running.store.prune()
    if failed := running.failed:
        (folder / FAILURES).write_text(json.dumps(failed, indent=1) + "\n")
        first, why = next(iter(failed.items()))
        others = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise Failure(f"{len(failed)} of {len(tasks)} runs failed: {first}: {why}{others}: {folder / FAILURES}; "
                      "the same command tries them again")  # fmt: skip
    if not as_json:
        click.echo(f"report: {folder / REPORT}" if (folder / REPORT).exists() else f"{folder}/")


def runs_of_complete_seeds(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of the seeds of which all cases and variants have results."""
    cells: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        cells.setdefault((run.case, run.variant), set()).add(run.seed)
    common = set.intersection(*cells.values())
    return [run for run in runs if run.seed in common]


def checked_tasks(
    found: Study, seeds: Sequence[int], given: Mapping[str, Any], cases: Sequence[str], variants: Sequence[str]
) -> list[Task]:
    """Return the runs of a study. Raises Misuse, which names the case and variant."""
    wanted = [
        (case, variant) for case in found.cases for variant in found.variants
        if case in (cases or found.cases) and variant in (variants or found.variants)
    ]  # fmt: skip
    first_tasks = []
    for pair in wanted:
        try:
            first_tasks += tasks_for(found, [pair], seeds[:1], given)
        except Misuse as error:
            said = str(error).removeprefix(f"{found.place}: ")
            place = place_of(Path(found.place), said) if found.place.endswith(".toml") else found.place
            where = ["; ".join(filter(None, pair)), said]
            raise Misuse(": ".join(filter(None, [place, *where] if said != str(error) else where))) from None
    return [*first_tasks, *for_seeds(seeds[1:], first_tasks)]


class Sweeps(RunCommands):
    """`sweep`'s subcommands: sweep files, and the studies."""

    draws, kinds = False, {"study": STUDY}
    what, also, takes_files = "study", "a sweep (.toml)", False

    def host_file_kind(self, name: str) -> str:
        if not name.endswith(".toml"):
            return super().host_file_kind(name)
        return f"sweep with {', '.join(programs)}" if (programs := programs_of(Path(name))) else ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return experiments.names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        known = cmd_name in self.list_commands(ctx) or defines(cmd_name) >= STUDY
        return command(cmd_name) if known or cmd_name.endswith(".toml") else None


GROUP = "Run"
COMMAND = Sweeps(
    "sweep", subcommand_metavar="STUDY|SWEEP.toml [OPTIONS]",
    help="Run a study or a grid of options, here or on Dask. Results that are in the store are not computed again; "
         "a run that fails does not stop the others.",
    examples=EXAMPLES,
)  # fmt: skip
