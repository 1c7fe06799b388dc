# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's log: prints messages from a level on. Words are joined by spaces, and no line end is added."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace
from typing import Any

from emulation.lane.errors import Misuse

LEVELS = {"debug": 10, "info": 20, "output": 25, "warning": 30, "warn": 30, "error": 40, "critical": 50}
USUAL = "output"
_level = LEVELS[USUAL]


def setLogLevel(levelname: str | None = None) -> None:
    """Set the lowest level that is printed. Raises Misuse."""
    global _level
    levelname = levelname or USUAL
    if levelname not in LEVELS:
        raise Misuse(f"setLogLevel: there is no level {levelname!r}; there are: {', '.join(LEVELS)}")
    _level = LEVELS[levelname]


def _say(level: int, *words: Any) -> None:
    if level >= _level:
        sys.stdout.write(" ".join(map(str, words)))
        sys.stdout.flush()


debug, info, output, warn, error, critical = (
    partial(_say, LEVELS[name]) for name in ("debug", "info", "output", "warn", "error", "critical")
)
warning = warn


lg = SimpleNamespace(  # Mininet's logger
    setLogLevel=setLogLevel, getEffectiveLevel=lambda: _level, debug=debug, info=info, output=output, warn=warn,
    warning=warn, error=error, critical=critical,
)  # fmt: skip
