# SPDX-License-Identifier: BSD-3-Clause
"""A study, from its tasks to its report: the one way of all that is run. A topology is a study of one case, and so are
the runs that a script made (`told`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.results.names import REPORT
from emulation.play.drawing import Artist, artist
from emulation.play.lab import Lab
from emulation.play.run import Outcome, Task
from emulation.play.session import finish, play_with_progress
from emulation.specification import Specification

if TYPE_CHECKING:
    from analysis.pages.report import Report
    from analysis.results.result import Result
    from experiments import Study


@dataclass(frozen=True)
class Asked:
    """What is asked for besides the runs: what the user `gave` of options, the command line, where runs are kept, and
    what figures are drawn as."""

    gave: Mapping[str, Any]
    command: str
    folder: Path
    formats: Sequence[str]

    def drawing(self) -> AbstractContextManager[Artist | None]:
        """Who draws, if there are to be figures; the end of the block waits for them."""
        return artist() if self.formats else nullcontext()


@contextmanager
def played(
    lab: Lab, study: Study | str, base: Specification, tasks: Sequence[Task], asked: Asked,
    jobs: int | None = None, resume: bool = False, around: AbstractContextManager[None] | None = None,
) -> Iterator[tuple[Report, list[Outcome], float]]:  # fmt: skip
    """Play the runs of a study, or of one network under this title, in a block `around` that, and leave result.json;
    then look at the report, the outcomes, and the wall time of playing, while figures are drawn. Raises Misuse,
    Failure, OSError."""
    began = time.monotonic()
    with asked.drawing() as pen:
        with around or nullcontext():
            outcomes = play_with_progress(lab, tasks, asked.folder, jobs, resume, load)
        wall_s = time.monotonic() - began
        with suppress(OSError):  # a sweep would find them there, but nothing hangs on it
            remember(outcomes)
        of = study_of(study)
        result = finish(of.name, base, tasks, [outcome.run for outcome in outcomes], lab, asked.folder)
        with told(of, result, outcomes, asked, pen) as report:
            yield report, outcomes, wall_s


@contextmanager
def told(
    study: Study | str, result: Result, outcomes: Sequence[Outcome], asked: Asked, pen: Artist | None
) -> Iterator[Report]:  # fmt: skip
    """Look at the report of runs that are over, while their figures are drawn; it is left in their folder."""
    from analysis.tables.table import conditions
    from emulation.play.reporting import draw, report_of, said_of

    of = study_of(study)
    said = conditions(result.runs, said_of(of.options, asked.gave))
    report = report_of(of, result, outcomes, asked.folder, asked.command, said)
    if pen:
        draw(pen, report, asked.folder, asked.formats)
    yield report
    report.write(asked.folder / REPORT)


def study_of(study: Study | str) -> Study:
    """The study; of a title, that of one network, which is loaded when lanes run."""
    import experiments

    return experiments.plain(study) if isinstance(study, str) else study


def load() -> None:
    """Load what shows runs, and hash what read them: meanwhile, as they run."""
    from rich import console, table  # noqa: F401

    from analysis.tables import flow_tables  # noqa: F401
    from emulation.play import reporting, store  # noqa: F401

    store.readers()


def remember(outcomes: Sequence[Outcome]) -> None:
    """Keep what was found for sweeps and claims. Raises OSError."""
    from emulation.play.store import Store

    store = Store()
    for outcome in outcomes:
        store.put(outcome.run)
