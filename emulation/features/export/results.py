# SPDX-License-Identifier: BSD-3-Clause
"""The columns of runs, options and flows, from `result.json`: lists of values, None if missing."""

import json
import math
from collections.abc import Sequence
from typing import Any

from analysis.results.result import Result, Run
from emulation.features.export.schema import FLOWS, OPTION, RUNS, Table

TOPOLOGY_PARAMETERS = "parameters"  # of the topology: options like any other
EXCLUDED = ("own", "seed")  # a user's own network; and what has its own column
Columns = dict[str, list[Any]]


def runs(result: Result) -> Columns:
    return {**_keys(result.runs), **_varied(result, result.runs), **_read(RUNS, result.runs)}


def flows(result: Result) -> Columns:
    pairs = [(run, flow) for run in result.runs for flow in run.flows]
    runs_of_flows = [run for run, _ in pairs]
    return {**_keys(runs_of_flows), **_varied(result, runs_of_flows), **_read(FLOWS, [flow for _, flow in pairs])}


def options(result: Result) -> Columns:
    """Return each option of each run, including those that no run varies."""
    rows = [(run, name, value) for run in result.runs for name, value in options_of(result, run).items()]
    return {
        **_keys([run for run, _, _ in rows]), "option": [name for _, name, _ in rows],
        "value": [json.dumps(value, ensure_ascii=False) for _, _, value in rows],
    }  # fmt: skip


def options_of(result: Result, run: Run) -> dict[str, Any]:
    """Return the options of a run, by their flat names."""
    sections = (section for section in result.specification.values() if isinstance(section, dict))
    flat = {name: value for section in sections for name, value in section.items()}
    parameters = flat.pop(TOPOLOGY_PARAMETERS, None)
    flat |= {**(parameters if isinstance(parameters, dict) else {}), **run.changes}
    return {name: value for name, value in flat.items() if name not in EXCLUDED}


def _keys(chosen: Sequence[Run]) -> Columns:
    return {
        "run": [run.folder for run in chosen], "case": [run.case for run in chosen],
        "variant": [run.variant for run in chosen], "seed": [run.seed for run in chosen],
    }  # fmt: skip


def _varied(result: Result, chosen: Sequence[Run]) -> Columns:
    """Return the options in which the runs of the result differ."""
    varied = dict.fromkeys(name for run in result.runs for name in run.changes if name not in EXCLUDED)
    each = {run.folder: options_of(result, run) for run in result.runs}
    return {OPTION + name: [each[run.folder].get(name) for run in chosen] for name in varied}


def _read(table: Table, models: Sequence[Any]) -> Columns:
    columns = table.columns[4:]
    return {column.name: [follow(each, column.path or column.name) for each in models] for column in columns}


def follow(value: Any, path: str) -> Any:
    """Return the value at a path of attributes; None if a part is missing, as are counters of a medium that is not
    ours."""
    for name in path.split("."):
        try:
            value = getattr(value, name, None)
        except KeyError:
            return None
        if value is None:
            return None
    return None if isinstance(value, float) and math.isnan(value) else value
