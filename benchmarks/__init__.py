# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: speed as ratios measured side by side in one run, never in tests. `./dcflab bench` sets up and runs
them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def asked(what: str | None) -> tuple[bool, int]:
    """Parse the command line of a benchmark: whether to print JSON, and the number of repeats."""
    parser = argparse.ArgumentParser(
        prog="./dcflab bench", description=(what or "").partition(":")[2].partition(".")[0]
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--repeats", type=int, default=3, help="how often each is timed, or how many seeds are run (3)")
    given = parser.parse_args()
    return given.json, given.repeats


def tell(found: Found, as_json: bool, show: Callable[[Found], None]) -> int:
    """Print what a benchmark found, as JSON or by `show`. Return the exit status."""
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    return 0
