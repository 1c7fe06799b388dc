# SPDX-License-Identifier: BSD-3-Clause
"""Tables and claims of a made-up study."""

import io
import math

import pytest
from rich.console import Console
from rich.table import Table
from sample_runs import run, study

from analysis.table import Check, Claim, judge, run_table, study_table, value

NAMES = {"full": "Full", "partial": "Partial", "none": "No"}
PUBLISHED = {
    "full": {"goodput_segments": 4476, "col.any.total": 15193},
    "none": {"goodput_segments": 5365, "col.any.total": 11893},
}


def text(table: Table) -> list[list[str]]:
    """What a reader sees: the cells of each line."""
    out = io.StringIO()
    Console(file=out, width=160).print(table)
    lines = (line.strip("│┃").replace("┃", "│") for line in out.getvalue().splitlines())
    return [[cell.strip() for cell in line.split("│")] for line in lines]


def row(lines: list[list[str]], label: str) -> list[str]:
    return next(line[1:] for line in lines if line[0] == label)


def test_study_of_one_seed() -> None:
    """One column a strategy, the published numbers beside, and the change against Full."""
    lines = text(study_table("RTS/CTS", study(1), published=PUBLISHED, names=NAMES))
    assert row(lines, "") == ["Full", "published", "Partial", "No", "published"]
    assert row(lines, "goodput, segments") == ["4,540", "4,476", "4,880", "5,440", "5,365"]
    assert row(lines, "change of goodput against Full") == ["", "", "+7.5 %", "+19.8 %", "+19.9 %"]
    assert row(lines, "COL_ANY_TOTAL")[1] == "15,193" and row(lines, "COL_TOTAL")[1] == ""
    assert row(lines, "COL_RTS/CTS") == ["303", "", "203", "103", ""]
    assert row(lines, "segments in flight, mean")[0] == "5.25"


def test_study_of_many_seeds() -> None:
    """Means with their confidence intervals."""
    lines = text(study_table("RTS/CTS", study(3), names=NAMES))
    assert row(lines, "COL_RTS/CTS")[0] == "304 ± 2.48"
    assert row(lines, "goodput, segments")[0] == "4,580 ± 99.37"
    assert "±" in row(lines, "change of goodput against Full")[2]


def test_without_flight_and_goodput() -> None:
    """What a run does not have is a dash; against no goodput there is no change."""
    runs = [run("full", segments=0, in_flight=None), run("none", segments=5, in_flight=None)]
    lines = text(study_table("", runs))
    assert row(lines, "segments in flight, mean") == ["-", "-"]
    assert row(lines, "change of goodput against full") == ["", ""]
    assert math.isnan(value(runs[0], "in_flight.data"))
    with pytest.raises(AttributeError):
        value(runs[0], "col.nothing")


def test_single_run() -> None:
    """The summary of one run."""
    lines = text(run_table("string", run(segments=4500)))
    assert row(lines, "goodput, segments") == ["4,500"] and row(lines, "TCP retransmissions") == ["12"]


def test_claims() -> None:
    """A claim holds, does not, or holds in some seeds, with the numbers that say so."""
    holds = Claim("C1", "goodput No > Full", [Check("none.goodput_segments", ">", "full.goodput_segments")])
    verdict = judge(holds, study(3))
    assert (verdict.held, verdict.seeds, verdict.text) == (3, 3, "holds in all 3 seeds")
    assert verdict.lines() == [
        "C1  holds in all 3 seeds: goodput No > Full",
        "    yes  none.goodput_segments (5,480) > full.goodput_segments (4,580)",
    ]
    wrong = Claim("C2", "", [Check("none.col.rtscts", ">", "full.col.rtscts"), Check("none.queue_drops", "=", 4)])
    assert judge(wrong, study(1)).text == "does not hold"
    assert judge(wrong, study(3)).text == "does not hold in any of 3 seeds"
    assert [line[:7].strip() for line in judge(wrong, study(3)).lines()[1:]] == ["no", "yes"]
    some = Claim("C3", "", [Check("full.goodput_segments", ">", 4550)])
    assert judge(some, study(3)).text == "holds in 2 of 3 seeds"
    assert "2/3" in judge(some, study(3)).lines()[1]
    with pytest.raises(ValueError, match="C4 needs a run of never with seed 1"):
        judge(Claim("C4", "", [Check("never.seed", "=", 1)]), study(1))


@pytest.mark.parametrize(
    ("a", "relation", "b", "holds"),
    [
        (2, ">", 1, True), (1, ">", 1, False), (1, "<", 2, True), (0, "=", 0, True), (4, ">>", 2, True),
        (3, ">>", 2, False), (0, "<<", 1, True), (0, "<<", 0, False), (100, "~", 80, True),
        (100, "~", 70, False), (0, "~", 0, True),
    ],
)  # fmt: skip
def test_relations(a: float, relation: str, b: float, holds: bool) -> None:
    """What each relation means at its edges."""
    assert judge(Claim("", "", [Check(a, relation, b)]), study(1)).held == holds
