# SPDX-License-Identifier: BSD-3-Clause
"""Claims over all of their cases: how checks are pooled, and what intervals make of them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import pytest

from analysis.tables.claims import MOSTLY, Check, Claim, Most, NotTested, Of, Sure
from analysis.tables.verdicts import Found, Outcome, Verdict, contrasts, verdict, weigh

Cells = Mapping[tuple[str, str], Sequence[float]]


def judged(checks: Sequence[Check], cells: Cells, published: Mapping[str, float] | None = None) -> Outcome:
    """What becomes of checks of the quantity `x`, by case and variant; published values are of variant `a`."""

    def read(case: str, variant: str, path: str) -> Mapping[int, float]:
        return dict(enumerate(cells[case, variant], 1))

    seeds = range(1, len(next(iter(cells.values()))) + 1)
    theirs = {case: {"a": {"x": of}} for case, of in (published or {}).items()}
    return weigh(Claim("C1", "", checks), read, seeds, theirs, 0.99)


def one(relation: str, ratios: Sequence[float], factor: float = 1.0, to: float | None = None) -> Found:
    """A check in one case, whose ratio in each seed is given."""
    check = Check(Of("a", "x"), relation, Of("b", "x"), factor, to)
    [found] = judged([check], {("", "a"): [100 * ratio for ratio in ratios], ("", "b"): [100.0] * len(ratios)}).found
    return found


MORE, LESS, EVEN = (1.2, 1.21, 1.22), (0.8, 0.81, 0.82), (0.99, 1.03, 1.02)


@pytest.mark.parametrize(
    ("relation", "ratios", "said"),
    [
        (">", MORE, Sure.CONFIRMED), (">", LESS, Sure.REFUTED), (">", EVEN, Sure.OPEN), ("<", LESS, Sure.CONFIRMED),
        (">>", MORE, Sure.REFUTED), (">>", (2.2, 2.21, 2.22), Sure.CONFIRMED),
        ("<<", (0.4, 0.41, 0.42), Sure.CONFIRMED),
        ("~", MORE, Sure.CONFIRMED), ("~", (1.5, 1.51, 1.52), Sure.REFUTED), ("=", (1, 1, 1), Sure.CONFIRMED),
        ("=", (1, 1, 1.01), Sure.REFUTED), (">", (1, 1, 1), Sure.REFUTED), (">=", (1, 1, 1), Sure.CONFIRMED),
        (">", (1.2,), Sure.OPEN),
    ],
)  # fmt: skip
def test_findings(relation: str, ratios: Sequence[float], said: Sure) -> None:
    """One seed decides nothing."""
    assert one(relation, ratios).finding is said


@pytest.mark.parametrize(
    ("low", "high", "finding", "number"),
    [(1.18, 1.24, Sure.CONFIRMED, Sure.CONFIRMED), (1.5, 1.6, Sure.CONFIRMED, Sure.REFUTED),
     (0.7, 0.8, Sure.REFUTED, Sure.REFUTED), (0.9, 1.3, Sure.CONFIRMED, None), (0.98, 1.02, Sure.REFUTED, None)],
)  # fmt: skip
def test_a_range_is_a_side_and_a_number(low: float, high: float, finding: Sure, number: Sure | None) -> None:
    """A range with both sides in it says that they are alike."""
    found = one("in", MORE, low, high)
    assert (found.finding, found.number) == (finding, number)


def test_cases_are_pooled() -> None:
    """A mean over cases in each seed: what one case loses and others gain by more is a gain."""
    checks = [Check(Of("a", "x", case), ">", Of("b", "x", case)) for case in ("1", "2", "3")]
    cells = {("1", "a"): (90, 91, 92), ("2", "a"): (130, 131, 129), ("3", "a"): (120, 121, 122)}
    cells |= {(case, "b"): (100, 101, 102) for case in ("1", "2", "3")}
    [found] = judged(checks, cells).found
    assert found.finding is Sure.CONFIRMED and found.estimate.samples == 3
    assert found.ratios == pytest.approx([0.90, 1.286, 1.20], abs=0.02)
    mean, low, high = found.ratio or (0, 0, 0)
    assert 1 < low < mean < high and mean == pytest.approx((0.9 * 1.287 * 1.2) ** (1 / 3), rel=0.01)


def test_what_is_compared_otherwise_is_another_contrast() -> None:
    checks = [Check(Of(a, path, case), ">", Of("b", path, case)) for a in "ac" for path in "xy" for case in "12"]
    assert [len(contrast.checks) for contrast in contrasts(checks)] == [2, 2, 2, 2]
    assert len(contrasts([Check(Of("a", "x"), ">", Of("b", "x"), factor) for factor in (1.0, 2.0)])) == 2


def test_a_group_is_a_contrast_of_whatever_variants() -> None:
    """And apart from all others, which would have been pooled with it."""
    checks = [Check(Of(a, "x"), ">", Of("b", "x"), group="all") for a in "ac"] + [
        Check(Of("a", "x"), ">", Of("b", "x"))
    ]
    cells = {("", "a"): (90, 91, 92), ("", "b"): (100, 100, 100), ("", "c"): (130, 131, 129)}
    together, alone = judged(checks, cells).found
    assert (together.finding, len(together.ratios), alone.finding) == (Sure.CONFIRMED, 2, Sure.REFUTED)


def test_the_most_of_some_is_taken_in_each_seed() -> None:
    """How far it is above the least is a number, and no finding."""
    three = tuple(Of(variant, "x") for variant in "abc")
    cells = {("", "a"): (100, 100, 101), ("", "b"): (120, 90, 121), ("", "c"): (90, 120, 90)}
    best = Check(Of("a", "x"), ">=", Most(three[1:], "the best other"))
    spread = Check(Most(three, "best"), "in", Most(three, "worst", least=True), 1.33, 1.33)
    refuted, apart = judged([best, spread], cells).found
    assert refuted.finding is Sure.REFUTED and refuted.ratios == [pytest.approx(0.834, abs=0.001)]
    assert (apart.finding, apart.number) == (None, Sure.CONFIRMED)
    assert verdict([judged([spread], cells)]) is Verdict.OPEN, "without a finding"


@pytest.mark.parametrize(
    ("won", "of", "said"), [(3, 3, Sure.OPEN), (12, 12, Sure.CONFIRMED), (0, 12, Sure.REFUTED), (8, 12, Sure.OPEN)]
)  # fmt: skip
def test_what_is_mostly_so_is_counted(won: int, of: int, said: Sure) -> None:
    """By however much: an exact interval of the share of seeds."""
    found = one(MOSTLY, [1000.0] * won + [0.999] * (of - won))
    assert (found.finding, found.ratio, found.estimate.mean) == (said, None, won / of)


def test_ranges_are_pooled_as_the_paper_has_them() -> None:
    """6 % in one case and 30 in the other are 17 in the mean."""
    ranges = {"1": (1.05, 1.07), "2": (1.28, 1.32)}
    checks = [Check(Of("a", "x", case), "in", Of("b", "x", case), *of) for case, of in ranges.items()]
    cells = {("1", "a"): (117, 118, 117), ("2", "a"): (117, 117, 118), ("1", "b"): [100.0] * 3, ("2", "b"): [100.0] * 3}
    [found] = judged(checks, cells).found
    assert (found.finding, found.number) == (Sure.CONFIRMED, Sure.CONFIRMED)


def test_nothing_is_compared_too() -> None:
    """Where a side is zero there is no ratio."""
    check = Check(Of("a", "x"), ">", Of("b", "x"))
    [found] = judged([check], {("", "a"): (3, 4, 5, 6), ("", "b"): (0, 0, 0.1, 0)}).found
    assert found.finding is Sure.CONFIRMED and found.ratio is None
    [none] = judged([Check(Of("a", "x"), "=", 0)], {("", "a"): (0, 0, 0)}).found
    [some] = judged([Check(Of("a", "x"), "=", 0)], {("", "a"): (0, 0, 1)}).found
    [more] = judged([Check(Of("a", "x"), ">", 0)], {("", "a"): (10, 11, 12)}).found
    assert (none.finding, some.finding, more.finding) == (Sure.CONFIRMED, Sure.REFUTED, Sure.CONFIRMED)


def test_published_values_agree_in_their_mean_and_most_by_themselves() -> None:
    cases = ("1", "2", "3", "4")
    checks = [Check(Of("a", "x", case), ">", 0) for case in cases]
    cells = {(case, "a"): (99.0, 100.0, 101.0) for case in cases}
    assert judged(checks, cells, dict.fromkeys(cases, 110.0)).agree is Sure.CONFIRMED
    assert judged(checks, cells, dict.fromkeys(cases, 200.0)).agree is Sure.REFUTED
    half = {"1": 50.0, "2": 200.0, "3": 100.0, "4": 100.0}
    assert judged(checks, cells, half).agree is Sure.REFUTED, "errors that cancel are errors"
    assert judged(checks, cells).agree is None


@pytest.mark.parametrize(
    ("relations", "published", "said"),
    [
        ((">",), None, Verdict.REPRODUCED), ((">",), 121.0, Verdict.REPRODUCED), ((">",), 500.0, Verdict.IN_KIND),
        ((">", "<"), None, Verdict.NOT), ((">", ">>"), None, Verdict.NOT),
    ],
)  # fmt: skip
def test_verdicts(relations: Sequence[str], published: float | None, said: Verdict) -> None:
    checks = [Check(Of("a", "x"), relation, Of("b", "x")) for relation in relations]
    cells = {("", "a"): [100 * ratio for ratio in MORE], ("", "b"): [100.0] * 3}
    assert verdict([judged(checks, cells, {"": published} if published else None)]) is said
    assert verdict([]) is Verdict.OPEN


def test_what_was_not_run_is_said() -> None:
    with pytest.raises(NotTested, match="x of b is not known for seed 3"):
        judged([Check(Of("a", "x"), ">", Of("b", "x"))], {("", "a"): (1, 2, 3), ("", "b"): (1, 2, math.nan)})


def test_how_many_seeds_may_decide() -> None:
    """An interval as wide as four times its distance from the bound needs 16 times as many."""
    wide = one(">", (1.0, 1.04, 1.02))
    assert wide.needs == pytest.approx(3 * (wide.estimate.half_width / wide.estimate.mean) ** 2)
    assert one(">", MORE).needs == 0
    assert math.isinf(one(">", (1 / 1.1, 1.0, 1.1)).needs) or one(">", (1 / 1.1, 1.0, 1.1)).needs > 1e6


def test_how_far_a_paper_that_ran_as_much_may_be_off() -> None:
    """Ratios that spread by 0.1 (as logarithms): of four runs' mean 3.182 * 0.1 / 2, by the table of Student's t."""
    ratios = [math.exp(of) for of in (0.05 - 0.1, 0.05, 0.05 + 0.1)]
    found = one("in", ratios, 1.04, 1.06)
    assert found.noise(4) == pytest.approx(math.expm1(3.182 * 0.1 / 2), rel=0.001)
    assert found.within(4) and not found.within(40)
    assert math.isnan(one(">", [1.2]).noise(4)) and not one(">", [1.2]).within(4)


def test_looking_five_times_errs_no_more_often_than_said() -> None:
    """Of 1000 contrasts of what is exactly alike, at most 5 % are decided at any of the looks."""
    r, wrong = random.Random(1), 0
    for _ in range(1000):
        ratios = [math.exp(r.gauss(0.0, 0.1)) for _ in range(48)]
        wrong += any(one(">", ratios[:look]).finding is not Sure.OPEN for look in (3, 6, 12, 24, 48))
    assert 5 < wrong <= 50
