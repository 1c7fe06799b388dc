# SPDX-License-Identifier: BSD-3-Clause
"""How many seeds a claim needs: a few first, and more while its intervals leave it open.

Looking after every seed, until an interval excludes something, finds too much. So there are only five looks, after 3,
6, 12, 24 and 48 seeds, and at each the intervals are of 99 %. Whichever of them are used, all five together err on a
contrast in at most 5 % of cases (Bonferroni). So the next look may be the first at which the intervals, by their width
now, could have decided what they can.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.tables.verdicts import Found

LOOKS = (3, 6, 12, 24, 48)
MOST = 24  # seeds, unless more are asked for
ERROR = 0.05
CONFIDENCE = 1 - ERROR / len(LOOKS)
HOPELESS = LOOKS[1]  # with fewer seeds an interval's width says too little to give up


def next_look(found: Iterable[Found], seeds: int, most: int = MOST) -> int | None:
    """With how many seeds to look again, after a look with so many; None if that is not worth it."""
    wanted = [one.needs for one in found if one.needs]
    left = [look for look in LOOKS if seeds < look <= most]
    if seeds < LOOKS[0]:
        return LOOKS[0]
    if not left or not wanted:
        return None
    can = [need for need in wanted if need <= left[-1]]
    if not can:
        return left[0] if seeds < HOPELESS else None
    return next((look for look in left if look >= max(can)), left[-1])
