# SPDX-License-Identifier: BSD-3-Clause
"""What became of a flow, so that one that never started, or died on the way, is not taken for a slow one."""

from __future__ import annotations

from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SILENT_S = 5.0  # a flow that waits for so long for what was sent, when its time is over, has fallen silent


class Outcome(Enum):
    RAN = "ran"  # until its time was over
    FINISHED = "finished"  # all that it was to bring is there
    NOT_DUE = "not due"  # it was to start when all was over
    NEVER_STARTED = "never started"  # nothing ever arrived
    SILENT = "fell silent"  # something did, and then nothing more: dead, or starved
    DIED = "died"  # something did, and then it failed


def judge(started: bool, report: Mapping[str, Any]) -> tuple[Outcome, str | None]:
    """The outcome of a flow, and why if it is a bad one.

    Of its report counts `finished_s`; `delivered_bytes`; `error`, what the system said (None: nothing); `last_s`, when
    the last of it arrived, and `waiting_s`, for how long what was sent then has not (None: nothing is missing).
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
