# SPDX-License-Identifier: BSD-3-Clause
"""Sweep files: a short form of a study. The `points` of a file are the variants, or else the values of the first option
of its `grid`. All combinations of the grid's other options are the cases."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ValidationError

import topologies
from analysis.tables.quantities import OF_RUNS, QUANTITIES
from analysis.tables.table import is_path
from emulation.cli import vary
from emulation.cli.command import Seeds
from emulation.lane.errors import Misuse
from emulation.plan.checks import as_misuse
from emulation.play import trust
from emulation.specification import explain
from experiments import Options, Study


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
