# SPDX-License-Identifier: BSD-3-Clause
"""How many seeds a claim needs: a few first, and more while its intervals leave it open.

Testing after every seed until an interval excludes something finds too many effects. So there are only eight looks
(interim analyses), each with twice the seeds of the one before. All eight together err on a contrast in at most 5 % of
cases (Bonferroni), whichever of them are used. So the next look can be the first at which the intervals, by their
current width, may decide."""

from collections.abc import Iterable, Sequence

from analysis.tables.claims import Decision
from analysis.tables.verdicts import Found

LOOKS = (3, 6, 12, 24, 48, 96, 192, 384)
MOST = 24  # seeds by default
ERROR = 0.05
CONFIDENCE = 1 - ERROR / len(LOOKS)
HOPE = 2  # a need is an estimate, too: up to this many times the last look's seeds, that look may still decide
CERTAIN = LOOKS[2]  # with fewer seeds, the width of an interval is too uncertain to give up, or to go further at once


def up_to_look(seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds of the latest look that these complete; those of an interrupted one do not count yet. Before the
    first look, return all."""
    return seeds[: max((look for look in LOOKS if look <= len(seeds)), default=len(seeds))]


def deciding_look(found: Iterable[Found], seeds: int, most: int = MOST) -> int | None:
    """Return the look that may decide all findings that are open, by their present deviation; None if that takes more
    than `most` seeds."""
    wanted = max((one.needs for one in found if one.finding is Decision.OPEN), default=0.0)
    return next((look for look in LOOKS if look > seeds and wanted <= look <= most), None)


def next_look(found: Iterable[Found], seeds: int, most: int = MOST) -> int | None:
    """Return the number of seeds of the next look, after one with `seeds`; None if another is not worth it."""
    wanted = [one.needs for one in found if one.needs]
    left = [look for look in LOOKS if seeds < look <= most]
    if seeds < LOOKS[0]:
        return LOOKS[0]
    if not left or not wanted:
        return None
    can = [need for need in wanted if need <= HOPE * left[-1]]
    if not can:
        return left[0] if seeds < CERTAIN else None
    wide = next((look for look in left if look >= max(can)), left[-1])
    return min(wide, CERTAIN) if seeds < CERTAIN else wide
