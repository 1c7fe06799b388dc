# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: speed as ratios measured side by side in one run, never in tests. `./dcflab bench` sets up and runs
them."""

import argparse
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

from analysis.tables.statistics import Estimate

Found = TypeVar("Found")


def main(
    what: str | None, measure: Callable[[int], Found], show: Callable[[Found, int], None],
    data: Callable[[Found], Any] = lambda found: found,
) -> int:  # fmt: skip
    """Run a benchmark from the command line: measure with the number of repeats, and print what was found by `show`, or
    `data` of it as JSON. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="./dcflab bench", description=(what or "").partition(":")[2].partition(".")[0]
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is timed, or how many seeds are run (3)")
    given = parser.parse_args()
    found = measure(given.repeats)
    if given.json:
        print(json.dumps(data(found), indent=1))
    else:
        show(found, given.repeats)
    return 0


def pool() -> ThreadPoolExecutor:
    """Return a pool with a thread for each CPU, for other simulators' processes."""
    return ThreadPoolExecutor(len(os.sched_getaffinity(0)))


def words(**options: object) -> list[str]:
    """Return options as the peers take them: --name=value."""
    return [f"--{name}={value}" for name, value in options.items()]


def table(title: str, *columns: str) -> Table:
    return Table(*columns, title=title, title_justify="left")


def show_table(table: Table, width: int | None = None) -> None:
    Console(width=width).print(table)


def near(mean: Estimate, digits: int = 0) -> str:
    """Return a mean with its 95 % confidence interval, if it has one."""
    interval = f" ± {mean.half_width:,.{digits}f}" if mean.samples > 1 else ""
    return f"{mean.mean:,.{digits}f}{interval}"


def against(ours: Estimate, theirs: Estimate) -> str:
    """Return the difference from the peer in percent."""
    return f"{100 * (ours.mean / theirs.mean - 1):+.1f} %"
