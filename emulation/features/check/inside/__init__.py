# SPDX-License-Identifier: BSD-3-Clause
"""The bench's inner half: what happens to a module in the lane, and the names that it shares with the outer half.

`workout` is the program. It loads the module (`loaded`) into a network (`playground`) with a crowd of connections
(`crowd`), and changes its parameters (`parameters`) and qdiscs (`queues`) as `job` says.
"""

from __future__ import annotations

import enum


class Stage(enum.StrEnum):
    """The parts of a check, in order."""

    BUILD = "build"
    LOAD = "load"
    WORKOUT = "workout"
    CYCLES = "cycles"
    COMPARE = "compare"


class Name(enum.StrEnum):
    """Names of faults of a module."""

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
    COLLAPSE = "collapse over time"
