# SPDX-License-Identifier: BSD-3-Clause
"""Replay: run what a run folder says again, and compare. Wall times aside, one seed gives one result, to the byte."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from analysis.result import Result
from emulation.cli.commands import play_with_progress, provide
from emulation.play.run import Task
from emulation.specification import Specification


def replay(folder: Path) -> list[str]:
    """The first differences between a run folder and the same run again; none: identical.

    Raises UsageError if the folder holds no result of this version.
    """
    try:
        before = Result.model_validate_json((folder / "result.json").read_text())
        tasks = [
            Task(Specification.model_validate({**before.specification, **run.changes}), run.variant, run.case)
            for run in before.runs
        ]
    except OSError as error:
        raise click.UsageError(f"{folder}: no result.json there: {error.strerror}") from None
    except ValueError:  # of JSON, of UTF-8, of what pydantic checks
        raise click.UsageError(f"{folder}/result.json is not a result of this version of dcflab") from None
    for missing in (run.trace for run in before.runs if run.trace and not (folder / run.trace).is_file()):
        raise click.UsageError(f"{folder / missing}: the trace of this run is gone")
    with tempfile.TemporaryDirectory(prefix="dcflab-replay-") as again:
        outcomes = play_with_progress(
            provide(folders=before.specification.get("modules", ())), tasks, Path(again), None
        )
        runs = [
            outcome.run.model_copy(update={"changes": run.changes})
            for run, outcome in zip(before.runs, outcomes, strict=True)
        ]
        after = before.model_copy(update={"runs": runs})
        found = list(differences(before.comparable(), after.comparable()))
        for run, outcome in zip(before.runs, outcomes, strict=True):
            if run.trace and outcome.run.trace:
                found += first_difference(folder / run.trace, Path(again) / outcome.run.trace)
    return found[:20]


def differences(a: Any, b: Any, path: str = "result") -> Iterator[str]:
    """Where two JSON values differ, one line each."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in {**a, **b}:
            yield from differences(a.get(key), b.get(key), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differences(x, y, f"{path}[{index}]")
    elif a != b:
        yield f"{path}: {a!r} before, {b!r} now"


def first_difference(a: Path, b: Path) -> list[str]:
    """Where two files part; empty if they do not."""
    with open(a, "rb") as x, open(b, "rb") as y:
        at = 0
        while True:
            p, q = x.read(1 << 16), y.read(1 << 16)
            if p != q:
                at += next((i for i, (m, n) in enumerate(zip(p, q, strict=False)) if m != n), min(len(p), len(q)))
                return [f"{a}: the trace differs from byte {at} on"]
            if not p:
                return []
            at += len(p)
