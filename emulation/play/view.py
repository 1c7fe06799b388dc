# SPDX-License-Identifier: BSD-3-Clause
"""Views of runs, made from their folders: the air on a timeline (`analysis.pages.timeline`)."""

from contextlib import suppress
from pathlib import Path

from analysis.pages import timeline
from analysis.pages.timeline import Timeline, perfetto
from analysis.pages.timeline.page import page
from analysis.results import shapes
from analysis.results.names import REPORT
from emulation.files.foreign import Damaged
from emulation.lane.errors import Misuse
from emulation.play.traces import TRACE, tcp_flows

PERFETTO = (".json", ".json.gz")


def runs_of(folder: Path) -> list[Path]:
    """Return the runs in a run folder, or the folder itself if it is a run. Raises Misuse if there is none."""
    found = sorted(path.parent for path in [*folder.glob("lane.json"), *folder.glob("*/lane.json")])
    if not found:
        raise Misuse(f"{folder}: there is no run in it")
    return found


def timeline_of(where: Path) -> Timeline:
    """Return the timeline of the run in this folder. Raises Misuse without a trace, Damaged if malformed, OSError if
    unreadable."""
    plan, lane = shapes.read_both(where)
    if not (where / TRACE).is_file():
        raise Misuse(f"{where}: there is no {TRACE}, which a timeline needs; run it again without --no-trace")
    title = f"{plan['name']}, {where.name}" if plan["name"] not in where.name else where.name
    return timeline.read(title, where, plan, lane, tcp_flows(where, plan, lane))


def link(where: Path) -> None:
    """Have the report above this run link to what was made in the run's folder. A report that is missing, or that
    cannot be changed, stays as it is."""
    from analysis.pages import report
    from emulation.play.reporting import pages

    with suppress(OSError, Damaged):
        report.link(where.parent / REPORT, pages())


def write_timeline(made: Timeline, out: Path) -> None:
    """Write the timeline as a page for the browser. Raises OSError if it cannot be written."""
    out.write_text(page(made))


def write_perfetto(made: Timeline, out: Path) -> None:
    """Write the timeline for ui.perfetto.dev. Raises Misuse for another suffix, OSError if it cannot be written."""
    if not out.name.endswith(PERFETTO):
        raise Misuse(f"perfetto: {out} is not one of {', '.join('*' + suffix for suffix in PERFETTO)}")
    perfetto.write(made, out)
