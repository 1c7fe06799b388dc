# SPDX-License-Identifier: BSD-3-Clause
"""`claims`: list the papers' claims and their verdicts, or test some. `claims C46` tests one, `claims --all
--hours 8` as many as there is time for (docs/studies.md)."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import experiments
from emulation import files
from emulation.cli.command import Command, Seeds, as_json, as_junit
from emulation.features.claims.bench import Bench
from emulation.features.claims.junit import suites
from emulation.features.claims.looks import LOOKS, MOST
from emulation.features.claims.page import JUDGED, counts_in_words, file, line_of, short_verdict, standing_of, standings
from emulation.features.claims.record import FILE, Claims, Look, read
from emulation.features.claims.schedule import Rank, Schedule
from emulation.features.sweeps.playing import place_for, sweep_options
from emulation.lane.errors import Failure, Misuse
from emulation.play.junit import check_writable
from emulation.play.junit import write as write_junit
from emulation.play.progress import duration
from emulation.play.store import Store
from emulation.setup.errors import say
from emulation.specification import explain

if TYPE_CHECKING:
    from rich.console import Console

ONE_LOOK = 0.95  # the confidence with given seeds


def callback(
    numbers: tuple[str, ...], of_all: bool, plan: bool, hours: float | None, seeds: list[int] | None, most_seeds: int,
    write: bool, merge: tuple[Path, ...], report: Path | None, as_json: bool, junit: Path | None, jobs: int | None,
    dask: str | None, store: Path | None,
) -> None:  # fmt: skip
    """List the papers' claims and their verdicts, or test some or all of them."""
    if of_all and numbers:
        raise Misuse("--all tests all claims; leave out the numbers")
    if plan and (of_all or numbers):
        raise Misuse("--plan is of all claims, and tests none; leave out the numbers and --all")
    if hours is not None and not of_all:
        raise Misuse("--hours needs --all")
    if seeds and not numbers:
        raise Misuse("--seeds needs the numbers of claims")
    there = experiments.numbered()
    check_writable(junit)
    check_writable(report, "--report")
    chosen = [number.upper() for number in numbers]
    if unknown := next((number for number in chosen if number not in there), None):
        raise Misuse(f"there is no claim {unknown!r}; there are: {', '.join(there)}")
    try:
        look = Look(seeds, ONE_LOOK) if seeds else Look()
        claims = Claims(read() if write or not chosen else Claims().record, look)
    except ValueError as error:
        raise Failure(f"{FILE}: {error}") from None
    for other in merge:
        try:
            claims.merge(read(other))
        except ValueError as error:
            raise Misuse(f"merge: {other} is not a claims.json of this version: {explain(error)[0]}") from None
    failed: dict[str, str] = {}
    if chosen or of_all or plan:
        with place_for(dask, jobs) as place:
            bench = Bench(claims, place, Store(store), most_seeds, write, None if hours is None else hours * 3600)
            try:
                if plan:
                    return print_plan(bench.schedule)
                bench.all() if of_all else bench.named(chosen, seeds)
            finally:
                bench.store.prune()
            failed = bench.failed
    elif write:
        file(claims)
    if write or report:
        from emulation.features.claims import pictures
        from emulation.features.claims.report import page_of

        if write:
            pictures.draw(claims)
        if report:
            files.write(report, page_of(claims))
            say(f"the claims are in {report}")
    if junit:
        write_junit(junit, suites(claims, chosen or list(there)))
    if as_json:
        click.echo(json.dumps(as_data(claims, chosen or list(there)), indent=1, ensure_ascii=False))
    elif chosen:
        show(claims, chosen)
    else:
        listing(claims)
    if failed:
        first, why = next(iter(failed.items()))
        raise Failure(f"{len(failed)} runs failed: {first}: {why}; run the same command to try them again")


def print_plan(schedule: Schedule) -> None:
    """Print the claims without a verdict, and the CPU time that is expected to decide each, as `--all` plays them."""
    from rich.table import Table

    table, total_s = Table("", "", "CPU time", "in all", "the paper says"), 0.0
    for rank, seconds, number, column in schedule.plan():
        total_s += seconds
        unlikely = " (part may stay open)" if rank is Rank.UNLIKELY else ""
        table.add_row(number, column.value + unlikely, duration(seconds), duration(total_s),
                      experiments.numbered()[number].short)  # fmt: skip
    console().print(table)


def as_data(claims: Claims, numbers: Iterable[str]) -> list[dict[str, Any]]:
    """Return these claims as JSON: verdicts, and all contrasts with their numbers."""
    found = []
    for number in numbers:
        said = experiments.numbered()[number]
        contrasts = [
            {
                "study": study.name, "column": study.column.value, "claim": claim.name, "seeds": outcome.seeds,
                "contrast": line_of(study, claim.name, one).words, "finding": one.finding and one.finding.name.lower(),
                "number": one.number and one.number.name.lower(), "mean": one.estimate.mean,
                "half_width": finite(one.estimate.half_width), "p": finite(one.p),
                "ratios": [finite(ratio) for ratio in one.ratios], "needs": finite(one.needs),
            }
            for study, claim in claims.of(number)
            if (outcome := claims.tested(study, claim).outcome)
            for one in outcome.found
        ]  # fmt: skip
        what = {"number": number, "paper": said.paper, "section": said.section, "about": said.about, "text": said.text}
        known_of = standing_of(claims, number)
        columns = {
            name: {**one.model_dump(), "ours": list(map(str, one.ours))} for name, one in known_of.columns.items()
        }
        controls = list(map(str, known_of.controls))
        found.append({**what, "columns": columns, "controls": controls, "contrasts": contrasts})
    return found


def finite(of: float) -> float | None:
    """Return the number, or None for NaN and infinity, which JSON lacks."""
    return of if math.isfinite(of) else None


def show(claims: Claims, numbers: Sequence[str]) -> None:
    percent = f"{100 * claims.look.confidence:.3g} %"
    if claims.look.seeds:
        click.echo(f"One look, at the seeds that were given: intervals of {percent}.")
    else:
        click.echo(f"Intervals of {percent}: of up to {len(LOOKS)} looks (docs/studies.md).")
    for number in numbers:
        said, found = experiments.numbered()[number], standing_of(claims, number)
        click.echo(f"\n{number}  {said.text} ({said.where})")
        if said.untested:
            click.echo(f"  not tested: {said.untested}")
        for column, one in found.columns.items():
            seeds = f", {one.seeds} seeds" if one.seeds else ""
            click.echo(f"  {column}: {short_verdict(one, said)}{seeds}" + (f" ({one.why})" if one.why else ""))
            for line in one.ours:
                click.echo(f"    {line}")
        for line in found.controls:
            click.echo(f"  control: {line}")


def listing(claims: Claims) -> None:
    """Print all claims, a line each."""
    from rich.table import Table
    from rich.text import Text

    known, there = standings(claims), experiments.numbered()
    table = Table("", "the paper says", *(column.value for column in JUDGED))
    for number, one in known.items():
        said = there[number]
        verdicts = [short_verdict(one.columns.get(column.value), said) for column in JUDGED]
        table.add_row(number, Text(f"{said.text} ({said.where})"), *verdicts)
    console().print(table)
    console().print(counts_in_words(known), style="bold", highlight=False)


def console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 200)


HOURS = click.FloatRange(0, 10_000)
GROUP = "Run"
COMMAND = Command(
    "claims", ["claims", "claims C46 C47", "claims C1 --seeds 101..120", "claims --all --hours 8 --write"],
    params=[
        click.Argument(["numbers"], nargs=-1),
        click.Option(["--all", "of_all"], is_flag=True, help="test all claims, the cheapest verdicts first"),
        click.Option(["--plan"], is_flag=True,
                     help="print what it takes to decide each claim, by estimate, in the order of --all"),
        click.Option(["--hours"], type=HOURS,
                     help="with --all: stop after this many hours  [default: until all are decided]"),
        click.Option(["--seeds", "--seed", "seeds"], type=Seeds(), help="judge once, with these seeds"),
        click.Option(["--most-seeds"], type=click.Choice([str(look) for look in LOOKS]), default=str(MOST),
                     show_default=True, callback=lambda ctx, param, value: int(value),
                     help="stop at this many seeds, even if a claim is undecided"),
        click.Option(["--write"], is_flag=True, help="continue from docs/claims.json, and write it and its pages"),
        click.Option(["--merge"], type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
                     metavar="FILE", help="add the seeds of another claims.json, for example of another machine"),
        click.Option(["--report"], type=click.Path(dir_okay=False, writable=True, path_type=Path), metavar="FILE.html",
                     help="write the claims and their verdicts as one HTML file"),
        as_json("what was found as JSON"),
        as_junit(),
        *sweep_options(),
    ],
    callback=callback, help=callback.__doc__,
)  # fmt: skip
