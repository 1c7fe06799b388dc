# SPDX-License-Identifier: BSD-3-Clause
"""Tables of made-up studies, as a reader sees them."""

import io
import math

import pytest
from rich.console import Console
from rich.table import Table
from sample_runs import run, strings, study

from analysis.table import by_case, run_table, study_tables, value

NAMES = {"full": "Full", "partial": "Partial", "none": "No", "plain": "NewReno"}
PUBLISHED = {
    "": {
        "full": {"goodput_segments": 4476, "col.any.total": 15193},
        "none": {"goodput_segments": 5365, "col.any.total": 11893},
    }
}
GOODPUT = {"goodput_segments": "segments"}


def text(table: Table) -> list[list[str]]:
    """What a reader sees: the cells of each line."""
    out = io.StringIO()
    Console(file=out, width=160).print(table)
    lines = (line.strip("│┃").replace("┃", "│") for line in out.getvalue().splitlines())
    return [[cell.strip() for cell in line.split("│")] for line in lines]


def row(lines: list[list[str]], label: str) -> list[str]:
    return next(line[1:] for line in lines if line[0] == label)


def test_study_of_one_seed() -> None:
    """One column a variant, the published numbers beside, and the change against the first."""
    [table] = study_tables("RTS/CTS", study(1), published=PUBLISHED, names=NAMES)
    lines = text(table)
    assert row(lines, "") == ["Full", "published", "Partial", "No", "published"]
    assert row(lines, "goodput, segments") == ["4,540", "4,476", "4,880", "5,440", "5,365"]
    assert row(lines, "change of goodput against Full") == ["", "", "+7.5 %", "+19.8 %", "+19.9 %"]
    assert row(lines, "COL_ANY_TOTAL")[1] == "15,193" and row(lines, "COL_TOTAL")[1] == ""
    assert row(lines, "COL_RTS/CTS") == ["303", "", "203", "103", ""]
    assert row(lines, "segments in flight, mean")[0] == "5.25"


def test_study_of_many_seeds() -> None:
    """Means with their confidence intervals."""
    [table] = study_tables("RTS/CTS", study(3), names=NAMES)
    lines = text(table)
    assert row(lines, "COL_RTS/CTS")[0] == "304 ± 2"
    assert row(lines, "goodput, segments")[0] == "4,580 ± 99"
    assert "±" in row(lines, "change of goodput against Full")[2]


def test_cases() -> None:
    """A table for each quantity, a row for each case: each variant's mean, how much more than the first it has, and
    what a publication had."""
    published = {"4": {"plain": {"goodput_segments": 1000}, "slow": {"goodput_segments": 1500}}}
    tables = study_tables(
        "SCA", strings(), published=published, names=NAMES, rows="hops", quantities=GOODPUT | {"queue_drops": "drops"}
    )
    assert [table.title for table in tables] == ["segments", "drops"]
    lines = text(tables[0])
    assert row(lines, "hops") == ["NewReno", "published", "slow", "published"]
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
    """What a run does not have is a dash; against no goodput there is no change."""
    runs = [run("full", segments=0, in_flight=None), run("none", segments=5, in_flight=None)]
    [table] = study_tables("", runs)
    lines = text(table)
    assert row(lines, "segments in flight, mean") == ["-", "-"]
    assert row(lines, "change of goodput against full") == ["", ""]
    assert math.isnan(value(runs[0], "in_flight.data"))
    with pytest.raises(AttributeError):
        value(runs[0], "col.nothing")


def test_paths_lead_into_lists() -> None:
    """By number, from 0; what is not in the list is unknown."""
    assert value(run(segments=4500), "flows.0.goodput_segments") == 4500
    assert math.isnan(value(run(), "flows.1.goodput_segments"))


def test_groups_are_sorted_by_seed() -> None:
    """Cases and variants come in the order in which they first did."""
    groups = by_case(strings(seeds=2)[::-1])
    assert {case: list(group) for case, group in groups.items()} == {case: ["slow", "plain"] for case in ("4", "3")}
    assert list(groups) == ["4", "3"]
    assert [run.seed for run in groups["3"]["slow"]] == [1, 2]


def test_single_run() -> None:
    """The summary of one run."""
    lines = text(run_table("string", run(segments=4500)))
    assert row(lines, "goodput, segments") == ["4,500"] and row(lines, "TCP retransmissions") == ["12"]
