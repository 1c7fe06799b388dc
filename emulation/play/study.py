# SPDX-License-Identifier: BSD-3-Clause
"""A study from its tasks to its report; all runs take this way. A topology is a study with one case, and so are the
runs of a script (`told`)."""

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
from emulation.play.session import play_with_progress, write_result
from emulation.specification import Specification

if TYPE_CHECKING:
    from analysis.pages.report import Report
    from analysis.results.result import Result
    from experiments import Study


@dataclass(frozen=True)
class Request:
    """A request for runs: the user's options, the command line, the run folder, and the formats of figures."""

    options: Mapping[str, Any]
    command: str
    folder: Path
    formats: Sequence[str]

    def drawing(self) -> AbstractContextManager[Artist | None]:
        """Return the artist if there are figures to draw; the end of its block waits for them."""
        return artist() if self.formats else nullcontext()


@contextmanager
def play_study(
    lab: Lab, study: Study | str, base: Specification, tasks: Sequence[Task], request: Request,
    jobs: int | None = None, resume: bool = False, around: AbstractContextManager[None] | None = None,
) -> Iterator[tuple[Report, list[Outcome], float]]:  # fmt: skip
    """Play the runs of a study, or of one network with this title, in the context `around`, and write result.json.
    Yield the report, the outcomes and the wall time of playing, while figures are drawn. Raises Misuse, Failure or
    OSError."""
    began = time.monotonic()
    with request.drawing() as pen:
        with around or nullcontext():
            outcomes = play_with_progress(lab, tasks, request.folder, jobs, resume, load)
        wall_s = time.monotonic() - began
        with suppress(OSError):  # a sweep would reuse them, but nothing depends on it
            remember(outcomes)
        of = study_of(study)
        result = write_result(of.name, base, tasks, [outcome.run for outcome in outcomes], lab, request.folder)
        with open_report(of, result, outcomes, request, pen) as report:
            yield report, outcomes, wall_s


@contextmanager
def open_report(
    study: Study | str, result: Result, outcomes: Sequence[Outcome], request: Request, pen: Artist | None
) -> Iterator[Report]:  # fmt: skip
    """Yield the report of finished runs while their figures are drawn; then write it to their folder."""
    from analysis.tables.table import conditions
    from emulation.play.reporting import draw, report_of, stated_options

    of = study_of(study)
    said = conditions(result.runs, stated_options(of.options, request.options))
    report = report_of(of, result, outcomes, request.folder, request.command, said)
    if pen:
        draw(pen, report, request.folder, request.formats)
    yield report
    report.write(request.folder / REPORT)


def study_of(study: Study | str) -> Study:
    """Return the study; a title gives that of one network, which is loaded while lanes run."""
    import experiments

    return experiments.plain(study) if isinstance(study, str) else study


def load() -> None:
    """While lanes run, load what shows results, and hash what reads them."""
    from rich import console, table  # noqa: F401

    from analysis.tables import flow_tables  # noqa: F401
    from emulation.play import reporting, store  # noqa: F401

    store.readers_hash()


def remember(outcomes: Sequence[Outcome]) -> None:
    """Keep results for later sweeps and claims. Raises OSError if the store cannot be written."""
    from emulation.play.store import Store

    store = Store()
    for outcome in outcomes:
        store.put(outcome.run)
