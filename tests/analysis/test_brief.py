# SPDX-License-Identifier: BSD-3-Clause
"""The first output: the rows that it omits, its bars, its sentences, and its line on the claims."""

import re

import pytest
import sample_runs

from analysis.results.result import Host, Result, Run
from analysis.tables import brief
from analysis.tables.claims import Claim, judge, order
from analysis.tables.findings import NOT_TESTED, Findings, Judged
from analysis.tables.quantities import QUANTITIES

NAMES = {"full": "Full", "none": "No"}
PHRASES = {"full": "with RTS/CTS", "none": "without RTS/CTS"}
PUBLISHED = {"": {"full": {"goodput_segments": 4476.0}, "none": {"goodput_segments": 5365.0}}}
CLAIMS = (Claim("C1", "No > Full", order("goodput_segments", "none", "full")),
          Claim("C2", "Full > No", order("goodput_segments", "full", "none")))  # fmt: skip


def source(runs: list[Run], **more: object) -> brief.Source:
    claims = [
        judge(each, runs).judged(NAMES)
        for each in CLAIMS
        if {(run.case, run.variant) for run in runs} >= {("", "full"), ("", "none")}
    ]
    usual: dict[str, object] = {"names": NAMES, "phrases": PHRASES, "published": PUBLISHED}
    return brief.Source(Findings("a study", "seed 1", [], claims=claims), result(runs), QUANTITIES, **(usual | more))  # type: ignore[arg-type]


def result(runs: list[Run]) -> Result:
    return Result(experiment="study", specification={}, runs=runs, host=Host(lane="virtual"))


def two(seeds: int = 1, more: int = 900) -> list[Run]:
    """`none` has more segments than `full`, by a similar amount in each seed."""
    return [sample_runs.run(rts, seed, 4500 + extra + 7 * seed * bool(extra))
            for seed in range(1, seeds + 1) for rts, extra in (("full", 0), ("none", more))]  # fmt: skip


def test_rows_that_repeat_others_or_are_zero_are_left_out() -> None:
    kept = brief.rows(source(two()))
    assert "col.total" in kept and "goodput_segments" in kept
    assert not [path for path in kept if path.startswith("col.any.")], "they repeat those of col"
    assert "queue_drops" in kept  # these runs have some
    assert "col.udp" not in kept and brief.GOODPUT not in kept, "nothing of it; and bars have it"
    without = [run.model_copy(update={"queue_drops": 0}) for run in two()]
    assert "queue_drops" not in brief.rows(source(without))
    theirs = {"": {"full": {"queue_drops": 3.0}}}
    assert "queue_drops" in brief.rows(source(without, published=theirs)), "the paper has some"


def test_a_bar_for_each_variant_as_long_as_its_goodput() -> None:
    unit, *bars = brief.bars(source(two(more=4500)))
    assert unit == "goodput, kb/s" and [bar.split()[0] for bar in bars] == ["Full", "No"]
    full, no = (bar.count("█") for bar in bars)
    assert no == brief.BAR and full == pytest.approx(brief.BAR / 2, abs=1)
    assert [bar.split()[-1] for bar in bars] == [f"{run.goodput_kbps:,.0f}" for run in two(more=4500)]
    assert brief.bars(source(two()[:1])) == []


def test_a_sentence_compares_and_has_what_the_paper_says() -> None:
    [said] = brief.sentences(source(two()))
    assert said == "Without RTS/CTS, the goodput is 20.2 % higher than with RTS/CTS; the paper says 19.9 %."
    [said] = brief.sentences(source(two(more=-450), phrases={}))
    assert said == "With No, the goodput is 9.8 % lower than with Full; the paper says 19.9 % higher."
    [said] = brief.sentences(source(two(), published={}))
    assert said.endswith("than with RTS/CTS.")


def test_of_several_seeds_it_says_how_sure_it_is() -> None:
    [said] = brief.sentences(source(two(3)))
    assert re.match(r"Without RTS/CTS, the goodput is 20\.\d ± \d\.\d % higher", said)
    runs = [run.model_copy(update={"goodput_segments": n}) for run, n in zip(two(2), (100, 90, 100, 115), strict=True)]
    assert "which may be chance" in brief.sentences(source(runs))[0]


def test_of_several_cases_it_says_the_mean_and_the_range() -> None:
    runs = [run.model_copy(update={"case": case, "goodput_segments": n})
            for case, pair in (("2", (100, 110)), ("4", (100, 130)))
            for run, n in zip(two(), pair, strict=True)]  # fmt: skip
    of = source(runs, published={}, rows="hops")
    assert brief.sentences(of) == [
        "Without RTS/CTS, the goodput is on average 20.0 % higher than with RTS/CTS; over 2 cases the change is "
        "+10.0 % to +30.0 %."
    ]
    assert [str(table.title) for table in brief.tables(of)] == [QUANTITIES["goodput_segments"]]
    assert brief.bars(of) == []


def test_of_many_variants_it_names_the_ends() -> None:
    runs = [sample_runs.run(name, 1, 1000 + n) for n, name in enumerate(("a", "b", "c", "d", "e"))]
    said = brief.sentences(source(runs, phrases={}, published={}))
    assert [line.split(",")[0] for line in said[:2]] == ["With e", "With b"] and len(said) == 3
    assert said[2] == "The other 2 are between these."


def test_runs_that_are_compared_with_nothing() -> None:
    run = sample_runs.run("none")
    carried, lost = brief.sentences(source([run], published={}))
    assert carried == f"The flows carry {run.goodput_kbps:,.0f} kb/s in all."
    assert lost.startswith("Collisions destroy ")
    assert brief.sentences(source([run.model_copy(update={"flows": []})], published={})) == []


def test_one_seed_gives_no_verdict() -> None:
    assert brief.claims(source(two()), "runs/a") == (
        "1 of 2 claims agree (one seed; use --seeds 1..5): ./dcflab view runs/a")  # fmt: skip
    assert brief.claims(source(two(3)), "runs/a") == "1 of 2 claims hold in all 3 seeds: ./dcflab view runs/a"
    untested = Findings("", "", [], claims=[Judged("C9", NOT_TESTED, "", [])])
    assert brief.claims(brief.Source(untested, result(two()), QUANTITIES), "runs/a") == ""


def test_it_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """The first study's three variants beside the paper's, at 80 columns."""
    runs = [sample_runs.run(rts, 1, 4500, 9000) for rts in ("full", "partial", "none")]
    theirs = {"": {rts: {"goodput_segments": 15000.0, "col.total": 15000.0} for rts in ("full", "partial", "none")}}
    brief.show(source(runs, published=theirs, names=NAMES | {"partial": "Partial"}), "runs/a")
    out = capsys.readouterr().out
    assert out.startswith("a study\nseed 1\n") and out.rstrip().endswith("./dcflab view runs/a")
    table = [line for line in out.splitlines() if "  " in line]
    assert max(map(len, table)) <= 80
