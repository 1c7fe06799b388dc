# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a report as files for print: `analysis.figures.figures` draws what the page draws."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.figures import figures
from analysis.pages.report import Report
from analysis.pages.report.curves import some
from analysis.tables.table import conditions, of_quantity, shown, values

Picture = tuple[Callable[..., None], Sequence[Any]]  # the drawing function; its arguments, path first
UNUSUAL = re.compile(r"[^\w.-]")  # characters replaced in file names
LONGEST = 100  # characters of a file name


def pictures(report: Report, folder: Path, formats: Sequence[str]) -> Iterator[Picture]:
    """Yield for each figure and format how to draw it into this folder."""
    for form in formats:
        for figure, name, arguments in drawings(report):
            yield figure, (folder / f"{UNUSUAL.sub('_', name)[:LONGEST]}.{form}", *arguments)


def drawings(report: Report) -> Iterator[tuple[Callable[..., None], str, Sequence[Any]]]:
    """Yield for each figure the function that draws it, its name, and its arguments. With several cases: each quantity
    over the cases. With one: goodput, collisions, and what there is over time."""
    runs, names, said, seen = report.result.runs, dict(report.names), report.findings.conditions, report.seen
    if len({run.case for run in runs}) > 1:
        for path, label in shown(report.quantities, runs, report.published).items():
            theirs = of_quantity(report.published, path)
            yield figures.over_cases, path, (values(runs, path), label, report.rows, names, theirs, said)
        return
    if seen.flights:
        yield figures.in_flight, "in-flight", (seen.flights, names, said)
    case, shown_runs = runs[0].case, [run for run in runs if run.seed == runs[0].seed]
    first = conditions(shown_runs, {}) + said.removeprefix(conditions(runs, {}))
    if seen.flows:
        yield figures.tcp_flows, "tcp", (some(seen.flows), noted(seen.flows, first))
    if seen.samples:
        yield figures.flows, "flows", (some(seen.samples), noted(seen.samples, first))
    if seen.routes:
        note = noted(seen.routes, first)
        yield figures.routes, "routes", (some(seen.routes), some(seen.control_s), seen.air_s, note)
    segments = "goodput_segments"
    theirs_of_case = of_quantity(report.published, segments).get(case)
    yield figures.goodput, "goodput", (values(runs, segments)[case], theirs_of_case, names, said)
    if all(run.counted for run in runs):
        lost = {kind: values(runs, f"col.{kind}")[case] for kind in (*figures.KINDS, "total")}
        yield figures.collisions, "collisions", (lost, names, False, said)


def noted(flows: Mapping[str, Any], said: str) -> str:
    """Return the note below a figure; it says if the figure shows only some of the flows."""
    shown = len(some(flows))
    return said if shown == len(flows) else f"{said}; {shown} of {len(flows)} flows"
