# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench tcp-like`: TCP under `--tcp-like ns2` and the agents of ns-2, over the same air.

First a string of five, 120 s of one flow with a window limit of 64 segments. Then the transfer of paper 004: 10 MB over
an access point whose stations try each frame once, so TCP recovers from all losses. ns-2 plays NewReno, as Linux does,
and plain Reno, which Linux lacks. Each has a minimum RTO of 0.2 s, as in paper 003, and of 1 s, ns-2's default in the
year of paper 004.
"""

import json
import re
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from analysis.tables import statistics
from analysis.tables.table import number
from benchmarks import pool, show_table, table
from benchmarks.compare import HERE, output
from benchmarks.like_ns2 import HEADERS
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Outcome, Task
from emulation.play.session import play_with_progress, provide
from emulation.specification import Specification, specify

STATIONS, SECONDS, BYTES = 5, 120, 10_000_000
SCENARIOS = ("full", "partial", "none", "wlan")
AGENTS = {f"ns-2, {agent}, {least:g} s": (agent, least) for agent in ("Newreno", "Reno") for least in (0.2, 1.0)}
OURS: dict[str, dict[str, Any]] = {
    "--like ns2": {},
    "--like ns2 --tcp-like ns2": {"tcp_like": "ns2"},
    "the same, --rto-min-ms 1000": {"tcp_like": "ns2", "rto_min_ms": 1000},
}
QUANTITIES = {"kbps": "kb/s", "timeouts": "timeouts", "data": "DATA in flight", "ack": "ACKs in flight"}

Values = Mapping[str, float]
Found = dict[tuple[str, str], list[Values]]  # by scenario and program, a value for each seed


def in_ns2(scenario: str, agent: str, least: float, seed: int) -> Values:
    """Return QUANTITIES, as far as ns-2 has them."""
    if scenario == "wlan":
        said = output("ns", HERE / "peers/wlan.tcl", agent, least, BYTES, "no", seed)
        took = re.search(r"seconds ([\d.]+) timeouts (\d+)", said)
        assert took
        return {"kbps": BYTES * 8 / 1000 / float(took[1]), "timeouts": float(took[2])}
    with scratch("bench") as folder:
        trace = Path(folder) / "trace"
        words = STATIONS, scenario, "plain", SECONDS, seed, trace, HEADERS, agent, least
        timeouts = re.search(r"timeouts (\d+)", output("ns", HERE / "peers/string.tcl", *words))
        assert timeouts
        found = json.loads(output(sys.executable, HERE / "peers/count.py", trace, STATIONS, SECONDS))
    return {"kbps": found["goodput_kbps"], "timeouts": float(timeouts[1]), **found["in_flight"]}


def specification(scenario: str, seed: int, options: Mapping[str, Any]) -> Specification:
    if scenario == "wlan":
        once = {"stations": 1, "bytes": BYTES, "mss": 1000, "rts": "none", "short_retry": 1, "long_retry": 1,
                "seconds": 1000, "beacon_tu": 10_000}  # fmt: skip
        return specify("wlan", {**once, "seed": seed, "like": "ns2", "trace": False, **options})
    string = {"stations": STATIONS, "seconds": SECONDS, "rts": scenario, "window_limit": 64}
    return specify("string", {**string, "seed": seed, "like": "ns2", **options})


def of_outcome(outcome: Outcome) -> Values:
    run = outcome.run
    (flow,) = run.flows
    assert flow.tcp
    flight = {"data": run.in_flight.data, "ack": run.in_flight.ack} if run.in_flight else {}
    return {"kbps": flow.goodput_kbps, "timeouts": flow.tcp.rtos, **flight}


def measure(repeats: int) -> Found:
    seeds = range(1, repeats + 1)
    found: Found = {}
    theirs = [*product(SCENARIOS, AGENTS, seeds)]
    with pool() as threads:
        values = threads.map(lambda one: in_ns2(one[0], *AGENTS[one[1]], one[2]), theirs)
        for (scenario, name, _), value in zip(theirs, values, strict=True):
            found.setdefault((scenario, name), []).append(value)
    ours = [*product(SCENARIOS, OURS, seeds)]
    tasks = [
        Task(specification(scenario, seed, OURS[name]), variant=name, case=scenario) for scenario, name, seed in ours
    ]
    with scratch("bench") as folder:
        outcomes = play_with_progress(provide(), tasks, Path(folder))
    for (scenario, name, _), outcome in zip(ours, outcomes, strict=True):
        found.setdefault((scenario, name), []).append(of_outcome(outcome))
    return found


def data(found: Found) -> list[dict[str, Any]]:
    return [{"scenario": scenario, "by": name, "runs": runs} for (scenario, name), runs in found.items()]


def show(found: Found, repeats: int) -> None:
    for scenario in SCENARIOS:
        what = "10 MB over an access point, tried once" if scenario == "wlan" else f"A string of five, {scenario}"
        rows = table(f"{what}; mean of {repeats} seeds, ± 95 % confidence", "", *QUANTITIES.values())
        for name in (*AGENTS, *OURS):
            runs = found[scenario, name]
            rows.add_row(name, *(number(statistics.mean([run[each] for run in runs])) if each in runs[0] else ""
                                 for each in QUANTITIES))  # fmt: skip
        show_table(rows)
