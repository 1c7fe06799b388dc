# SPDX-License-Identifier: BSD-3-Clause
"""Networks for tests of routing, and their shortest paths by breadth-first search."""

from __future__ import annotations

import random
from collections import deque

Pairs = set[tuple[int, int]]


def disc(points: list[tuple[float, float]], reach: float) -> Pairs:
    """Return the pairs within `reach` of each other."""
    return {
        (a, b)
        for a, (ax, ay) in enumerate(points)
        for b, (bx, by) in enumerate(points[:a])
        if (ax - bx) ** 2 + (ay - by) ** 2 <= reach * reach
    }


def scatter(count: int, degree: float, draw: random.Random) -> tuple[list[tuple[float, float]], float]:
    """Return points in the unit square, and the reach that gives each about `degree` neighbours."""
    return [(draw.random(), draw.random()) for _ in range(count)], (degree / (3.14159 * (count - 1))) ** 0.5


def stroll(points: list[tuple[float, float]], step: float, draw: random.Random) -> list[tuple[float, float]]:
    """Move each point by one random step within the unit square."""
    return [
        (min(1.0, max(0.0, x + draw.uniform(-step, step))), min(1.0, max(0.0, y + draw.uniform(-step, step))))
        for x, y in points
    ]


def distances(pairs: Pairs, source: int) -> dict[int, int]:
    """Return the hops from `source` to each reachable node."""
    linked: dict[int, set[int]] = {}
    for a, b in pairs:
        linked.setdefault(a, set()).add(b)
        linked.setdefault(b, set()).add(a)
    found, waiting = {source: 0}, deque([source])
    while waiting:
        node = waiting.popleft()
        for other in sorted(linked.get(node, ())):
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return found
