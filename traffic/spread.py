# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of values: mean and percentiles."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import accumulate, chain, repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PERCENTILES = (50, 95, 99)


def spread(values: Iterable[float]) -> dict[str, float] | None:
    """Return `mean`, `p50`, `p95`, `p99` and `max`; None without values. A percentile is the least value that this
    share does not exceed (nearest rank)."""
    return spread_of(Counter(values))


def spread_of(counts: Mapping[float, int]) -> dict[str, float] | None:
    """Return the same of values that have been counted."""
    if not counts:
        return None
    ordered = sorted(counts)
    ranks = list(accumulate(counts[value] for value in ordered))
    mean = sum(chain.from_iterable(repeat(value, counts[value]) for value in ordered)) / ranks[-1]
    found = {f"p{percent}": ordered[bisect_left(ranks, -(-ranks[-1] * percent // 100))] for percent in PERCENTILES}
    return {"mean": mean, **found, "max": ordered[-1]}
