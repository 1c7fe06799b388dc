# SPDX-License-Identifier: BSD-3-Clause
"""The report of runs: one page with findings, figures that zoom, settings that differ from the kernel's defaults, and
how to repeat the runs. It is made from what is in memory after the runs: the printed tables and verdicts
(`analysis.tables.findings`), their Result, and the data of the figures.

uPlot draws the curves. The page contains it with its licence, as that demands (`analysis/pages/shared/uplot/`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures.figures import KINDS
from analysis.figures.places import to_scale
from analysis.pages import packed
from analysis.pages.report.curves import NOTHING, OverTime, curves
from analysis.pages.shared import SHARED
from analysis.results.result import Run
from analysis.tables import statistics
from analysis.tables.brief import Source
from analysis.tables.quantities import meaning
from analysis.tables.table import by_case, number, shown, value
from analysis.traces.trace import Array
from emulation import files
from emulation.files.foreign import reading
from emulation.files.whole import at_once

if TYPE_CHECKING:
    from rich.table import Table

HERE = Path(__file__).parent
FILES = ("style.css", "uplot/uPlot.iife.min.js", "charts.js", "curves.js", "report.js")
LEFT = ("air.pcapng.gz", ".")  # in the folder of a run, beside pages
UPLOT = """<!-- Curves are drawn by uPlot 1.6.32, which is in this file under this license:
{}-->
<style>{}</style>
"""
MOST_SETTINGS = 400  # rows; more occur only if stations have settings of their own
OF_COLLISIONS = {f"col.{kind}": label for kind, (label, _) in KINDS.items()}


@dataclass(frozen=True)
class Report(Source):
    """The contents of a report. `command`: the line that made the runs. `seen`: what can be drawn over time. `pages`:
    files that commands make of a run, with the commands."""

    command: str = ""
    folder: str = ""
    seen: OverTime = NOTHING
    pages: Mapping[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write the page to this path. Raises OSError if it cannot."""
        files.write(path, page(self))


def page(report: Report) -> str:
    """Return the whole file."""
    said, columns = content(report)
    uplot = [(SHARED / "uplot" / name).read_text() for name in ("LICENSE", "uPlot.min.css")]
    return packed.page(HERE, report.findings.title, FILES, packed.pack(said, columns), UPLOT.format(*uplot))


def link(path: Path, pages: Iterable[str]) -> None:
    """Have a written report link to what its runs have now of these pages, which may be made later. Raises OSError if
    it cannot be read or written, Damaged if it is not a report."""
    with reading(path):
        text = files.read(path).decode()
        said, columns = packed.unpack(text)
        try:
            left = [_left(path.parent / run["folder"], pages) for run in said["runs"]]
            if left != [run.get("left") for run in said["runs"]]:
                runs = [{**run, "left": now} for run, now in zip(said["runs"], left, strict=True)]
                data = packed.pack({**said, "runs": runs}, columns)
                with at_once(path.parent) as unfinished:
                    files.write(unfinished / path.name, packed.changed(text, data))
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"it is not a report: {error}") from None


def content(report: Report) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the page's JSON object, and the columns that its figures draw."""
    found, result = report.findings, report.result
    columns: dict[str, Array] = {}
    charts = [*_bars(report), *_cases(report), *curves(report.seen, report.names, columns)]
    return {
        "title": found.title, "said": found.conditions, "command": report.command, "folder": report.folder,
        "tables": [table(each) for each in (*found.tables, *found.beside)], "troubles": list(found.troubles),
        "claims": [claim._asdict() for claim in found.claims], "charts": charts,
        "settings": settings(result.runs), "runs": [_row(run, report) for run in result.runs],
        "pages": dict(report.pages), "options": _plain(result.specification),
        "host": result.host.model_dump(), "experiment": result.experiment,
        "made_of": {name: sha for run in result.runs[:1] for name, sha in run.made_of.items()},
    }, columns  # fmt: skip


def table(printed: "Table") -> dict[str, Any]:
    """Return a printed table as data: title, columns, rows with meanings, and the rows that a rule follows. Rows of
    goodput come first."""
    columns = [[str(cell) for cell in column.cells] for column in printed.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    ends = [row.end_section for row in printed.rows]
    order = sorted(range(len(rows)), key=lambda at: not rows[at][0].startswith("goodput"))
    first = sum(row[0].startswith("goodput") for row in rows)
    rules = {place for place, at in enumerate(order) if ends[at]} | ({first - 1} if 0 < first < len(rows) else set())
    return {
        "title": str(printed.title or ""), "meaning": meaning(str(printed.title or "")),
        "caption": str(printed.caption or ""),
        "columns": [{"name": str(column.header), "right": column.justify == "right", "dim": column.style == "dim"}
                    for column in printed.columns],
        "rows": [rows[at] for at in order], "rules": sorted(rules), "means": [meaning(rows[at][0]) for at in order],
    }  # fmt: skip


def settings(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the settings that differ from the kernel's defaults: name, value, default, where, and in which runs ("" if
    in all)."""
    rows: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    everywhere: dict[str, set[str]] = {}
    for run in runs:
        folder = run.folder
        for each in run.settings:
            key = each.what, _word(each.value), _word(each.default)
            rows.setdefault(key, {}).setdefault(folder, []).append(each.where)
            everywhere.setdefault(folder, set()).add(each.where)
    found = []
    for (what, now, default), of in list(rows.items())[:MOST_SETTINGS]:
        places = list(dict.fromkeys(where for names in of.values() for where in names))
        alike = all(set(names) == everywhere[run] for run, names in of.items())
        in_all = len(of) == len({run.folder for run in runs})
        found.append({"what": what, "value": now, "default": default, "where": "all" if alike else ", ".join(places),
                      "runs": "" if in_all else ", ".join(of)})  # fmt: skip
    return found


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _plain(specification: Mapping[str, Any]) -> list[list[str]]:
    """Return a specification as rows of path and value, without empty values and the nodes."""

    def flat(of: Any, path: str) -> Iterator[list[str]]:
        if isinstance(of, Mapping) and of:
            for name, each in of.items():
                yield from flat(each, f"{path}.{name}" if path else name)
        elif of not in (None, {}, [], (), "") and path.count(".") < 3 and not path.startswith("network.nodes"):
            yield [path, _word(of)]

    return list(flat(specification, ""))


def _row(run: Run, report: Report) -> dict[str, Any]:
    """Return a run's row, with the files of its folder that the page can link to."""
    names, where = report.names, Path(report.folder) / run.folder
    return {
        "folder": run.folder, "variant": names.get(run.variant, run.variant), "case": names.get(run.case, run.case),
        "seed": run.seed, "air_s": run.air_s, "wall_s": run.wall_s, "goodput_kbps": run.goodput_kbps,
        "trace": run.trace is not None, "repeatable": run.repeatable,
        "left": _left(where, report.pages),
    }  # fmt: skip


def _left(where: Path, pages: Iterable[str]) -> list[str]:
    return [file for file in (*pages, *LEFT) if (where / file).exists()]


def _estimate(found: Sequence[float]) -> list[float | None]:
    """Return the mean and half of its interval; None where there is none."""
    of = statistics.mean(found)
    return [None if np.isnan(number) else number for number in (of.mean, of.half_width)]


def _bars(report: Report) -> Iterator[dict[str, Any]]:
    """Yield the charts of goodput and collisions, if there is one case."""
    groups = by_case(report.result.runs)
    if len(groups) != 1:
        return
    [(case, variants)] = groups.items()

    def stack(variant: str, runs: Sequence[Run], total: str, parts: Sequence[tuple[str, str]]) -> dict[str, Any]:
        measured = [value(run, total) for run in runs]
        theirs = report.published.get(case, {}).get(variant, {}).get(total)
        return {
            "name": report.names.get(variant, variant), "total": _estimate(measured),
            "said": number(statistics.mean(measured)), "published": theirs, "theirs": number(theirs),
            "parts": [[said, _estimate([value(run, path) for run in runs])[0]] for path, said in parts],
        }  # fmt: skip

    goodput = "goodput_segments"
    yield {"kind": "bars", "title": "Goodput", "unit": "segments",
           "stacks": [stack(*each, goodput, [(goodput, "goodput")]) for each in variants.items()]}  # fmt: skip
    if all(run.counted for run in report.result.runs):
        parts = [(path, label) for path, label in shown(OF_COLLISIONS, report.result.runs).items()]
        yield {"kind": "bars", "title": "RTS, CTS and data lost to collisions at their addressed receiver",
               "unit": "frames", "stacks": [stack(*each, "col.total", parts) for each in variants.items()]}  # fmt: skip


def _cases(report: Report) -> Iterator[dict[str, Any]]:
    """Yield a chart of each quantity over the cases, if there are several."""
    groups = by_case(report.result.runs)
    if len(groups) < 2:
        return
    variants = list(dict.fromkeys(variant for group in groups.values() for variant in group))
    numbers, what = to_scale([report.names.get(case, case) for case in groups], report.rows) or (None, report.rows)
    if numbers:  # a curve goes from left to right
        groups = {case: groups[case] for _, case in sorted(zip(numbers, groups, strict=True))}
    cases = [report.names.get(case, case) for case in groups]
    for path, label in shown(report.quantities, report.result.runs, report.published).items():
        lines = []
        for variant in variants:
            each = [[value(run, path) for run in group.get(variant, [])] for group in groups.values()]
            found = [_estimate(of) if of else [None, None] for of in each]
            theirs = [report.published.get(case, {}).get(variant, {}).get(path) for case in groups]
            lines.append({"name": report.names.get(variant, variant), "values": found, "published": theirs})
        yield {"kind": "cases", "title": label, "x": what, "cases": cases, "numbers": numbers and sorted(numbers),
               "lines": lines}  # fmt: skip
