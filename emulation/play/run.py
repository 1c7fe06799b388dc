# SPDX-License-Identifier: BSD-3-Clause
"""A run: a task, which asks for it; an outcome, which it gives; and its name in the run folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.results.names import subfolder
from emulation.plan import plan as make_plan
from emulation.specification import Specification

if TYPE_CHECKING:
    from analysis.results.result import Run
    from analysis.tcp.in_flight import Flight
    from emulation.play.traces import Routing

FINISHED = "run.json"


@dataclass(frozen=True)
class Task:
    """A specification to run, and its place in a study: a variant, and a case if there are several."""

    specification: Specification
    variant: str = ""
    case: str = ""

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The plan, made on first use. Raises Misuse if it cannot be made."""
        return make_plan(self.specification)

    def forget(self) -> None:
        """Drop the plan: those of thousands of tasks do not fit in memory."""
        self.__dict__.pop("plan", None)

    @property
    def seed(self) -> int:
        return self.specification.measurement.seed


@dataclass(frozen=True)
class Outcome:
    """One run, its segments in flight (None: no trace, or some are encrypted), and what figures show of its routing
    (None: no protocol, or to be read again)."""

    run: Run
    flight: Flight | None
    routing: Routing | None = None


def name_of(run: Task | Run) -> str:
    return subfolder(run.case, run.variant, run.seed)
