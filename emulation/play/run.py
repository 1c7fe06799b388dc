# SPDX-License-Identifier: BSD-3-Clause
"""A run: what is asked for, a task; what came of it, an outcome; and where it is kept."""

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
    """A specification to be run, and its place in a study: a variant, and a case if there are several."""

    specification: Specification
    variant: str = ""
    case: str = ""

    @cached_property
    def plan(self) -> dict[str, Any]:
        """What is played, worked out where it is first asked for. Raises Misuse."""
        return make_plan(self.specification)

    def forget(self) -> None:
        """Let go of the plan: of thousands of tasks there is not room for all."""
        self.__dict__.pop("plan", None)

    @property
    def seed(self) -> int:
        return self.specification.measurement.seed


@dataclass(frozen=True)
class Outcome:
    """One run, its segments in flight (None without a trace, or if some are encrypted), and what routing did, as far as
    figures show it (None without a protocol, or if it is to be read again)."""

    run: Run
    flight: Flight | None
    routing: Routing | None = None


def name_of(run: Task | Run) -> str:
    """A run's subfolder."""
    return subfolder(run.case, run.variant, run.seed)
