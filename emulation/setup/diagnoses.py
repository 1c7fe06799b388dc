# SPDX-License-Identifier: BSD-3-Clause
"""Findings of `doctor`. Features have some, too, so they are apart from what asks for them."""

import enum
from dataclasses import dataclass

from emulation.setup import cache

AT_NEXT_RUN = "the next ./dcflab run builds it"


class Status(enum.Enum):
    """Result of a check. MISSING and BROKEN prevent runs, HINT does not."""

    OK = "ok"
    HINT = "hint"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True)
class Check:
    """A finding: its subject, its status, details, and how to fix it."""

    name: str
    status: Status
    detail: str
    fix: str = ""


def entry(what: str, name: str) -> Check:
    states = [(root / name, *cache.inspect(root / name, thoroughly=True)) for root in cache.roots()]
    sound = [str(path) for path, state, _ in states if state is cache.State.SOUND]
    damaged = [f"{path}: {reason}" for path, state, reason in states if state is cache.State.DAMAGED]
    if damaged:
        paths = " ".join(str(path) for path, state, _ in states if state is cache.State.DAMAGED)
        return Check(what, Status.HINT if sound else Status.BROKEN, "; ".join(damaged), f"rm -r {paths}; {AT_NEXT_RUN}")
    if sound:
        return Check(what, Status.OK, sound[0])
    return Check(what, Status.MISSING, "not in the cache yet", AT_NEXT_RUN)
