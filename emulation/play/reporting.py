# SPDX-License-Identifier: BSD-3-Clause
"""What runs found, for the terminal and for the report in each run folder (`analysis.pages.report`). All runs belong to
a study; a plain network is a study with one case (`experiments.plain`)."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.pages.report.curves import NOTHING, OverTime
from analysis.results import shapes
from analysis.results.names import RESULT, TIMELINE
from analysis.results.result import Result, Run, read
from analysis.tables.findings import NOT_TESTED, Findings, Judged
from analysis.tables.table import Published, conditions, flags, scaled
from emulation import features
from emulation.files.foreign import reading
from emulation.lane.errors import Failure
from emulation.play import traces
from emulation.play.drawing import Artist
from emulation.play.run import Outcome, name_of
from emulation.play.tasks import specification_for
from emulation.specification import flat, flatten, medium, transport
from emulation.specification.measurement import Measurement

if TYPE_CHECKING:
    from analysis.pages.report import Report
    from analysis.tcp.in_flight import Series as Counts
    from experiments import Study

BULK = "bulk"
UNSTATED = {"seconds", "seed", "trace", "tcp_trace", "snap", "recorders", "views"}
LONGEST = 60  # characters of an option in a title
# Options that do not change a study: its duration, seed and draws, the rules of air and TCP, what is recorded, and
# which modules and plug-ins there are.
DRAWS = {"placement"}
RULES = (*medium.LIKE.values(), *transport.LIKE.values())
FREE = {*Measurement.model_fields, *DRAWS, "like", "tcp_like", *(name for rules in RULES for name in rules),
        "modules", "plugins", "unreachable"} - {"recorders"}  # fmt: skip


def over_time(outcomes: Sequence[Outcome], folder: Path, names: Mapping[str, str], also_bulk: bool = True) -> OverTime:
    """Return what can be drawn over time of finished runs in this folder; nothing for several cases. `also_bulk`:
    include samples even if all flows are `bulk`."""
    if len({outcome.run.case for outcome in outcomes}) > 1:
        return NOTHING
    flights: dict[str, list[Counts]] = {}
    for outcome in outcomes:
        if outcome.flight:
            flights.setdefault(outcome.run.variant, []).append(outcome.flight.total)
    if not any(flight.count.size for of in flights.values() for flight in of):
        flights = {}  # there is no TCP
    first = [outcome for outcome in outcomes if outcome.run.seed == outcomes[0].run.seed]
    runs = [outcome.run for outcome in first]
    samples = samples_of(runs, folder, names) if also_bulk or any(flow.kind != BULK for flow in runs[0].flows) else {}
    return OverTime(flights, flows_of(runs, folder, names), samples, *routes_of(first, folder, names), runs[0].air_s)


def changed_options(study: Study, result: Result) -> dict[str, tuple[Any, Any]]:
    """Return the options that make these runs another study: their values in the study and in the runs. A study without
    published values and claims has none."""
    if not (study.published or study.claims):
        return {}
    run = result.runs[0]  # one is enough, as this concerns all alike
    theirs = {**flat(result.specification), **run.changes}
    chosen = {**study.options, **study.cases.get(run.case, {}), **study.variants.get(run.variant, {})}
    drawn = {name: theirs[name] for name in DRAWS & theirs.keys()}
    own = flatten(specification_for(study.topology, {**chosen, **drawn}))
    there = [name for name in own if name in theirs and name not in FREE and name not in study.open]
    return {name: (own[name], theirs[name]) for name in there if is_defining(name, own[name], theirs[name])}


def is_defining(name: str, own: Any, now: Any) -> bool:
    """Return whether the difference of an option makes another study. A routing protocol's own parameters do not, as
    the air's rules do not."""
    if name == "routing":
        own, now = own.get("kind"), now.get("kind")
    return bool(own != now)


def published_for(study: Study, result: Result) -> tuple[Published, float]:
    """Return the published numbers, with their counts scaled from the study's duration to that of these runs, and the
    factor. Runs of another study have none."""
    runs = result.runs
    if changed_options(study, result):
        return {}, 1.0
    factor = runs[0].air_s / float(str(study.options.get("seconds", runs[0].air_s)))
    return (study.published, 1.0) if abs(factor - 1) < 1e-3 else (scaled(study.published, factor), factor)


def findings_of(study: Study, result: Result, conditions: str) -> Findings:
    """Return tables and verdicts of a study's runs, which were made under these `conditions`."""
    from analysis.tables.claims import NotTested, judge
    from analysis.tables.flow_tables import flow_tables, troubles
    from analysis.tables.table import case_name, study_tables

    title, runs, other = study.title, result.runs, changed_options(study, result)
    if other:
        title = f"{study.name} with {' '.join(short_option(name, now) for name, (_, now) in other.items())}"
    if len(study.cases) > len({run.case for run in runs}) == 1:
        title += f": {case_name(runs[0].case, study.names, study.rows)}"
    published, factor = published_for(study, result)
    if published and factor != 1:
        conditions += f"; published counts are scaled by {factor:.3g} to this time"
    tables = study_tables(
        "", runs, published=published, names=study.names, rows=study.rows, quantities=quantities_of(study, runs)
    )
    claims = []
    for claim in () if other else study.claims:
        try:
            claims.append(judge(claim, runs).judged(study.names, study.rows, study.quantities))
        except NotTested as error:
            claims.append(Judged(claim.name, NOT_TESTED, claim.text, [str(error)]))
    beside = flow_tables(runs) if not study.claims and len({run.case for run in runs}) == 1 else []
    return Findings(title, conditions, tables, beside, [*other_study_note(study, other), *troubles(runs)], claims)


def other_study_note(study: Study, other: Mapping[str, tuple[Any, Any]]) -> list[str]:
    """Return a sentence that says that runs belong to another study, if so."""
    if not other:
        return []
    own = ", ".join(short_option(name, value) for name, (value, _) in other.items())
    return [f"These runs are not of the study {study.name}, which has {own}: no published number is shown beside "
            "theirs, and no claim is judged."]  # fmt: skip


def short_option(name: str, value: Any) -> str:
    """Return an option as on a command line, cut to a length that fits into a sentence."""
    said = flags({name: value}) if value not in (None, [], ()) else f"no --{name.replace('_', '-')}"
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"


def quantities_of(study: Study, runs: Sequence[Run]) -> Mapping[str, str]:
    from analysis.tables.quantities import OF_RUNS
    from analysis.tables.table import of_runs

    return of_runs(runs) if study.quantities == OF_RUNS else study.quantities


def report_of(
    study: Study, result: Result, outcomes: Sequence[Outcome], folder: Path, command: str, conditions: str
) -> Report:  # fmt: skip
    """Return the report of the runs in this folder; `command` made them, under these `conditions`."""
    seen = over_time(outcomes, folder, study.names, also_bulk=not study.varied)
    return make_report(study, findings_of(study, result, conditions), result, folder, command, seen)


def make_report(
    study: Study, findings: Findings, result: Result, folder: Path, command: str, seen: OverTime = NOTHING
) -> Report:  # fmt: skip
    from analysis.pages.report import Report

    published, _ = published_for(study, result)
    quantities = quantities_of(study, result.runs)
    return Report(findings, result, quantities, study.names, study.phrases, study.rows, published, command, str(folder),
                  seen, pages())  # fmt: skip


def pages() -> dict[str, str]:
    """Return the files that commands make of a run, with the commands."""
    return {TIMELINE: "view", **{part.PAGE: part.COMMAND for part in features.parts("of_runs")}}


def report_again(folder: Path) -> Report:
    """Return the report of a run folder, made again from its files. Raises Misuse or Failure if it has no runs, Damaged
    if a file is malformed, OSError if one is unreadable."""
    import experiments

    result = read(folder / RESULT)
    if not result.runs:
        raise Failure(f"{folder / RESULT}: it has no runs")
    outcomes = [
        Outcome(
            run, traces.reread_flight(*run_files(run, folder)[:2]) if run.in_flight and has_files(run, folder) else None
        )
        for run in result.runs
    ]
    with reading(folder):  # its experiment's name may be damaged, too
        known = result.experiment in experiments.names()
        study = (experiments.find if known else experiments.plain)(result.experiment)
        again = shlex.join(["./dcflab", "replay", str(folder)])
        return report_of(study, result, outcomes, folder, again, conditions(result.runs, {}))


def flows_of(runs: Sequence[Run], folder: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the TCP senders of these runs, as far as they were recorded, by the flows' names in figures."""
    found = {}
    for run in runs:
        if any(flow.tcp for flow in run.flows) and has_files(run, folder):
            for name, flow in traces.tcp_flows(*run_files(run, folder)).items():
                found[flow_name(run, runs, names, name)] = flow
    return found


def samples_of(runs: Sequence[Run], folder: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the samples of flows over time, as far as the folder has them, by the flows' names in figures."""
    from analysis.results import flow_series

    kinds = {flow.name: flow.kind for run in runs for flow in run.flows}
    several = len(set(kinds.values())) > 1
    return {
        flow_name(run, runs, names, flow) + f" {kinds.get(flow, '')}" * several: series
        for run in runs
        if run.flows and has_files(run, folder)
        for flow, series in flow_series.read(folder / name_of(run) / flow_series.FILE).items()
    }


def routes_of(
    first: Sequence[Outcome], folder: Path, names: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the routes of flows with the paths of their packets, and the times at which control packets were sent: by
    kind for one run, by the run's name for several."""
    runs = [outcome.run for outcome in first]
    found: dict[str, Any] = {}
    control: dict[str, Any] = {}
    for outcome in first:
        run = outcome.run
        if not run.routing or not has_files(run, folder):
            continue
        if routing := outcome.routing or traces.routing(*run_files(run, folder)):
            for name, routes in routing.routes.items():
                found[flow_name(run, runs, names, name)] = routes, routing.paths.get(name)
            if len(runs) > 1:
                all_kinds = [at for times in routing.control_s.values() for at in times.tolist()]
                control[names.get(run.variant, run.variant)] = all_kinds
            else:
                control.update(routing.control_s)
    return found, control


def draw(artist: Artist, report: Report, folder: Path, formats: Sequence[str]) -> None:
    """Request the report's figures, and begin to draw them into this folder."""
    from analysis.pages.report.pictures import pictures

    for figure, arguments in pictures(report, folder, formats):
        artist(figure, *arguments)
    artist.begin()


def has_files(run: Run, folder: Path) -> bool:
    """Return whether the folder has the files of the run; the folder of a sweep does not."""
    return (folder / name_of(run) / "plan.json").is_file()


def run_files(run: Run, folder: Path) -> tuple[Path, Any, Any]:
    where = folder / name_of(run)
    return where, *shapes.read_both(where)


def flow_name(run: Run, runs: Sequence[Run], names: Mapping[str, str], flow: str) -> str:
    variant = names.get(run.variant, run.variant)
    words = [variant] * (len({run.variant for run in runs}) > 1) + [flow] * (len(run.flows) > 1)
    return ", ".join(words) or flow


def stated_options(*options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that affect what runs found. The duration is omitted, as it is shown anyway."""
    given = {name: value for each in options for name, value in each.items() if value is not None}
    return {name: value for name, value in given.items() if name not in UNSTATED}
