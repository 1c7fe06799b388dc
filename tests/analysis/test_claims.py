# SPDX-License-Identifier: BSD-3-Clause
"""Claims about made-up studies: in which seeds they hold, and what their confidence intervals exclude."""

from collections.abc import Sequence

import pytest
from sample_runs import run, strings, study

from analysis.results.result import Run
from analysis.tables.claims import Check, Claim, Decision, Most, NotTested, Of, Verdict, judge, order

CONFIRMED, OPEN, REFUTED = Decision

NAMES = {"full": "Full", "none": "No", "plain": "NewReno", "slow": "SCA"}
NONE, FULL = Of("none", "goodput_segments"), Of("full", "goodput_segments")


def verdict(runs: Sequence[Run], *checks: Check) -> Verdict:
    return judge(Claim("C1", "so it is", checks), runs)


def test_a_claim_holds_in_every_seed() -> None:
    found = verdict(study(3), Check(NONE, ">", FULL))
    assert (found.held, found.seeds) == (3, 3)
    assert found.judged(NAMES).lines == [
        "C1  holds in all 3 seeds; the intervals exclude the opposite: so it is",
        "    yes  goodput, segments: No 5,480 > Full 4,580; ratio 1.197 ± 0.004 (p < 0.001, W 0.25)",
    ]


def test_a_claim_of_one_seed_has_no_interval() -> None:
    """All of its checks must hold."""
    found = verdict(study(1), Check(NONE, ">", FULL), Check(Of("none", "queue_drops"), "=", 3))
    assert found.judged(NAMES).lines == [
        "C1  differs: so it is",
        "    yes  goodput, segments: No 5,440 > Full 4,540; ratio 1.198",
        "    no   queue drops: No 4 = 3",
    ]
    assert verdict(study(1), Check(NONE, ">", FULL)).text == "agrees"


def test_what_both_sides_share_is_reported_once() -> None:
    """Names of variants, of cases and of quantities where they differ."""
    fast, slow = Of("slow", "goodput_segments", "3"), Of("slow", "goodput_segments", "4")
    other = Of("plain", "queue_drops", "3")
    found = verdict(strings(), Check(fast, ">", slow), Check(fast, "in", other, 500, 600), Check(fast, ">", 1.0, 5))
    assert [line.split("  ")[-1] for line in found.judged(NAMES, "hops").lines[1:]] == [
        "goodput, segments: SCA, 3 hops 2,222 > SCA, 4 hops 1,818; ratio 1.222",
        "3 hops: SCA, goodput, segments 2,222 in 500..600 x NewReno, queue drops 4; ratio 556",
        "3 hops, goodput, segments: SCA 2,222 > 5",
    ]


def test_a_claim_holds_in_some_seeds() -> None:
    found = verdict(study(3), Check(FULL, ">", 4550))
    assert (found.held, found.text) == (2, "holds in 2 of 3 seeds; the intervals leave it open")
    assert found.judged(NAMES).lines[1].startswith("    2/3  ")
    never = verdict(study(3), Check(FULL, ">", NONE))
    assert never.text == "does not hold in any of 3 seeds; an interval excludes it"
    assert never.findings[0].decision is REFUTED


def test_seeds_can_agree_and_yet_not_decide() -> None:
    """Two seeds on the claim's side, far from each other."""
    runs = [
        run(variant=variant, seed=seed, segments=segments)
        for seed, variant, segments in ((1, "a", 101), (1, "b", 100), (2, "a", 200), (2, "b", 100))
    ]
    found = verdict(runs, Check(Of("a", "goodput_segments"), ">", Of("b", "goodput_segments")))
    assert (found.held, found.findings[0].decision) == (2, OPEN)
    assert found.judged({}).lines[1].endswith("ratio 1.505 ± 6.290 (p 0.49, W 0.5): undecided")


def test_where_nothing_can_be_divided_the_difference_is_looked_at() -> None:
    """Counts of zero are still judged in every seed; equality needs no interval."""
    runs = [run(variant="a", seed=seed) for seed in (1, 2)]
    none = Of("a", "lost_records")
    zero = verdict(runs, Check(none, "=", 0), Check(Of("a", "fail.rtscts"), ">", none))
    assert zero.text == "holds in all 2 seeds; the intervals exclude the opposite"
    assert [(finding.ratio, finding.decision) for finding in zero.findings] == [
        (None, None),
        (None, CONFIRMED),
    ]


@pytest.mark.parametrize(
    ("relation", "to", "a", "decision"),
    [
        (">", None, (5, 6, 7), CONFIRMED), (">", None, (0, 0, 9), OPEN), (">", None, (0, 0, 0), REFUTED),
        (">=", None, (0, 0, 0), CONFIRMED), ("<", None, (5, 6, 7), REFUTED),
        ("in", 1.5, (5, 6, 7), REFUTED), ("in", 1.5, (0, 0, 0), CONFIRMED),
        ("~", None, (0, 0, 0), CONFIRMED), ("=", None, (0, 0, 1), None),
    ],
)  # fmt: skip
def test_decisions_beside_zeros(relation: str, to: float | None, a: Sequence[int], decision: Decision | None) -> None:
    """The difference to each bound has an interval where the ratio has none; one without width leaves no doubt."""
    runs = [
        run(variant=name, seed=seed).model_copy(update={"queue_drops": drops})
        for seed, drop in enumerate(a, 1) for name, drops in (("a", drop), ("b", 0))
    ]  # fmt: skip
    check = Check(Of("a", "queue_drops"), relation, Of("b", "queue_drops"), 0.5 if to else 1.0, to)
    [found] = verdict(runs, check).findings
    assert (found.ratio, found.decision) == (None, decision)
    assert found.decided is (decision or REFUTED)


def test_the_same_on_both_sides_is_not_more() -> None:
    """Without any spread an interval has no width, and lies on the bound."""
    [found] = verdict(study(3), Check(FULL, ">", FULL)).findings
    assert (found.held, found.decision) == (0, REFUTED)
    assert verdict(study(3), Check(FULL, ">=", FULL)).findings[0].decision is CONFIRMED


def test_the_numbers_of_a_claim_are_those_of_its_name() -> None:
    """Unless other names are given."""
    for name, numbers in (("C46, C47, by how much", ("C46", "C47")), ("C2a, longer", ("C2",)), ("M1", ())):
        assert Claim(name, "", []).numbers == numbers
    assert Claim("gain", "", [], ("C5", "C6")).numbers == ("C5", "C6")
    assert Claim("as C5", "", [], ()).numbers == ()


def test_the_cells_of_a_claim_are_each_there_once() -> None:
    both = Of("a", "seed", ("4", "8"), "both")
    claim = Claim("C1", "", [Check(both, ">", Of("b", "seed", "4")), Check(Of("b", "seed", "4"), ">", 1)])
    assert claim.cells == [("4", "a", "seed"), ("8", "a", "seed"), ("4", "b", "seed")]


def test_order_in_every_case() -> None:
    checks = order("goodput_segments", "slow", "plain", cases=("3", "4"))
    assert checks == [
        Check(Of("slow", "goodput_segments", case), ">", Of("plain", "goodput_segments", case)) for case in "34"
    ]
    assert verdict(strings(), *checks).held


def test_what_was_not_run_or_recorded_is_not_tested() -> None:
    never = Check(Of("never", "seed"), "=", 1)
    with pytest.raises(NotTested, match="there is no run of never with seed 1"):
        verdict(study(1), never)
    with pytest.raises(NotTested, match="there is no run of slow, 9 with seed 1"):
        verdict(strings(), Check(Of("slow", "seed", "9"), "=", 1))
    with pytest.raises(NotTested, match="was not recorded in full, seed 1"):
        verdict([run(in_flight=None)], Check(Of("full", "in_flight.total"), ">", 1))
    in_part = verdict(study(1), never, Check(NONE, ">", FULL))
    assert (in_part.text, len(in_part.findings)) == ("agrees", 1)
    assert in_part.judged(NAMES).lines[-1] == "    1 more not tested: there is no run of never with seed 1"


@pytest.mark.parametrize(
    ("a", "relation", "b", "holds"),
    [
        (2, ">", 1, True), (1, ">", 1, False), (1, "<", 2, True), (0, "=", 0, True), (4, ">>", 2, True),
        (3, ">>", 2, False), (0, "<<", 1, True), (0, "<<", 0, False), (100, "~", 80, True),
        (100, "~", 70, False), (0, "~", 0, True),
    ],
)  # fmt: skip
def test_relations(a: float, relation: str, b: float, holds: bool) -> None:
    """Each relation at its edges; the result is the same for half of twice as much."""
    assert Check(a, relation, b).holds(a, b) == holds
    assert Check(a, relation, 2 * b, 0.5).holds(a, 2 * b) == holds


def test_a_ratio_can_be_between_two_numbers() -> None:
    within = Check(FULL, "in", NONE, 0.5, 1.5)
    assert [within.holds(a, 10) for a in (4, 5, 15, 16)] == [False, True, True, False]
    for relation, to in (("in", None), (">", 2.0), ("!", None)):
        with pytest.raises(ValueError, match="no relation"):
            Check(FULL, relation, NONE, 1.0, to)


def test_a_side_may_be_the_mean_over_cases() -> None:
    """In every seed; a missing run is reported."""
    found = [
        run("newreno", seed, segments * seed, case=case)
        for case, segments in (("4", 100), ("8", 50), ("9", 1000)) for seed in (1, 2)
    ]  # fmt: skip
    both = Of("newreno", "goodput_segments", ("4", "8"), "4 and 8 hops")
    one = verdict(found, Check(both, "in", Of("newreno", "goodput_segments", "8"), 1.5, 1.5)).findings[0]
    assert (one.a, one.b, one.held) == (112.5, 75, 2)
    said = verdict(found, Check(both, ">", Of("newreno", "goodput_segments", "8"))).judged({}, "hops").lines
    assert "4 and 8 hops 112" in said[1]
    assert "8 hops 75" in said[1]
    with pytest.raises(NotTested, match="no run of newreno, 5"):
        verdict(found, Check(Of("newreno", "goodput_segments", ("4", "5"), "both"), ">", 1))
    most = Most((both, Of("newreno", "goodput_segments", "9")), "the best")
    one = verdict(found, Check(most, ">", both)).findings[0]
    assert (one.a, one.held) == (1500, 2)
    assert "the best 1,500 > " in verdict(found, Check(most, ">", both)).judged({}, "hops").lines[1]
