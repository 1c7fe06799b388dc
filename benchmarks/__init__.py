# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: speed as ratios measured side by side in one run, never in tests. `./dcflab bench` sets up and runs
them."""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

from rich.console import Console
from rich.table import Table

from analysis.tables.statistics import Estimate
from emulation.lane.errors import Failure, Misuse


def main(benchmark: ModuleType) -> int:
    """Run a benchmark from the command line: `measure` with the number of repeats, and print what it found by `show`,
    or its `data` as JSON. Return the exit status. A benchmark with other options has a `main` of its own."""
    try:
        return run(benchmark)
    except (Misuse, Failure) as error:
        print(f"dcflab: {error}", file=sys.stderr)
        return 2 if isinstance(error, Misuse) else 1


def run(benchmark: ModuleType) -> int:
    if own := getattr(benchmark, "main", None):
        return int(own() or 0)
    parser = argparse.ArgumentParser(
        prog="./dcflab bench", description=(benchmark.__doc__ or "").partition(":")[2].partition(".")[0]
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is timed, or how many seeds are run (3)")
    given = parser.parse_args()
    found = benchmark.measure(given.repeats)
    if given.json:
        print(json.dumps(benchmark.data(found) if hasattr(benchmark, "data") else found, indent=1))
    else:
        benchmark.show(found, given.repeats)
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
