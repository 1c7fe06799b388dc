# SPDX-License-Identifier: BSD-3-Clause
"""`view RUN`: show a report, or the timeline of one run, in the browser."""

import json
import os
import shutil
import webbrowser
from pathlib import Path

import click

from emulation.cli.command import Command, another_place, as_json
from emulation.files.whole import at_once
from emulation.lane.errors import Misuse


def callback(
    run_folder: Path, what: str | None, out: Path | None, opens: bool, as_json: bool, perfetto: Path | None
) -> None:
    """Show the report of a run folder in the browser; or, of one run, RUNS/NAME, the timeline: all frames, collisions
    and their causes, queues, backoff and TCP state. Each is one HTML file, which is made if it does not exist."""
    if perfetto:
        from emulation.play import view

        view.write_perfetto(view.timeline_of(only_run(run_folder)), perfetto)
        made = perfetto
    elif what == "report" or (what is None and (run_folder / "result.json").is_file()):
        made = report(run_folder, out)
    else:
        made = timeline(only_run(run_folder), out)
    shown = opens and not perfetto and not as_json and open_in_browser(made)
    if as_json:
        click.echo(json.dumps({"file": str(made), "bytes": made.stat().st_size}))
    else:
        how = "" if shown else "; open it at ui.perfetto.dev" if perfetto else "; open it in a browser" * opens
        click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB{how}")


def only_run(folder: Path) -> Path:
    """Return the folder's only run, or the folder if it is one. Raises Misuse if there are several."""
    from emulation.play.view import runs_of

    found = runs_of(folder)
    if len(found) > 1:
        raise Misuse(f"{folder} has {len(found)} runs; name one: {', '.join(str(path) for path in found[:9])}")
    return found[0]


def report(folder: Path, out: Path | None) -> Path:
    """Return the file of the report, made if needed. Raises Misuse, Failure or OSError."""
    from analysis.pages.report import page
    from analysis.results.names import REPORT, RESULT
    from emulation.play.reporting import report_again

    if not (folder / RESULT).is_file():
        hint = f"; that of {folder.parent} is meant?" if (folder.parent / RESULT).is_file() else ""
        raise Misuse(f"{folder}: a report needs a whole run folder, with a {RESULT}{hint}")
    made = out or folder / REPORT
    if out:
        out.write_text(page(report_again(folder)))
    elif is_outdated(made, folder / RESULT):
        again = report_again(folder)
        with another_place(), at_once(folder) as partial_folder:
            again.write(partial_folder / REPORT)
    return made


def timeline(where: Path, out: Path | None) -> Path:
    """Return the file of the timeline, made if needed. Raises Misuse, Failure or OSError."""
    from analysis.results.names import TIMELINE
    from emulation.play import view

    made = out or where / TIMELINE
    if out:
        view.write_timeline(view.timeline_of(where), out)
    elif is_outdated(made, where / "lane.json"):
        content = view.timeline_of(where)
        with another_place(), at_once(where) as partial_folder:
            view.write_timeline(content, partial_folder / TIMELINE)
        view.link(where)
    return made


def is_outdated(made: Path, source: Path) -> bool:
    """Return whether a file must be made again."""
    return not made.exists() or made.stat().st_mtime < source.stat().st_mtime


def open_in_browser(file: Path) -> bool:
    """Open the file in the desktop's browser. Return False without a display or browser."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or shutil.which("wslview")):
        return False
    try:
        return webbrowser.open(file.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False


EXAMPLES = ["view runs/rts-cts-…", "view runs/rts-cts-…/full-1", "view runs/string-… --no-open",
            "view runs/rts-cts-…/full-1 --perfetto full.json.gz"]  # fmt: skip
PARAMS = [
    click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path)),
    click.Option(["--report", "what"], flag_value="report", help="show the report  [default: for a run folder]"),
    click.Option(["--timeline", "what"], flag_value="timeline", help="show the timeline  [default: for one run]"),
    click.Option(["--out"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="FILE.html  [default: in the folder]"),
    click.Option(["--open/--no-open", "opens"], default=True, help="open it in the browser  [default: --open]"),
    click.Option(["--perfetto"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="FILE.json or FILE.json.gz instead, for ui.perfetto.dev"),
    as_json("its path and size as JSON"),
]  # fmt: skip
GROUP = "Look"
COMMAND = Command("view", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
