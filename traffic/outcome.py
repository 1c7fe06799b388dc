# SPDX-License-Identifier: BSD-3-Clause
"""Outcomes of flows, to distinguish a flow that never started, or died, from a slow one."""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SILENT_S = 5.0  # s: a flow that at the end has waited this long for sent data has fallen silent


class Outcome(Enum):
    RAN = "ran"  # until its time was over
    FINISHED = "finished"  # everything has arrived
    NOT_DUE = "not due"  # it was to start after the end
    NEVER_STARTED = "never started"  # nothing ever arrived
    SILENT = "fell silent"  # something arrived, and then nothing more: dead, or starved
    DIED = "died"  # something arrived, and then it failed


def judge(started: bool, report: Mapping[str, Any]) -> tuple[Outcome, str | None]:
    """Return the outcome of a flow, and the reason if it is a bad one.

    It depends on these keys of its report: `finished_s`; `delivered_bytes`; `error`, the system's message (None: none);
    `last_s`, the time of the last arrival; `waiting_s`, how long data sent after that has been missing (None: nothing
    is).
    """
    if not started:
        return Outcome.NOT_DUE, None
    if report["finished_s"] is not None:
        return Outcome.FINISHED, None
    if not report["delivered_bytes"]:
        return Outcome.NEVER_STARTED, report["error"] or "nothing arrived"
    if report["error"]:
        return Outcome.DIED, report["error"]
    if (report["waiting_s"] or 0) >= SILENT_S:
        return Outcome.SILENT, f"nothing arrived after {report['last_s']:.2f} s"
    return Outcome.RAN, None
