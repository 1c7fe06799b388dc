# SPDX-License-Identifier: BSD-3-Clause
"""Flows of all kinds: from a lane's report to result.json, tables, and lines about flows in trouble."""

import io
import json
import math
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sample_runs import lane, plan

from analysis.results import flow_series
from analysis.results.result import Result, Run, from_lane
from analysis.results.summaries import Outcome
from analysis.tables.flow_tables import flow_tables, troubles
from analysis.tables.table import scaled, value
from traffic import outcome
from traffic.datagrams import Datagrams
from traffic.samples import COLUMNS, FILE
from traffic.spread import spread

DATAGRAMS: dict[str, Any] = {
    **Datagrams().report(), "sent": 500, "arrived": 400, "lost_percent": 20.0, "hops_mean": 2.0,
    "delay_ms": spread([5.0, 15.0]), "jitter_ms": 2.0, "late": 10, "r": 80.0, "mos": 4.0,
}  # fmt: skip
TRANSACTIONS: dict[str, Any] = {
    "begun": 12, "completed": 10, "failed": 1, "unfinished": 1, "bytes": 10_000, "seconds": spread([0.25] * 10),
}  # fmt: skip
ENDS = {"voice": ("", {"datagrams": DATAGRAMS}), "web": ("reno", {"transactions": TRANSACTIONS}), "bulk": ("reno", {})}


def run(kinds: str = "bulk voice web", seed: int = 1, **reports: dict[str, Any]) -> Run:
    """Flows of these kinds, with what is reported of them otherwise, by kind."""
    made, found = plan(seed), lane(100)
    [planned], [report] = made["applications"], found["applications"]
    made["applications"], found["applications"] = [], []
    for number, kind in enumerate(kinds.split(), 1):
        name, (congestion, own) = f"flow{number}", ENDS[kind]
        made["applications"].append({**planned, "name": name, "kind": kind, "congestion": congestion, "stop_s": 60.0})
        said = {"error": None, "last_s": 3.0, "waiting_s": None, "outcome": "ran", "why": None}
        found["applications"].append({**report, **said, "name": name, **own, **reports.get(kind, {})})
    return from_lane(made, found, wall_s=1)


def shown(*runs: Run) -> dict[str, list[list[str]]]:
    """Of each table, by its title, the cells of each line."""
    found = {}
    for table in flow_tables(runs):
        Console(file=(out := io.StringIO()), width=250).print(table)
        lines = (line.strip("│┃").replace("┃", "│") for line in out.getvalue().splitlines())
        found[str(table.title)] = [[cell.strip() for cell in line.split("│")] for line in lines]
    return found


def test_outcomes_have_the_lanes_words() -> None:
    assert {one.name: one.value for one in Outcome} == {one.name: one.value for one in outcome.Outcome}


def test_a_result_has_them_all_and_is_read_back() -> None:
    made = run(bulk={"outcome": "died", "why": "nothing arrived after 3.00 s"})
    again = Run.model_validate_json(made.model_dump_json())
    assert again == made
    bulk, voice, web = again.flows
    assert (bulk.kind, bulk.outcome, bulk.why, bulk.last_s) == ("bulk", Outcome.DIED, "nothing arrived after 3.00 s", 3)
    assert bulk.datagrams is bulk.transactions is None
    assert voice.datagrams and web.transactions and web.transactions.seconds
    assert (voice.datagrams.mos, web.transactions.seconds.p99, voice.congestion) == (4.0, 0.25, "")
    assert (
        value(made, "flows.1.datagrams.delay_ms.p95") == 15 and value(made, "flows.2.transactions.seconds.p50") == 0.25
    )
    assert math.isnan(value(made, "flows.0.datagrams.delay_ms.p95"))
    assert made.applications == []  # all that they say has its place
    assert "Datagrams" in json.dumps(Result.model_json_schema())


def test_a_rate_is_over_the_time_until_the_stop() -> None:
    made = run()
    assert made.flows[0].goodput_kbps == pytest.approx((146_000 + 700) * 8 / 60_000)


def test_what_a_lane_does_not_say_is_a_flow_that_ran() -> None:
    [flow] = from_lane(plan(), lane(100), wall_s=1).flows
    assert (flow.kind, flow.outcome, flow.why) == ("bulk", Outcome.RAN, None)


def test_counts_are_scaled_to_another_time_and_delays_are_not() -> None:
    published = {"": {"full": {"flows.0.datagrams.sent": 10.0, "flows.0.datagrams.jitter_ms": 2.0,
                               "flows.0.transactions.begun": 4.0}}}  # fmt: skip
    assert scaled(published, 0.5)[""]["full"] == {
        "flows.0.datagrams.sent": 5, "flows.0.datagrams.jitter_ms": 2, "flows.0.transactions.begun": 2
    }  # fmt: skip


def test_each_kind_has_its_table() -> None:
    found = shown(run())
    assert list(found) == ["flows", "datagrams", "transactions"]
    assert found["flows"][2][:5] == ["flow", "kind", "from", "to", "TCP"]
    assert "outcome" not in found["flows"][2]
    assert found["datagrams"][2] == [
        *(
            "flow",
            "kind",
            "from",
            "to",
            "sent",
            "lost, %",
            "mean hops",
            "delay, ms",
            "95 %",
            "at most",
            "jitter, ms",
            "late",
            "MOS",
        )
    ]
    assert found["datagrams"][4] == [
        "flow2",
        "voice",
        "sta1",
        "sta5",
        "500",
        "20",
        "2",
        "10",
        "15",
        "15",
        "2",
        "10",
        "4",
    ]
    assert found["transactions"][4][5:] == ["12", "10", "1", "1", *["0.25"] * 5]
    assert list(shown(run("bulk"))) == ["flows"]
    assert "kind" not in shown(run("bulk"))["flows"][2]


def test_a_flow_that_died_is_reported_and_not_averaged_away() -> None:
    """In its table, with the number of seeds; and for each the reason."""
    died = {"outcome": "never started", "why": "No route to host", "delivered_bytes": 0}
    runs = [run("bulk", 1), run("bulk", 2, bulk=died), run("bulk", 3)]
    lines = shown(*runs)["flows"]
    assert (lines[2][-1], lines[4][-1]) == ("outcome", "2 ran, 1 never started")
    assert troubles(runs) == ["2: flow1 (bulk, sta1 to sta5) never started: No route to host"]
    assert troubles([run()]) == []
    many = [run("bulk", seed, bulk=died) for seed in range(30)]
    assert troubles(many)[-1] == "and 10 more, as result.json says" and len(troubles(many)) == 21


def test_samples_are_columns_by_flow() -> None:
    rows = ["flow,time_s,delivered_bytes,srtt_ms", "a,1,100,", "b,1,5,2.5", "a,2,300,1e1"]
    found = flow_series.parse(rows)
    assert found["a"]["time_s"].tolist() == [1, 2] and found["a"]["delivered_bytes"].tolist() == [100, 300]
    np.testing.assert_array_equal(found["a"]["srtt_ms"], [np.nan, 10])
    assert list(found) == ["a", "b"] and flow_series.parse(rows[:1]) == {}
    for wrong in ([], ["time,flow", "1,2"]):
        with pytest.raises(ValueError, match="not samples of flows"):
            flow_series.parse(wrong)


def test_the_columns_that_are_drawn_are_written() -> None:
    from analysis.figures.figures import OVER_TIME

    assert {name for name, _ in OVER_TIME} <= set(COLUMNS) and flow_series.FILE == FILE
