# SPDX-License-Identifier: BSD-3-Clause
"""Tables of made-up studies, as a reader sees them."""

import io
import math

import pytest
from rich.console import Console
from rich.table import Table
from sample_runs import lane, plan, run, strings, study

from analysis.results.result import Run, TcpSummary, from_lane
from analysis.results.summaries import RouteSummary, RoutingSummary
from analysis.tables.flow_tables import flow_table, route_table
from analysis.tables.quantities import OF_RUNS
from analysis.tables.table import by_case, conditions, of_runs, scaled, study_tables, value

NAMES = {"full": "Full", "partial": "Partial", "none": "No", "plain": "NewReno"}
PUBLISHED = {
    "": {
        "full": {"goodput_segments": 4476, "col.any.total": 15193},
        "none": {"goodput_segments": 5365, "col.any.total": 11893},
    }
}
GOODPUT = {"goodput_segments": "segments"}


def text(table: Table) -> list[list[str]]:
    """Return what a reader sees: the cells of each line."""
    out = io.StringIO()
    Console(file=out, width=200).print(table)
    lines = (line.strip("│┃").replace("┃", "│") for line in out.getvalue().splitlines())
    return [[cell.strip() for cell in line.split("│")] for line in lines]


def row(lines: list[list[str]], label: str) -> list[str]:
    return next(line[1:] for line in lines if line[0] == label)


def test_study_of_one_seed() -> None:
    """One column a variant, the published numbers beside, and the change against the first."""
    [table] = study_tables("RTS/CTS", study(1), published=PUBLISHED, names=NAMES)
    lines = text(table)
    assert row(lines, "") == ["Full", "paper", "Partial", "No", "paper"]
    assert row(lines, "goodput, segments") == ["4,540", "4,476", "4,880", "5,440", "5,365"]
    assert row(lines, "goodput against Full") == ["", "", "+7.5 %", "+19.8 %", "+19.9 %"]
    assert row(lines, "COL_ANY_TOTAL")[1] == "15,193" and row(lines, "COL_TOTAL")[1] == ""
    assert row(lines, "COL_RTS/CTS") == ["303", "", "203", "103", ""]
    assert row(lines, "segments in flight, mean")[0] == "5.25"


def test_without_a_number_there_is_no_table() -> None:
    assert study_tables("", [run(collisions=0)], quantities={"col.udp": "COL_UDP"}) == []


def test_study_of_many_seeds() -> None:
    """Means with their confidence intervals."""
    [table] = study_tables("RTS/CTS", study(3), names=NAMES)
    lines = text(table)
    assert row(lines, "COL_RTS/CTS")[0] == "304 ± 2"
    assert row(lines, "goodput, segments")[0] == "4,580 ± 99"
    assert "±" in row(lines, "goodput against Full")[2]


def test_cases() -> None:
    """A table for each quantity, a row for each case: each variant's mean, how much more than the first it has, and
    what a publication had."""
    published = {"4": {"plain": {"goodput_segments": 1000}, "slow": {"goodput_segments": 1500}}}
    tables = study_tables(
        "SCA", strings(), published=published, names=NAMES, rows="hops", quantities=GOODPUT | {"queue_drops": "drops"}
    )
    assert [table.title for table in tables] == ["segments", "drops"]
    lines = text(tables[0])
    assert row(lines, "hops") == ["NewReno", "paper", "slow", "paper"]
    assert row(lines, "3") == ["2,020", "", "2,222  +10.0 %", ""]
    assert row(lines, "4") == ["1,515", "1,000", "1,818  +20.0 %", "1,500  +50.0 %"]
    assert row(text(tables[1]), "hops") == ["NewReno", "slow"]
    [many] = study_tables("", strings(seeds=2), names=NAMES, quantities=GOODPUT)
    assert row(text(many), "3") == ["2,030 ± 127", "2,233 ± 140  +10.0 ± 0.0 %"]


def test_what_was_not_run_is_an_empty_cell() -> None:
    runs = [run for run in strings() if (run.case, run.variant) != ("4", "slow")]
    [table] = study_tables("", runs, rows="hops", quantities=GOODPUT)
    assert row(text(table), "4") == ["1,515", ""]


def test_many_variants_are_one_matrix() -> None:
    """Beside the first there are changes only, and below the widest interval."""
    runs = [
        run(variant=str(threshold), case=case, seed=seed, segments=1000 + 100 * threshold + 10 * seed * threshold)
        for seed in (1, 2)
        for case in ("3", "4")
        for threshold in range(8)
    ]
    [table] = study_tables("Sweep", runs, names={"0": "none"}, rows="hops", quantities=GOODPUT)
    lines = text(table)
    assert row(lines, "hops") == ["none", *"1234567"]
    assert row(lines, "3") == ["1,000 ± 0", "+12 %", "+23 %", "+35 %", "+46 %", "+58 %", "+69 %", "+80 %"]
    assert lines[-1] == ["the widest 95 % confidence interval is ± 44.5 %"]


def test_without_flight_and_goodput() -> None:
    """A value that a run lacks is a dash; relative to no goodput there is no change."""
    runs = [run("full", segments=0, in_flight=None), run("none", segments=5, in_flight=None)]
    [table] = study_tables("", runs)
    lines = text(table)
    assert row(lines, "segments in flight, mean") == ["-", "-"]
    assert row(lines, "goodput against full") == ["", ""]
    assert math.isnan(value(runs[0], "in_flight.data"))
    with pytest.raises(AttributeError):
        value(runs[0], "col.nothing")


def test_paths_lead_into_lists() -> None:
    """By number, from 0; what is not in the list is unknown. From one to another it is their mean."""
    one = run(segments=4500)
    three = one.model_copy(update={"flows": [
        one.flows[0].model_copy(update={"goodput_segments": segments}) for segments in (10, 20, 60)
    ]})  # fmt: skip
    assert value(three, "flows.0-2.goodput_segments") == 30 and value(three, "flows.1-2.goodput_segments") == 40
    assert value(three, "flows.2-9.goodput_segments") == 60 and math.isnan(value(three, "flows.3-9.goodput_segments"))
    assert value(run(segments=4500), "flows.0.goodput_segments") == 4500
    assert math.isnan(value(run(), "flows.1.goodput_segments"))


def test_groups_are_sorted_by_seed() -> None:
    """Cases and variants come in the order in which they first did."""
    groups = by_case(strings(seeds=2)[::-1])
    assert {case: list(group) for case, group in groups.items()} == {case: ["slow", "plain"] for case in ("4", "3")}
    assert list(groups) == ["4", "3"]
    assert [run.seed for run in groups["3"]["slow"]] == [1, 2]


def flows_of(*runs: Run) -> list[list[str]]:
    return text(flow_table(runs))


def test_flows() -> None:
    """Each flow's own numbers: hops, TCP, goodput, and its end; empty columns are omitted."""
    done = run(segments=4500)
    [flow] = done.flows
    tcp = TcpSummary(rtos=3, fast_retransmits=2, slow_start_s=1, congestion_avoidance_s=1, recovery_s=1, rto_s=1,
                     cwnd_mean=7.25, cwnd_max=9, srtt_ms=None, in_flight_mean=5)  # fmt: skip
    done = done.model_copy(update={"flows": [flow.model_copy(update={"hops": 4, "finished_s": 30.5, "tcp": tcp})]})
    _, _, head, _, cells, _ = flows_of(done)
    assert head == ["flow", "from", "to", "TCP", "hops", "kb/s", "share", "segments", "retransmitted", "timeouts",
                    "fast retr.", "mean cwnd", "finished, s"]  # fmt: skip
    assert cells == ["flow1", "sta1", "sta5", "reno", "4", "438", "1", "4,500", "12", "3", "2", "7.25", "30.50"]
    both = flows_of(done, run(seed=2, segments=4600))[4]
    assert both[4:8] == ["4", "443 ± 62", "1 ± 0", "4,550 ± 635"] and both[-1] == "30.50 (1 of 2)"
    assert [line[0] for line in flows_of(run("full"), run("none"))][2:3] == ["variant"]


def routed(seed: int, by_hops: dict[int, int] | None) -> Run:
    """A run with a routing protocol."""
    counts = {"control_frames": {"hello": 30, "tc": 12}, "control_bytes": {"hello": 900, "tc": 600}}
    of_all = RoutingSummary(protocol="olsr", airtime_s=0.25, dropped={"no_route": seed}, dropped_control={},
                            events={"link_lost": 4}, **counts)  # fmt: skip
    route = RouteSummary(found=2, changed=3, lost=1, without_s=10.5, length_mean=3.5, breaks=2, recovered=1,
                         recovery_mean_s=0.5, recovery_max_s=0.75, packets_by_hops=by_hops,
                         rto_without_s=8.0)  # fmt: skip
    done = run(seed=seed)
    [flow] = done.flows
    return done.model_copy(update={"routing": of_all, "flows": [flow.model_copy(update={"route": route})]})


def test_routing() -> None:
    """Rows of its cost and losses, each reason one, where there was a protocol; and a table of routes."""
    runs = [routed(1, {3: 1500, 4: 20}), routed(2, {4: 5})]
    lines = text(study_tables("", runs, quantities=of_runs(runs))[0])
    assert row(lines, "control packets sent") == ["42 ± 0"] and row(lines, "control, bytes") == ["1,500 ± 0"]
    assert row(lines, "dropped: no route") == ["1.50 ± 6.35"] and row(lines, "links lost") == ["4 ± 0"]
    assert value(runs[0], "routing.dropped.no_route") == 1 and value(runs[0], "routing.dropped.purged") == 0
    assert of_runs([run()]) == OF_RUNS and math.isnan(value(run(), "routing.frames"))
    _, _, head, _, cells, *_ = text(route_table(runs))
    assert head == ["flow", "from", "to", "TCP", "found", "changed", "lost", "without, s", "mean length", "breaks",
                    "recovered", "after, s", "at most, s", "without route", "segments by hops"]  # fmt: skip
    assert cells[4:9] == ["2 ± 0", "3 ± 0", "1 ± 0", "10.50 ± 0", "3.50 ± 0"] and cells[-1] == "3: 1,500, 4: 25"
    assert text(route_table([routed(1, None)]))[4][-1] == ""


def test_the_same_rows_whatever_the_seeds() -> None:
    """No row of one run is gone when there are several."""
    one, many = (text(study_tables("", [run(seed=s) for s in range(n)], quantities=OF_RUNS)[0]) for n in (1, 3))
    assert [line[0] for line in one if line[1:]] == [line[0] for line in many if line[1:]]
    assert row(many, "TCP retransmissions") == ["12 ± 0"]


def test_counts_grow_with_time() -> None:
    """Published counts are made those of another duration; rates, shares and windows stay."""
    counts = {"col.any.total": 120.0, "fail.data": 12.0, "goodput_segments": 4476.0, "queue_drops": 6.0,
              "retries.short": 60.0, "flows.0.tcp.rtos": 9.0, "flows.1.tcp.rto_s": 30.0,
              "routing.frames": 600.0, "flows.0.route.lost": 3.0}  # fmt: skip
    others = {"goodput_kbps": 400.0, "in_flight.data": 3.278, "flows.0.share": 0.5, "flows.0.tcp.cwnd_mean": 5.68,
              "flows.0.tcp.cwnd_max": 9.0, "losses.queue": 2.0,
              "flows.0.route.length_mean": 3.0}  # fmt: skip
    found = scaled({"": {"full": counts | others}}, 1 / 6)[""]["full"]
    assert found == pytest.approx({path: value / 6 for path, value in counts.items()} | others)


def test_conditions() -> None:
    """Seeds, duration, and the options as they are given."""
    runs = [run(seed=seed) for seed in (1, 2, 3)]
    assert conditions(runs, {"stations": 5, "trace": False}) == (
        "seeds 1..3, mean ± 95 % confidence; 120 s; --stations 5 --no-trace"
    )
    assert conditions(runs[:1], {}) == "seed 1; 120 s"
    options = {"module_parameters": {"tcp_cwl.limit": "4"}, "tcp": ("sca", "newreno"), "bytes": None}
    said = conditions([runs[0], runs[2].model_copy(update={"air_s": 60.5})], options)
    assert said == (
        "seeds 1,3, mean ± 95 % confidence; 60.5..120 s; --module-parameters tcp_cwl.limit=4 --tcp sca,newreno"
    )


def test_with_edca_runs_are_listed_by_category() -> None:
    """Sums over stations, of those that sent or dropped anything."""
    counted = dict.fromkeys(("tx", "airtime_ns", "acked", "group", "given_up", "dropped", "collisions"), 0)
    voice = {**counted, "tx": 3, "airtime_ns": 1_500_000_000, "acked": 2, "collisions": 1}
    given = lane(100)
    for station in given["air"]["stations"]:
        station["counters"]["categories"] = {"VO": voice, "VI": counted}
    made = from_lane(plan(), given, wall_s=1.0)
    shown = {path: name for path, name in of_runs([run(), made]).items() if path.startswith("categories")}
    assert [value(made, path) for path in shown] == [4, 3, 0, 0, 2]
    assert shown["categories.VO.airtime_s"] == "AC_VO, airtime, s"
    assert value(run(), "categories.VO.acked") == 0 and not run().categories
