# SPDX-License-Identifier: BSD-3-Clause
"""`--vary NAME=A,B,...`: a study of any topology, made on the command line.

The values of the first option are the tables' columns; the combinations of the others' values are the rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from emulation.cli.options import HIDDEN
from emulation.lane.errors import Misuse
from emulation.specification import OPTIONS, parameters_of

if TYPE_CHECKING:
    from experiments import Options, Study

MOST = 10_000  # runs of one seed
# A table for each, if there are rows.
SHOWN = ("goodput_kbps", "col.total", "fail.total", "in_flight.total", "queue_drops")

Varied = tuple[str, list[str]]  # an option's name, and its values


class Vary(click.ParamType[Varied, str]):
    """`rate=2,11`; or `ranges=250,550;100,220` if values have commas themselves."""

    name = "vary"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Varied:
        name, _, text = str(value).partition("=")
        values = [each.strip() for each in text.split(";" if ";" in text else ",")]
        if not name or not all(values) or len(set(values)) < len(values):
            self.fail(f"{value}: write NAME=A,B,..., with values that differ; or NAME=A;B if they have commas")
        return name.strip().removeprefix("--").replace("-", "_"), values


def option() -> click.Option:
    return click.Option(["--vary"], type=Vary(), metavar="NAME=A,B[,...]", multiple=True,
                        help="run with each of these values; several --vary give all combinations")  # fmt: skip


def study_of(topology: str | None, name: str, title: str, vary: Sequence[Varied], given: Mapping[str, Any]) -> Study:
    """Return the study that varies these options of a topology, or of a network without one (None), with the given
    options. Raises Misuse."""
    from analysis.tables.quantities import OF_RUNS, QUANTITIES
    from experiments import Study

    names = [one for one, _ in vary]
    for number, one in enumerate(names):
        if one in ("seed", "seeds"):
            raise Misuse("vary: use --seeds to vary the seed")
        check(topology, one, "vary")
        if one in names[:number]:
            raise Misuse(f"vary: {one} is given twice; give all its values in one --vary")
        if given.get(one) is not None:
            raise Misuse(f"vary: {one} is varied; leave out --{one.replace('_', '-')}")
    columns, *rows = vary
    if len(cases := points(rows)) * len(columns[1]) > MOST:
        raise Misuse(f"vary: {len(cases) * len(columns[1])} runs for each seed; at most {MOST} are possible")
    return Study(
        name, title.rstrip("."), topology or name, {}, points([columns]), [], cases, ", ".join(names[1:]),
        names={case: case.split(" ", 1)[1] for case in cases} if len(rows) == 1 else {},
        quantities={path: QUANTITIES[path] for path in SHOWN} if rows else OF_RUNS,
    )  # fmt: skip


def check(topology: str | None, name: str, where: str) -> None:
    """Raises Misuse if the topology does not exist, or if it, or a network without one, has no option of this name."""
    try:
        known = {*(parameters_of(topology).model_fields if topology else ()), *OPTIONS} - HIDDEN
    except ValueError as error:
        raise Misuse(f"{where}: {error}") from None
    if name not in known:
        raise Misuse(f"{where}: there is no option {name!r}; there are: {', '.join(sorted(known))}")


def points(vary: Collection[tuple[str, Sequence[Any]]]) -> dict[str, Options]:
    """Return all combinations of values, by their names; without options, one that varies nothing."""
    names = [name for name, _ in vary]
    found = [dict(zip(names, point, strict=True)) for point in itertools.product(*(values for _, values in vary))]
    return {", ".join(f"{name} {value_text(value)}" for name, value in point.items()): point for point in found}


def value_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={value_text(each)}" for name, each in value.items())
    return ",".join(map(value_text, value)) if isinstance(value, list) else str(value)
