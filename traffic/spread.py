# SPDX-License-Identifier: BSD-3-Clause
"""The distribution of values: mean and percentiles."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PERCENTILES = (50, 95, 99)


def spread(values: Iterable[float]) -> dict[str, float] | None:
    """Return `mean`, `p50`, `p95`, `p99` and `max`; None without values. A percentile is the least value that this
    share does not exceed (nearest rank)."""
    ordered = sorted(values)
    if not ordered:
        return None
    found = {f"p{percent}": ordered[-(-len(ordered) * percent // 100) - 1] for percent in PERCENTILES}
    return {"mean": sum(ordered) / len(ordered), **found, "max": ordered[-1]}
