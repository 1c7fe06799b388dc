# SPDX-License-Identifier: BSD-3-Clause
"""How many seeds a claim needs: a few first, and more while its intervals leave it open.

Who looks again and again until an interval excludes something will find one that does, wrongly. So there are only five
moments at which to look, after 3, 6, 12, 24 and 48 seeds, and at each the intervals are of 99 %: however the looks are
chosen, all five together err on a check in at most 5 % of cases (Bonferroni). That holds also if some are left out, so
the next look is the first at which the intervals, by their width now, could have decided what they can.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum

from analysis.tables.claims import Finding, Sure

LOOKS = (3, 6, 12, 24, 48)
MOST = 24  # seeds, unless more are asked for
ERROR = 0.05
CONFIDENCE = 1 - ERROR / len(LOOKS)
HOPELESS = LOOKS[1]  # with fewer seeds an interval's width says too little to give up


class State(Enum):
    """What is known of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    NOT = "does not hold"
    EXPLAINED = "explained"
    OPEN = "undecided"
    UNTESTED = "not tested"


def state(findings: Sequence[Finding], all_there: bool = True) -> State:
    """Of a claim, by what was found of its checks; not `all_there`: others are still to be run."""
    found = {finding.decided for finding in findings}
    if not findings:
        return State.UNTESTED
    if found == {Sure.CONFIRMED}:
        return State.HOLDS if all_there else State.OPEN
    if Sure.REFUTED not in found:
        return State.OPEN
    likely = Sure.CONFIRMED in found or any(2 * finding.held > finding.seeds for finding in findings)
    return State.IN_PART if likely else State.NOT if all_there else State.OPEN


def needs(finding: Finding) -> float:
    """How many seeds may decide a check, if they spread as those so far: an interval's width falls as the root of their
    number. inf if it lies on a bound."""
    if finding.decided is not Sure.OPEN:
        return 0
    if finding.ratio is not None:
        sides = [(abs(finding.ratio.mean - bound), finding.ratio.half_width) for bound in finding.check.bounds]
    else:
        sides = [(abs(above.mean), above.half_width) for above in finding.above if above]
    far = [half_width / distance if distance else math.inf for distance, half_width in sides if half_width > distance]
    return finding.seeds * max(far, default=1.0) ** 2


def next_look(findings: Iterable[Finding], seeds: int, most: int = MOST) -> int | None:
    """With how many seeds to look again, after a look with so many; None if that is not worth it."""
    wanted = [needs(finding) for finding in findings if finding.decided is Sure.OPEN]
    left = [look for look in LOOKS if seeds < look <= most]
    if seeds < LOOKS[0]:
        return LOOKS[0]
    if not left or not wanted:
        return None
    can = [need for need in wanted if need <= left[-1]]
    if not can:
        return left[0] if seeds < HOPELESS else None
    return next(look for look in left if look >= max(can))
