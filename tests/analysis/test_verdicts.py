# SPDX-License-Identifier: BSD-3-Clause
"""Claims over all of their cases: how checks are pooled, and the verdicts from their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pytest

from analysis.tables import statistics, verdicts
from analysis.tables.claims import MOSTLY, Check, Claim, Decision, Most, NotTested, Of
from analysis.tables.statistics import Estimate
from analysis.tables.verdicts import Contrast, Found, Outcome, Verdict, contrasts, verdict, weigh

CONFIRMED, OPEN, REFUTED = Decision

Cells = Mapping[tuple[str, str], Sequence[float]]
FEWEST = verdicts.FEWEST


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a few runs are enough for a verdict."""
    monkeypatch.setattr(verdicts, "FEWEST", 1)


def judged(checks: Sequence[Check], cells: Cells, published: Mapping[str, float] | None = None) -> Outcome:
    """Return the results of checks of the quantity `x`, by case and variant; published values are of variant `a`."""

    def read(case: str, variant: str, path: str) -> Mapping[int, float]:
        return dict(enumerate(cells[case, variant], 1))

    seeds = range(1, len(next(iter(cells.values()))) + 1)
    theirs = {case: {"a": {"x": of}} for case, of in (published or {}).items()}
    return weigh(Claim("C1", "", checks), read, seeds, theirs, 0.99)


def one(relation: str, ratios: Sequence[float], factor: float = 1.0, to: float | None = None) -> Found:
    """Return a check in one case, whose ratio in each seed is given."""
    check = Check(Of("a", "x"), relation, Of("b", "x"), factor, to)
    [found] = judged([check], {("", "a"): [100 * ratio for ratio in ratios], ("", "b"): [100.0] * len(ratios)}).found
    return found


MORE, LESS, EVEN = (1.2, 1.21, 1.22), (0.8, 0.81, 0.82), (0.99, 1.06, 1.02)


@pytest.mark.parametrize(
    ("relation", "ratios", "said"),
    [
        (">", MORE, CONFIRMED), (">", LESS, REFUTED), (">", EVEN, OPEN), ("<", LESS, CONFIRMED),
        (">>", MORE, REFUTED), (">>", (2.2, 2.21, 2.22), CONFIRMED),
        ("<<", (0.4, 0.41, 0.42), CONFIRMED),
        ("~", MORE, CONFIRMED), ("~", (1.5, 1.51, 1.52), REFUTED), ("=", (1, 1, 1), CONFIRMED),
        ("=", (1, 1, 1.01), REFUTED), (">", (1, 1, 1), REFUTED), (">=", (1, 1, 1), CONFIRMED),
        (">", (1.2,), OPEN),
    ],
)  # fmt: skip
def test_findings(relation: str, ratios: Sequence[float], said: Decision) -> None:
    """One seed decides nothing."""
    assert one(relation, ratios).finding is said


@pytest.mark.parametrize(
    ("low", "high", "finding", "number"),
    [(1.18, 1.24, CONFIRMED, CONFIRMED), (1.5, 1.6, CONFIRMED, REFUTED),
     (0.7, 0.8, REFUTED, REFUTED), (0.9, 1.3, CONFIRMED, None), (0.98, 1.02, REFUTED, None)],
)  # fmt: skip
def test_a_range_is_a_side_and_a_number(low: float, high: float, finding: Decision, number: Decision | None) -> None:
    """A range with both sides in it says that they are alike."""
    found = one("in", MORE, low, high)
    assert (found.finding, found.number) == (finding, number)


def test_cases_are_pooled() -> None:
    """A mean over cases in each seed: one case loses, others gain more, so it is a gain."""
    checks = [Check(Of("a", "x", case), ">", Of("b", "x", case)) for case in ("1", "2", "3")]
    cells = {("1", "a"): (90, 91, 92), ("2", "a"): (130, 131, 129), ("3", "a"): (120, 121, 122)}
    cells |= {(case, "b"): (100, 101, 102) for case in ("1", "2", "3")}
    [found] = judged(checks, cells).found
    assert found.finding is CONFIRMED and found.estimate.samples == 3
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
    assert (together.finding, len(together.ratios), alone.finding) == (CONFIRMED, 2, REFUTED)


def test_the_most_of_some_is_taken_in_each_seed() -> None:
    """By how far it exceeds the least is a number, not a finding."""
    three = tuple(Of(variant, "x") for variant in "abc")
    cells = {("", "a"): (100, 100, 101), ("", "b"): (120, 90, 121), ("", "c"): (90, 120, 90)}
    best = Check(Of("a", "x"), ">=", Most(three[1:], "the best other"))
    spread = Check(Most(three, "best"), "in", Most(three, "worst", least=True), 1.33, 1.33)
    refuted, apart = judged([best, spread], cells).found
    assert refuted.finding is REFUTED and refuted.ratios == [pytest.approx(0.834, abs=0.001)]
    assert (apart.finding, apart.number) == (None, CONFIRMED)
    assert verdict([judged([spread], cells)]) is Verdict.OPEN, "without a finding"


@pytest.mark.parametrize(
    ("won", "of", "said"),
    [(3, 3, OPEN), (12, 12, CONFIRMED), (0, 12, REFUTED), (8, 12, OPEN), (500, 1000, REFUTED), (580, 1000, CONFIRMED)],
)  # fmt: skip
def test_what_is_mostly_so_is_counted(won: int, of: int, said: Decision) -> None:
    """By any amount: an exact interval of the share of seeds, against a margin of a tenth."""
    found = one(MOSTLY, [1000.0] * won + [0.999] * (of - won))
    assert (found.finding, found.ratio, found.estimate.mean) == (said, None, won / of)


def test_ranges_are_pooled_as_the_paper_has_them() -> None:
    """6 % in one case and 30 in the other are 17 in the mean."""
    ranges = {"1": (1.05, 1.07), "2": (1.28, 1.32)}
    checks = [Check(Of("a", "x", case), "in", Of("b", "x", case), *of) for case, of in ranges.items()]
    cells = {("1", "a"): (117, 118, 117), ("2", "a"): (117, 117, 118), ("1", "b"): [100.0] * 3, ("2", "b"): [100.0] * 3}
    [found] = judged(checks, cells).found
    assert (found.finding, found.number) == (CONFIRMED, CONFIRMED)


def test_nothing_is_compared_too() -> None:
    """Where a side is zero there is no ratio."""
    check = Check(Of("a", "x"), ">", Of("b", "x"))
    [found] = judged([check], {("", "a"): (3, 4, 5, 6), ("", "b"): (0, 0, 0.1, 0)}).found
    assert found.finding is CONFIRMED and found.ratio is None
    [none] = judged([Check(Of("a", "x"), "=", 0)], {("", "a"): (0, 0, 0)}).found
    [some] = judged([Check(Of("a", "x"), "=", 0)], {("", "a"): (0, 0, 1)}).found
    [more] = judged([Check(Of("a", "x"), ">", 0)], {("", "a"): (10, 11, 12)}).found
    assert (none.finding, some.finding, more.finding) == (CONFIRMED, REFUTED, CONFIRMED)


def test_published_values_agree_in_their_mean_and_most_by_themselves() -> None:
    cases = ("1", "2", "3", "4")
    checks = [Check(Of("a", "x", case), ">", 0) for case in cases]
    cells = {(case, "a"): (99.0, 100.0, 101.0) for case in cases}
    assert judged(checks, cells, dict.fromkeys(cases, 110.0)).agree is CONFIRMED
    assert judged(checks, cells, dict.fromkeys(cases, 200.0)).agree is REFUTED
    half = {"1": 50.0, "2": 200.0, "3": 100.0, "4": 100.0}
    assert judged(checks, cells, half).agree is REFUTED, "errors that cancel are errors"
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


def test_what_was_not_run_is_reported() -> None:
    with pytest.raises(NotTested, match="x was not recorded in b, seed 3"):
        judged([Check(Of("a", "x"), ">", Of("b", "x"))], {("", "a"): (1, 2, 3), ("", "b"): (1, 2, math.nan)})


def test_how_many_seeds_may_decide() -> None:
    """At their deviation: a third more seeds decide, and a third fewer do not."""
    wide = one(">", (1.0, 1.3, 1.15))
    mean, spread = wide.estimate.mean, wide.deviation

    def half_width(seeds: int) -> float:
        return statistics.t_quantile(0.975, seeds - 1) * spread / math.sqrt(seeds)

    assert half_width(round(4 / 3 * wide.needs)) < mean < half_width(round(2 / 3 * wide.needs))
    assert one(">", MORE).needs == 0
    none = one(">", (1 / 1.1, 1.0, 1.1))
    assert half_width(round(4 / 3 * none.needs)) / spread < math.log(1.05) / none.deviation, "to exclude the margin"


def test_a_finding_that_is_open_counts_before_its_number() -> None:
    """A verdict waits for the finding only. This one is clear, and how large the gain is is not."""
    found = one("in", [1.06 + 0.01 * (-1) ** n for n in range(12)], 1.03, 1.05)
    assert (found.finding, found.number) == (Decision.CONFIRMED, Decision.OPEN) and found.needs > 12
    wide = one("in", [1.05 + 0.1 * (-1) ** n for n in range(12)], 1.03, 1.05)
    assert (wide.finding, wide.number) == (Decision.OPEN, Decision.OPEN)
    order = one(">", [1.05 + 0.1 * (-1) ** n for n in range(12)])
    assert wide.needs == pytest.approx(order.needs, rel=0.01)


def test_what_a_paper_that_ran_as_much_could_not_show() -> None:
    """Twelve ratios with a deviation of 0.1 (as logarithms). The least that is possible is 0.1 * sqrt(11 / 19.675), by
    the table of chi-square; 1.96 standard errors of four runs' mean are significant."""
    spread = [(-1) ** n * 0.1 * math.sqrt(11 / 12) for n in range(12)]
    found = one("in", [math.exp(0.05 + of) for of in spread], 1.04, 1.06)
    assert found.deviation == pytest.approx(0.1)
    noise = 1.95996 * 0.1 * math.sqrt(11 / 19.675) / 2
    assert found.noise(4) == pytest.approx(noise, rel=0.005)
    assert found.effect == pytest.approx(math.log(1.05), rel=0.01)
    assert found.within(4) and not found.within(40)
    few = one("in", [math.exp(0.05 + of) for of in spread[:6]], 1.04, 1.06)
    assert few.noise(4) is None and not few.within(4), "its deviation is not known"


def test_what_a_paper_says_is_alike_is_noise_if_its_runs_could_differ_by_more() -> None:
    spread = [math.exp((-1) ** n * 0.1) for n in range(12)]
    assert one("in", spread, 0.99, 1.01).within(4) and not one("in", spread, 0.8, 1.25).within(4)
    ordered = one(">", spread)
    assert ordered.effect is None and not ordered.within(4), "its size is not published"
    assert ordered.within(4, 0.05) and not ordered.within(4, 0.2)


def alone(relation: str, path: str, ratio: float, to: float | None = None, **published: float) -> Decision | None:
    """Return the finding for twelve seeds that all have about this ratio of a quantity."""
    check = Check(Of("a", path), relation, Of("b", path), 1.0 if to is None else ratio, to)
    values = {"a": {seed: 100 * ratio * (1 + seed % 2 / 1e4) for seed in range(1, 13)},
              "b": dict.fromkeys(range(1, 13), 100.0)}  # fmt: skip
    theirs = {"": {variant: {path: value} for variant, value in published.items()}}
    claim = Claim("C1", "", [check])
    [found] = weigh(claim, lambda case, variant, path: values[variant], range(1, 13), theirs, 0.99).found
    return found.finding


@pytest.mark.parametrize(
    ("relation", "path", "ratio", "said"),
    [(">", "goodput_kbps", 1.005, REFUTED), (">", "goodput_kbps", 1.02, CONFIRMED),
     ("<", "flows.0-4.goodput_kbps", 0.995, REFUTED), ("<", "goodput_segments", 0.98, CONFIRMED),
     (">=", "goodput_kbps", 0.995, CONFIRMED), (">=", "goodput_kbps", 0.98, REFUTED),
     (">", "col.total", 1.04, REFUTED), (">", "col.total", 1.06, CONFIRMED),
     (">>", "col.total", 2.01, CONFIRMED)],
)  # fmt: skip
def test_less_than_a_margin_more_is_not_more(relation: str, path: str, ratio: float, said: Decision) -> None:
    """One percent of goodput, five of everything else. A smaller difference counts as equal."""
    assert alone(relation, path, ratio) is said


def test_a_margin_is_at_most_half_of_what_was_published() -> None:
    """By a range, or by the values of both sides."""
    two_percent = Contrast([Check(Of("a", "col.total"), "in", Of("b", "col.total"), 1.01, 1.03)])
    assert two_percent.little(math.log) == pytest.approx(0.5 * math.log(1.01 * 1.03) / 2)
    assert alone(">", "col.total", 1.02) is REFUTED
    assert alone(">", "col.total", 1.02, a=102.0, b=100.0) is CONFIRMED


@pytest.mark.parametrize(
    ("relation", "ratios", "below"),
    [(">", (0.99, 1.01, 1.0, 1.0), 0.05), ("<", (0.99, 1.01, 1.0, 1.0), 0.05), (">", LESS, None), (">", EVEN, None),
     (">>", (1.0, 1.0, 1.01), None), ("<", LESS, None)],
)  # fmt: skip
def test_an_effect_that_is_not_there_is_distinguished_from_the_opposite(
    relation: str, ratios: Sequence[float], below: float | None
) -> None:
    """Only an interval within the margin on both sides says so."""
    found = one(relation, ratios).below
    assert found == (pytest.approx(below) if below else None)


def test_a_range_of_both_sides_is_as_much_wider() -> None:
    check = Check(Of("a", "goodput_kbps"), "in", Of("b", "goodput_kbps"), 0.99, 1.015)
    band = Contrast([check]).finding(math.log)
    assert band.decides(Estimate(math.log(1.02), 0.002, 12)) is CONFIRMED
    assert band.decides(Estimate(math.log(1.03), 0.002, 12)) is REFUTED


@pytest.mark.parametrize(("cases", "seeds", "said"), [(1, 11, OPEN), (1, 12, CONFIRMED), (4, 3, CONFIRMED)])
def test_a_verdict_takes_twelve_runs(cases: int, seeds: int, said: Decision, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each side, over seeds and cases. Of a row of which each case is compared with the next, the ends count."""
    monkeypatch.setattr(verdicts, "FEWEST", FEWEST)
    names = [str(case) for case in range(cases)]
    cells = {(case, "a"): [120.0 + seed for seed in range(seeds)] for case in names}
    cells |= {(case, "b"): [100.0] * seeds for case in names}
    [found] = judged([Check(Of("a", "x", case), ">", Of("b", "x", case)) for case in names], cells).found
    assert (found.finding, found.needs) == (said, 12 if said is OPEN else 0)
    row = [Check(Of("a", "x", case), ">", Of("a", "x", longer)) for case, longer in pairwise("1234")]
    assert Contrast(row).runs == 1
    [refuted] = judged([Check(Of("a", "x"), "=", 0)], {("", "a"): (0, 0, 1)}).found
    assert refuted.finding is REFUTED, "one run refutes an equality"


def of_means(cells: Cells, relation: str = ">") -> Found:
    """Return a check of goodput in case "" of two variants, by means over seeds."""
    check = Check(Of("a", "goodput_kbps"), relation, Of("b", "goodput_kbps"))

    def read(case: str, variant: str, path: str) -> Mapping[int, float]:
        return dict(enumerate(cells[case, variant]))

    seeds = range(len(cells["", "a"]))
    return weigh(Claim("C1", "", [check]), read, seeds, {}, 0.994, means=True).found[0]


def test_means_of_many_runs_are_compared_as_means() -> None:
    """A run in which both sides have little counts for little, and one without any goodput counts, too."""
    usual = {("", "a"): [110.0, 220.0, 330.0, 441.0], ("", "b"): [100.0, 200.0, 300.0, 400.0]}
    found = of_means(usual)
    assert found.ratios == [pytest.approx(1.101)]
    assert found.estimate.mean == pytest.approx(math.log(1.101), abs=1e-3) and found.finding is CONFIRMED
    little = of_means({key: [*of, 1.0 if key[1] == "a" else 10.0] for key, of in usual.items()})
    assert little.ratios == [pytest.approx(1102 / 1010)] and little.ratio == pytest.approx((1.1, 0.9, 1.3), abs=0.15)
    silent = of_means({key: [*of, 0.0 if key[1] == "a" else 10.0] for key, of in usual.items()})
    assert silent.ratios == [pytest.approx(1101 / 1010)] and silent.ratio == pytest.approx((1.1, 0.9, 1.3), abs=0.15)
    single = of_means({key: of[:1] for key, of in usual.items()})
    assert single.finding is OPEN and single.ratio is not None and single.ratio[0] == pytest.approx(1.1)


def test_the_spread_of_a_ratio_of_means_is_that_of_many_repetitions() -> None:
    """The jackknife's deviation, beside that of the ratio itself over 2,000 repetitions of 24 seeds. Runs are like
    those of moving stations: the two sides share a movement, and some movements carry little."""
    r = np.random.default_rng(3)
    movement = 400 * r.beta(1.2, 1.0, (2000, 24, 1)) + 1
    sides = movement * np.exp((0.15 + 0.8 * np.exp(-movement / 80)) * r.standard_normal((2000, 24, 2)))
    ratios = np.log(sides[:, :, 0].sum(1) / sides[:, :, 1].sum(1))
    found = [of_means({("", "a"): list(one[:, 0]), ("", "b"): list(one[:, 1])}) for one in sides[:100]]
    assert np.mean([one.deviation for one in found]) / math.sqrt(24) == pytest.approx(ratios.std(), rel=0.1)
    assert sum(one.finding is CONFIRMED for one in found) <= 2


LAWS = {
    "normal": lambda r, size: r.standard_normal(size),
    "two outcomes": lambda r, size: r.choice([-1.0, 1.0], size) + 0.1 * r.standard_normal(size),
    "exponential": lambda r, size: r.exponential(size=size) - 1,
}


@pytest.mark.parametrize(("law", "most"), [("normal", 0.025), ("two outcomes", 0.03), ("exponential", 0.09)])
@pytest.mark.parametrize("cases", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_verdicts_are_false_no_more_often_than_said(
    law: str, most: float, cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/studies.md has these rates: for no gain, and for one as large as the margin, at any of the looks. A false
    verdict is "yes" for the one, and "no" for the other."""
    monkeypatch.setattr(verdicts, "FEWEST", FEWEST)
    r, trials, names = np.random.default_rng(1), 250, [str(case) for case in range(cases)]
    checks = [Check(Of("a", "goodput_kbps", case), ">", Of("b", "goodput_kbps", case)) for case in names]
    for effect, false in ((1.0, CONFIRMED), (1.01, REFUTED)):
        wrong = 0
        for _ in range(trials):
            drawn = 100 * effect * np.exp(0.02 * LAWS[law](r, (cases, 48)))
            for look in (3, 6, 12, 24, 48):
                cells = {(case, "a"): list(drawn[at, :look]) for at, case in enumerate(names)}
                cells |= {(case, "b"): [100.0] * look for case in names}
                if judged(checks, cells).found[0].finding is false:
                    wrong += 1
                    break
        assert wrong / trials <= most + 2 * math.sqrt(most / trials), (effect, wrong)


def test_no_effect_is_decided() -> None:
    """A gain that does not exist is refuted, by as many seeds as its spread requires."""
    r = np.random.default_rng(2)
    said = [one_of_goodput(np.exp(0.01 * r.standard_normal(24))) for _ in range(100)]
    assert said.count(REFUTED) > 80 and said.count(CONFIRMED) < 5


def one_of_goodput(ratios: Iterable[float]) -> Decision | None:
    values = [100 * float(ratio) for ratio in ratios]
    check = Check(Of("a", "goodput_kbps"), ">", Of("b", "goodput_kbps"))
    claim = Claim("C1", "", [check])
    of = {"a": dict(enumerate(values)), "b": dict.fromkeys(range(len(values)), 100.0)}
    return weigh(claim, lambda case, variant, path: of[variant], range(len(values)), {}, 0.99).found[0].finding
