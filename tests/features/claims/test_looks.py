# SPDX-License-Identifier: BSD-3-Clause
"""The number of seeds that a claim needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.tables.claims import Check, Claim, Decision, Of
from analysis.tables.verdicts import Found, weigh
from emulation.features.claims.looks import CONFIDENCE, LOOKS, deciding_look, next_look, up_to_look


def found(ratios: Sequence[float]) -> Found:
    """Of a check that one variant has more goodput than another, whose ratio in each seed is given: that of four cases.
    So three seeds have the twelve runs that a verdict takes."""
    seeds = range(1, len(ratios) + 1)
    values = {
        "a": {seed: 100 * ratio for seed, ratio in zip(seeds, ratios, strict=True)},
        "b": dict.fromkeys(seeds, 100.0),
    }
    checks = [Check(Of("a", "goodput_kbps", case), ">", Of("b", "goodput_kbps", case)) for case in "1234"]
    claim = Claim("C1", "so it is", checks)
    return weigh(claim, lambda case, variant, path: values[variant], seeds, {}, CONFIDENCE).found[0]


MORE, LESS = found([1.2, 1.21, 1.22]), found([0.8, 0.81, 0.82])
OPEN = found([0.99, 1.03, 1.02])


def test_what_is_decided_is_not_looked_at_again() -> None:
    assert next_look([], 0) == LOOKS[0]
    assert next_look([MORE, LESS], 3) is None
    assert OPEN.finding is Decision.OPEN and next_look([MORE, OPEN], 3)


def test_seeds_of_an_unfinished_look_wait_for_it() -> None:
    """Else an interrupted look would be one more, and eight looks would err more often than they may."""
    assert [len(up_to_look(range(seeds))) for seeds in (2, 3, 5, 6, 47, 48, 500)] == [2, 3, 3, 6, 24, 48, 384]


def test_the_next_look_is_the_first_that_may_decide() -> None:
    near = found([1.018, 1.022, 1.02, 1.0, 1.04, 1.02])
    assert 6 < near.needs < 12
    assert next_look([near, MORE], 6) == 12


def test_few_seeds_do_not_say_that_many_are_needed() -> None:
    """Their spread is too uncertain for that."""
    wide = found([1.0, 0.9, 1.2])
    assert wide.needs > 48
    assert next_look([wide], 3, LOOKS[-1]) == 12
    assert next_look([wide], 12, LOOKS[-1]) == next(look for look in LOOKS if look >= wide.needs)


def test_what_would_take_too_many_is_given_up() -> None:
    """But not with few seeds, as their spread is too uncertain."""
    hopeless = found([0.9, 1.1, 1.0, 0.95, 1.05, 1.001])
    assert hopeless.needs > 96
    assert [next_look([hopeless], seeds) for seeds in (3, 6, 12)] == [6, 12, None]
    assert next_look([OPEN], 24, most=24) is None


def test_the_last_look_is_taken_though_the_estimate_is_a_little_more() -> None:
    near = found([1.018, 1.022, 1.02, 1.0, 1.04, 1.02])
    for need, look in ((24.0, 24), (25.0, 24), (48.0, 24), (49.0, None)):
        assert next_look([replace(near, needs=need)], 12) == look


def test_the_look_that_may_decide_is_that_of_all_that_is_open() -> None:
    near, hopeless = (found(of) for of in ([1.018, 1.022, 1.02, 1.0, 1.04, 1.02], [0.9, 1.1, 1.0, 0.95, 1.05, 1.001]))
    assert deciding_look([near, MORE], 6) == 12
    assert deciding_look([near, hopeless], 6, LOOKS[-1]) == next(look for look in LOOKS if look >= hopeless.needs)
    assert deciding_look([near, hopeless], 6) is None
