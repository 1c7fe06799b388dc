# SPDX-License-Identifier: BSD-3-Clause
"""`sweep STUDY`: run a study or a grid of options, and reuse all earlier results. `sweep FILE.toml` runs a grid or a
list of options over a topology.

Everything is checked before anything starts.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

import experiments
from analysis.results.names import REPORT, RESULT
from analysis.results.result import Run
from analysis.tables.table import conditions
from emulation.cli import study
from emulation.cli.command import Command, Seeds, as_json, command_line, full, lane, out, seeds
from emulation.cli.groups import STUDY, RunCommands, defines
from emulation.cli.options import options_of, short_help_options
from emulation.cli.playing import show
from emulation.features.sweeps.file import place_of, programs_of, read
from emulation.features.sweeps.playing import place_for, play, sweep_options
from emulation.features.sweeps.sweep import Sweep
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import Lane
from emulation.play.reporting import findings_of, make_report, stated_options
from emulation.play.run import Task
from emulation.play.session import new_folder, provide_for, write_result
from emulation.play.store import Store
from emulation.play.tasks import for_seeds, tasks_for
from experiments import Study

FAILURES = "failures.json"
EXAMPLES = ("sweep my_sweep.toml", "sweep rts-cts --seeds 1..20", "sweep my_sweep.toml --dask tcp://lab7:8786")


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
