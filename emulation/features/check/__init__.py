# SPDX-License-Identifier: BSD-3-Clause
"""The bench: find faults in a kernel module before anybody trusts it.

A check has stages (`Stage`); each returns a `Report`. What is wrong is a `Finding` with one of a few names (`Name`), on
which tables, exit status and tests rely. A remark that is no fault is a note. `emulation.features.check.inside` runs in
the lane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from emulation.features.check.inside import Name, Stage

__all__ = ["Finding", "Name", "Report", "Stage"]


@dataclass(frozen=True)
class Finding:
    """Something is wrong.

    `text` says what, in one line for people. `where` is the module's function that did it, as the kernel writes it
    (`sca_cong_avoid [tcp_sca]`), and `place` its file and line, if known. `console` has the kernel's whole report; the
    same `seed` reproduces it. It was found at `time_s` of the lane's clock, if known, or in the comparison's `run`.
    `pcapng` has what was on the air before.
    """

    stage: Stage
    name: Name
    text: str
    seed: int | None = None
    console: tuple[str, ...] = ()
    where: str = ""
    place: str = ""
    time_s: float | None = None
    run: str = ""
    pcapng: str = ""


@dataclass(frozen=True)
class Report:
    """What one stage found, in `seconds` of wall time; `data` is what it measured, as plain JSON."""

    stage: Stage
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)
