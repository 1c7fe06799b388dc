# SPDX-License-Identifier: BSD-3-Clause
"""What commands share: how their misuse is said, and the options that many of them have."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from emulation import lanes
from emulation.lanes import CHECKOUT, Lane
from emulation.play.errors import Misuse

if TYPE_CHECKING:
    from emulation.play.run import Outcome


class Command(click.Command):
    """A command whose misuse is said as click says its own, with where to look."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Misuse as error:
            raise click.UsageError(str(error), ctx) from None


class Seeds(click.ParamType[list[int], str]):
    """`3`, `1..5`, `1,4,9`, or a mixture: the seeds in order, each once."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        seeds: list[int] = []
        for part in str(value).split(","):
            first, dots, last = part.partition("..")
            if not (first.isdecimal() and (last.isdecimal() if dots else not last)):
                self.fail(f"{value}: a seed is a whole number; several are written 1..5 or 1,4,9", param, ctx)
            if len(first) > 19 or len(last) > 19 or max(int(first), int(last or 0)) >= 2**63:
                self.fail(f"{value}: a seed is below 2^63", param, ctx)
            more = int(last or first) + 1 - int(first)
            if more < 1 or len(seeds) + more > 10_000:
                self.fail(f"{value}: between 1 and 10000 seeds", param, ctx)
            seeds += range(int(first), int(first) + more)
        return list(dict.fromkeys(seeds))


class LaneName(click.ParamType[Lane, str]):
    """A lane by its name, or the path of one of the user's own."""

    name = "lane"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Lane:
        try:
            return lanes.find(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def seeds(default: str = "1") -> click.Option:
    return click.Option(["--seeds", "--seed", "seeds"], type=Seeds(), default=default, show_default=True,
                        help="one seed, or several: 1..5, 1,4,9")  # fmt: skip


def out() -> click.Option:
    return click.Option(["--out"], type=click.Path(path_type=Path), metavar="FOLDER",
                        help="the run folder  [default: runs/NAME-TIME]")  # fmt: skip


def as_json(what: str) -> click.Option:
    return click.Option(["--json", "as_json"], is_flag=True, help=f"print {what}")


def jobs() -> click.Option:
    return click.Option(["--jobs"], type=click.IntRange(1, 256), help="lanes side by side  [default: one a CPU]")


def figures() -> click.Option:
    return click.Option(["--figures/--no-figures"], default=True,
                        help="draw figures into the run folder  [default: --figures]")  # fmt: skip


def lane(default: str | None = lanes.DEFAULT) -> click.Option:
    there = f"{'|'.join(lanes.names())}, or the path of one of your own"
    return click.Option(["--lane"], type=LaneName(), metavar="NAME", default=default, show_default=bool(default),
                        help=f"where to run: {there}")  # fmt: skip


def become(program: str, *arguments: str) -> NoReturn:
    """Go on as another Python program of the checkout."""
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", program, *arguments])


def of_runs(default_seeds: str = "1", default_lane: str = lanes.DEFAULT) -> list[click.Parameter]:
    """The options of all that plays tasks."""
    return [
        seeds(default_seeds),
        out(),
        as_json("result.json instead of tables"),
        jobs(),
        figures(),
        lane(default_lane),
    ]


def say_speed(outcomes: Sequence[Outcome], wall_s: float, folder: Path) -> None:
    air_s = sum(outcome.run.air_s for outcome in outcomes)
    times = f"{air_s / wall_s:.0f} times real time"
    click.echo(f"{air_s:.0f} s of air time in {wall_s:.1f} s of wall time ({times}); {folder}/")
