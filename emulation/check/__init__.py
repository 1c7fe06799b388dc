# SPDX-License-Identifier: BSD-3-Clause
"""The bench: what is wrong with a kernel module, found before anybody trusts it.

A check has stages (`Stage`); each returns a `Report`, and what is wrong in it is a `Finding` with one of a few names
(`Name`), so that a table, an exit status and a test can all rest on it. What is merely worth saying is a note.
Only the standard library is imported, as a stage has a part that runs inside the lane.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Stage(enum.StrEnum):
    """The parts of a check, in their order."""

    BUILD = "build"
    LOAD = "load"
    WORKOUT = "workout"
    CYCLES = "cycles"
    COMPARE = "compare"


class Name(enum.StrEnum):
    """What can be wrong with a module."""

    COMPILE_ERROR = "compile error"
    WARNING = "warning"
    SPARSE = "sparse"
    CHECKPATCH = "checkpatch"
    REFUSED_LOAD = "refused load"
    REFUSED_UNLOAD = "refused unload"
    LEAK = "leak"
    ATOMIC_SLEEP = "sleep in atomic context"
    USE_AFTER_FREE = "use after free"
    OUT_OF_BOUNDS = "out of bounds"
    LOCK_INVERSION = "lock inversion"
    LOCK_MISUSE = "lock misuse"
    DIVISION_BY_ZERO = "division by zero"
    UNDEFINED_BEHAVIOUR = "undefined behaviour"
    NULL_POINTER = "null pointer"
    RCU_MISUSE = "RCU misuse"
    KERNEL_WARNING = "warning in the kernel"
    OOPS = "oops"
    HANG = "hang"
    REFUSED_PARAMETER = "refused parameter"
    STALLED_TRAFFIC = "stalled traffic"


@dataclass(frozen=True)
class Finding:
    """Something is wrong.

    `text` says what, in one line for people; `where` is the module's function that did it, as the kernel writes it
    (`sca_cong_avoid [tcp_sca]`), if that is known; `console` holds the kernel's whole report; the same `seed` shows it
    again.
    """

    stage: Stage
    name: Name
    text: str
    seed: int | None = None
    console: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True)
class Report:
    """What one stage found, in `seconds` of wall time; `data` is what it measured, as plain JSON."""

    stage: Stage
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)
