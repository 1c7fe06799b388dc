# SPDX-License-Identifier: BSD-3-Clause
"""Write a run's TCP flows as flent's data file (.flent.gz, format version 4), for flent's plots and its GUI.

It appears as flent's test `tcp_nup`: several TCP streams in one direction. Its series are `TCP upload::1`, … in Mbit/s,
in the order of flows, and their sum, mean and Jain's index. Each sample also has the window and the round-trip time.
There is no ping. Virtual time has no date: T0 is 1970.
"""

import gzip
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.load import Recorded
from analysis.results.flow_series import FILE, Series
from analysis.results.result import Result
from analysis.traces.trace import Array

SUFFIX, VERSION, TEST = ".flent.gz", 4, "tcp_nup"
SERIES, UNITS, EPOCH = "TCP upload", "Mbits/s", "1970-01-01T00:00:00.000000Z"
MOST_MISSED_STEPS = 100_000  # steps without a sample: a flow may begin late
RAW = {"tcp_cwnd": "cwnd", "tcp_rtt": "srtt_ms"}  # flent's name of a sample's value, and ours


def flent(result: Result, run: Recorded) -> bytes | None:
    """Return the file of a run; None without samples of TCP. Raises OSError if unreadable, ValueError if malformed."""
    series = run.series
    flows = [flow for flow in run.result.flows if flow.congestion and flow.name in series]
    if not flows:
        return None
    if missing := [flow.name for flow in flows if "goodput_kbps" not in series[flow.name]]:
        raise ValueError(f"{FILE} has no goodput of {missing[0]}")
    step = float(run.plan["sample_s"])
    steps = max(int(series[flow.name]["time_s"][-1] / step + 1e-6) for flow in flows)
    if steps > sum(series[flow.name]["time_s"].size for flow in flows) + MOST_MISSED_STEPS:
        raise ValueError(f"{FILE} has {steps} steps, and fewer samples")
    rates = [_on_grid(series[flow.name], step, steps) for flow in flows]
    names = [f"{SERIES}::{number}" for number in range(1, len(flows) + 1)]
    seconds = math.ceil(run.result.air_s)
    series_meta = {
        name: {"UNITS": UNITS, "MEAN_VALUE": flow.goodput_kbps / 1000, "CONG_CONTROL": flow.congestion,
               "FLOW": flow.name, "SOURCE": flow.source, "DESTINATION": flow.destination}
        for name, flow in zip(names, flows, strict=True)
    }  # fmt: skip
    found = {
        "version": VERSION,
        "metadata": {
            "NAME": TEST, "TITLE": f"{result.experiment} {run.folder.name}", "TIME": EPOCH, "T0": EPOCH,
            "LENGTH": seconds, "TOTAL_LENGTH": seconds, "STEP_SIZE": step, "IP_VERSION": 4,
            "LOCAL_HOST": flows[0].source, "HOST": flows[0].destination,
            "HOSTS": list(dict.fromkeys(flow.destination for flow in flows)),
            "TEST_PARAMETERS": {"upload_streams": str(len(flows))}, "NOTE": f"dcflab, seed {run.result.seed}",
            "DATA_FILENAME": f"{run.folder.name}{SUFFIX}", "SERIES_META": series_meta,
        },
        "x_values": [step * number for number in range(1, steps + 1)],
        "results": {name: _values(rate) for name, rate in zip(names, rates, strict=True)} | _aggregates(rates),
        "raw_values": {name: _raw(series[flow.name]) for name, flow in zip(names, flows, strict=True)},
    }  # fmt: skip
    return gzip.compress(json.dumps(found, indent=1, sort_keys=True).encode(), mtime=0)


def _on_grid(series: Series, step: float, steps: int) -> Array:
    """Return a flow's rate (Mbit/s) in each step; nan without a sample. The last sample may lie within a step."""
    rate, number = np.full(steps, np.nan), series["time_s"] / step
    at = np.rint(number).astype(int)
    whole = (np.abs(number - at) < 1e-3) & (at >= 1) & (at <= steps)
    rate[at[whole] - 1] = series["goodput_kbps"][whole] / 1000
    return rate


def _aggregates(rates: Sequence[Array]) -> dict[str, list[float | None]]:
    """Return sum and mean of the flows' rates, and Jain's index, over the flows that have one in a step."""
    each = np.array(rates)
    count, total = (~np.isnan(each)).sum(axis=0), np.nansum(each, axis=0)
    squares = np.nansum(each**2, axis=0)
    nothing = np.full(total.size, np.nan)
    mean = np.divide(total, count, out=nothing.copy(), where=count > 0)
    fairness = np.divide(total**2, count * squares, out=nothing.copy(), where=squares > 0)
    total = np.where(count > 0, total, np.nan)
    return {f"{SERIES} {what}": _values(of) for what, of in (("sum", total), ("avg", mean), ("fairness", fairness))}


def _values(of: Array) -> list[float | None]:
    """Convert values to JSON."""
    return [None if math.isnan(value) else float(f"{value:.9g}") for value in of.tolist()]


def _raw(series: Series) -> list[dict[str, Any]]:
    """Return each sample of a flow, without missing values."""
    columns = {"t": series["time_s"], "val": series["goodput_kbps"] / 1000}
    columns |= {flent_name: series[our_name] for flent_name, our_name in RAW.items() if our_name in series}
    values = [_values(column) for column in columns.values()]
    return [
        {name: value for name, value in zip(columns, sample, strict=True) if value is not None}
        for sample in zip(*values, strict=True)
    ]
