# SPDX-License-Identifier: BSD-3-Clause
"""How many seeds a claim needs, and that looking several times does not make the wrong thing found more often."""

import math
import random
from collections.abc import Sequence

import pytest

from analysis.tables.claims import Check, Claim, Finding, Of, Sure, weigh
from emulation.features.claims.looks import CONFIDENCE, LOOKS, State, needs, next_look, state

A, B = Of("a", "x"), Of("b", "x")


def finding(ratios: Sequence[float], relation: str = ">", to: float | None = None, factor: float = 1.0) -> Finding:
    """Of a check of two variants, whose ratio in each seed is given."""
    values = {"a": {seed: 100 * ratio for seed, ratio in enumerate(ratios, 1)},
              "b": dict.fromkeys(range(1, len(ratios) + 1), 100.0)}  # fmt: skip
    claim = Claim("C1", "so it is", [Check(A, relation, B, factor, to)])
    return weigh(claim, lambda case, variant, path: values[variant], sorted(values["a"]), CONFIDENCE).findings[0]


MORE, LESS = finding([1.2, 1.21, 1.22]), finding([0.8, 0.81, 0.82])
OPEN = finding([0.99, 1.03, 1.02])


@pytest.mark.parametrize(
    ("findings", "all_there", "said"),
    [
        ([MORE, MORE], True, State.HOLDS), ([MORE], False, State.OPEN), ([LESS, LESS], True, State.NOT),
        ([MORE, LESS], True, State.IN_PART), ([MORE, LESS], False, State.IN_PART), ([MORE, OPEN], True, State.OPEN),
        ([LESS, OPEN], True, State.IN_PART), ([LESS], False, State.OPEN), ([], True, State.UNTESTED),
    ],
)  # fmt: skip
def test_states(findings: list[Finding], all_there: bool, said: State) -> None:
    assert [each.decided for each in (MORE, LESS, OPEN)] == [Sure.CONFIRMED, Sure.REFUTED, Sure.OPEN]
    assert state(findings, all_there) is said


def test_what_is_decided_is_not_looked_at_again() -> None:
    assert next_look([], 0) == LOOKS[0]
    assert next_look([MORE, LESS], 3) is None


def test_the_next_look_is_the_first_that_may_decide() -> None:
    """An interval as wide as four times its distance from the bound needs 16 times as many seeds."""
    wide = finding([1.0, 1.04, 1.02])
    assert wide.ratio and needs(wide) == pytest.approx(3 * (wide.ratio.half_width / 0.02) ** 2)
    near = finding([1.018, 1.022, 1.02, 1.0, 1.04, 1.02])
    assert 6 < needs(near) < 12
    assert next_look([near, MORE], 6) == 12


def test_what_would_take_too_many_is_given_up() -> None:
    """But not after three seeds, which say too little of how values spread."""
    hopeless = finding([0.9, 1.1, 1.0, 0.95, 1.05, 1.001])
    assert needs(hopeless) > LOOKS[-1]
    assert next_look([hopeless], 6) is None
    assert next_look([finding([0.9, 1.1, 1.001])], 3) == 6
    assert next_look([OPEN], 24, most=24) is None


def test_a_bound_that_is_met_is_never_decided() -> None:
    assert math.isinf(needs(finding([0.99, 1.0, 1.01])))
    assert needs(MORE) == 0


def test_a_range_needs_what_its_nearer_bound_does() -> None:
    near = finding([1.3, 1.4, 1.38], "in", 1.71, 1.32)
    assert near.ratio
    assert needs(near) == pytest.approx(3 * (near.ratio.half_width / (near.ratio.mean - 1.32)) ** 2)


def test_looking_five_times_errs_no_more_often_than_said() -> None:
    """Of 1000 claims on what is exactly alike, at most 5 % are decided at any of the looks."""
    r, wrong = random.Random(1), 0
    for _ in range(1000):
        ratios = [r.gauss(1.0, 0.1) for _ in range(LOOKS[-1])]
        wrong += any(finding(ratios[:look]).decided is not Sure.OPEN for look in LOOKS)
    assert 5 < wrong <= 50
