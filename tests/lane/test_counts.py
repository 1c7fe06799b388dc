# SPDX-License-Identifier: BSD-3-Clause
"""Counts of collisions and of frames given up are the same everywhere, in a network where two hidden stations send
datagrams, beside TCP."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rooms import needs

from analysis import load
from analysis.figures import figures
from analysis.pages.report import content
from analysis.pages.report.pictures import drawings
from analysis.results.result import APART, GIVEN_UP, ROWS, Run, counted, from_lane
from analysis.tables.quantities import OF_RUNS
from analysis.taps import compare, tally
from analysis.taps.sniff import frames
from analysis.traces.trace import Kind, Outcome
from emulation.cli.main import cli
from emulation.play.reporting import report_again
from emulation.play.view import timeline_of
from emulation.specification import specify

pytestmark = pytest.mark.lane
HIDDEN = {"stations": 3, "ranges": {"transmission_m": 250, "carrier_sense_m": 300}}
FLOWS = [f"udp,from={each},to=sta2,rate_kbps=400,start_s=1" for each in ("sta1", "sta3")]
COLLIDED = (Outcome.COLLISION, Outcome.OWN_TX)
ROW = {Kind[kind.upper()]: row for row, kinds in (ROWS | APART).items() for kind in kinds}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs without RTS/CTS and with it; `printed` has the output."""
    where = tmp_path_factory.mktemp("counts") / "run"
    asked = [
        "run",
        "string",
        "--stations",
        "3",
        "--ranges",
        "250,300",
        "--seconds",
        "3",
        "--vary",
        "rts=none,full",
        "--full",
    ]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        words = [*asked, *(word for flow in FLOWS for word in ("--application", flow)), "--out", str(where)]
        cli.main(words, standalone_mode=False)
    (where / "printed").write_text(out.getvalue())
    return where


@pytest.fixture(scope="module")
def runs(folder: Path) -> list[Run]:
    return load.load(folder).result.runs


def shown(run: Run) -> dict[str, int]:
    """Return the rows of a table, by name."""
    counts = {"col": run.col, "col.any": run.col.any, "fail": run.fail}
    return {counted(of, row): getattr(each, row) for of, each in counts.items() for row in (*ROWS, "total", *APART)}


def test_there_is_much_to_count(runs: list[Run]) -> None:
    none, full = runs
    assert none.col.udp > 100 and none.col.data and none.fail.udp and full.col.rtscts > full.col.udp
    assert full.fail.rtscts and full.fail.udp


def cells(table: dict[str, Any]) -> dict[str, list[str]]:
    return {name: values for name, *values in table["rows"]}


@pytest.mark.quick
def test_tables_have_a_row_for_each_kind_that_there_was(folder: Path, runs: list[Run]) -> None:
    """In the output and in the report; and none for other kinds."""
    reported = cells(content(report_again(folder))[0]["tables"][0])
    printed = {line.split()[1]: line for line in (folder / "printed").read_text().splitlines() if "│" in line}
    none, full = map(shown, runs)
    for name in none:
        wanted = [f"{none[name]:,}", f"{full[name]:,}"]
        if name in OF_RUNS.values() and (name.endswith("_TOTAL") or none[name] or full[name]):
            assert reported[name] == wanted and printed[name].replace("│", " ").split()[1:] == wanted
        else:
            assert name not in reported and name not in printed
    assert {"COL_UDP", "FAIL_UDP", "COL_TOTAL"} <= reported.keys() and "COL_ENCRYPTED" not in reported


def test_without_tcp_nothing_is_reported_on_segments_in_flight(tmp_path: Path) -> None:
    """Neither in a figure nor in a row."""
    where = tmp_path / "run"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        words = ["run", "string", "--stations", "3", "--seconds", "1", "--traffic", "udp", "--out", str(where)]
        cli.main(words, standalone_mode=False)
    said = out.getvalue()
    assert "COL_UDP" in said and "in flight" not in said
    assert not [chart for chart in content(report_again(where))[0]["charts"] if "in flight" in chart["title"]]


@pytest.mark.quick
def test_bars_are_as_high(folder: Path, runs: list[Run]) -> None:
    """In the report and in collisions.png; the parts add up to the total."""
    made = report_again(folder)
    [lost] = [values[0] for what, _, values in drawings(made) if what is figures.collisions]
    [bars] = [each for each in content(made)[0]["charts"] if "collisions" in each["title"]]
    for run, stack in zip(runs, bars["stacks"], strict=True):
        parts = {kind: getattr(run.col, kind) for kind in ROWS}
        assert {kind: int(lost[kind][run.variant][0]) for kind in ROWS} == parts
        assert lost["total"][run.variant] == [run.col.total] == [stack["total"][0]] == [sum(parts.values())]
        labels = {label: parts[kind] for kind, (label, _) in figures.KINDS.items()}
        assert all(labels.pop(label) == n for label, n in stack["parts"]) and not any(
            labels[label] for label in labels if label not in dict(stack["parts"])
        )


def test_taps_and_scapy(folder: Path, runs: list[Run]) -> None:
    for run in runs:
        counters = [station.counters for station in run.stations]
        wanted = shown(run)
        for found in (compare.totals(counters), compare.totals(compare.counters(folder / run.folder / "air.pcapng.gz")),
                      tally.counters(folder / run.folder)):  # fmt: skip
            assert {name: found[name] for name in wanted} == wanted
        of_sniff = sum(f.kind is Kind.UDP and f.outcome in COLLIDED for f in frames(folder / run.folder))
        assert of_sniff == run.col.udp


@needs("export")
def test_what_is_exported(folder: Path, runs: list[Run]) -> None:
    from emulation.features import export

    exported = export.tables(folder)
    for run, row in zip(runs, exported.runs.to_dict("records"), strict=True):
        wanted = shown(run)
        assert {name: row.get(name.replace("/", "").lower(), 0) for name in wanted} == wanted
        mine = exported.frames[exported.frames.run == run.folder]
        spoilt = mine[mine.outcome.isin(["collision", "own_tx"])]
        assert (spoilt.kind == "udp").sum() == run.col.udp


def test_the_timeline(folder: Path, runs: list[Run]) -> None:
    for run in runs:
        air = timeline_of(folder / run.folder).frames
        spoilt = air.kind[np.isin(air.outcome, COLLIDED)]
        for kind in Kind:
            row = [each for each, of in ROW.items() if of == ROW[kind]]
            assert np.isin(spoilt, row).sum() == getattr(run.col, ROW[kind])


@needs("prompt")
def test_rates_at_the_prompt(bench) -> None:  # type: ignore[no-untyped-def]
    """Of flows in turn, and of one that begins late: over the time in which they ran."""
    asked = specify("string", {"stations": 2}).model_dump_json()
    bench.answers = iter(["iperf sta1 sta2 2", "wait 5", "flow 4 sta1 sta2 bulk,start_s=1,stop_s=3"])
    assert bench.prompt(f"from emulation.net import Net\nwith Net.of({asked!r}) as net:\n    net.start()\n").status == 0
    said = [int(re.search(r": (\d+) kb/s|; (\d+)", line)[1]) for line in bench.lines if "kb/s" in line]  # type: ignore[index]
    run = left(bench.folder)
    assert [round(flow.goodput_kbps) for flow in run.flows] == pytest.approx(said, rel=0.02) and min(said) > 1000
    delivered = sum(flow.delivered_bytes for flow in run.flows)
    assert run.goodput_kbps == pytest.approx(delivered * 8 / 1000 / (2 + 2), rel=0.001)
    assert run.goodput_kbps < 2000 < sum(flow.goodput_kbps for flow in run.flows)


def left(folder: Path) -> Run:
    """Return what a session left."""
    [lane] = [json.loads(path.read_text()) for path in folder.rglob("lane.json")]
    [plan] = [json.loads(path.read_text()) for path in folder.rglob("plan.json")]
    return from_lane(plan, lane, wall_s=1)


@needs("prompt")
def test_the_prompt(bench) -> None:  # type: ignore[no-untyped-def]
    """Its `counters` are those of the table at its exit."""
    from emulation.features.prompt.inside.shell import COUNTER_COLUMNS

    asked = specify("string", HIDDEN).model_dump_json()
    flows = " ".join(f"{source} sta2 udp,rate_kbps=900" for source in ("sta1", "sta3"))
    bench.answers = iter([f"flow 3 {flows}", "counters"])
    assert bench.prompt(f"from emulation.net import Net\nwith Net.of({asked!r}) as net:\n    net.start()\n").status == 0
    at = next(number for number, line in enumerate(bench.lines) if "COL_TOTAL" in line)
    told = np.array([[float(word) for word in line.split()[1:]] for line in bench.lines[at + 1 : at + 4]]).sum(axis=0)
    sums = dict(zip(COUNTER_COLUMNS, told.tolist(), strict=True))
    run = left(bench.folder)
    assert sums["COL_TOTAL"] == run.col.total == run.col.udp > 100
    ended = [counts for station in run.stations for counts in station.counters["end"].values()]
    assert sums["given up"] == sum(counts.get(why, 0) for counts in ended for why in GIVEN_UP) > 0
    assert sums["given up"] == run.fail.total - run.fail.rtscts + run.fail.routing + run.fail.management
    assert sums["retries"] == sum(run.retries) and sums["queue full"] == run.queue_drops
