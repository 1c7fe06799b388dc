# SPDX-License-Identifier: BSD-3-Clause
"""`view RUN`: a run in the browser: the air on its timeline."""

from __future__ import annotations

import json
import os
import shutil
import webbrowser
from pathlib import Path

import click

from emulation.cli.command import Command, as_json
from emulation.play.errors import Misuse


def callback(run_folder: Path, out: Path | None, opens: bool, as_json: bool, perfetto: Path | None) -> None:
    """Look at a run: the air on a timeline, with all frames, collisions and who caused them, queues, backoff, and what
    TCP did meanwhile; one file, which any browser shows. It is made if it is not there."""
    from emulation.play import film, view

    found = film.runs_of(run_folder)
    if len(found) > 1:
        raise Misuse(f"{run_folder} has {len(found)} runs; name one: {', '.join(str(path) for path in found[:9])}")
    [where] = found
    if perfetto:
        view.write_perfetto(view.timeline_of(where), perfetto)
        made = perfetto
    else:
        made = out or where / view.TIMELINE
        if out or not made.exists() or made.stat().st_mtime < (where / "lane.json").stat().st_mtime:
            view.write_timeline(view.timeline_of(where), made)
    shown = opens and not perfetto and not as_json and show(made)
    if as_json:
        click.echo(json.dumps({"file": str(made), "bytes": made.stat().st_size}))
    else:
        how = "" if shown else "; open it at ui.perfetto.dev" if perfetto else "; open it in a browser" * opens
        click.echo(f"{made}: {made.stat().st_size / 1e6:.1f} MB{how}")


def show(file: Path) -> bool:
    """Have the desktop's browser open it. False: there is no display, or no browser."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or shutil.which("wslview")):
        return False
    try:
        return webbrowser.open(file.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False


EXAMPLES = [
    "view runs/rts-cts-…/full-1",
    "view runs/string-… --no-open",
    "view runs/rts-cts-…/full-1 --perfetto full.json.gz",
]
PARAMS = [
    click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path)),
    click.Option(["--out"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="FILE.html  [default: in the run's folder]"),
    click.Option(["--open/--no-open", "opens"], default=True, help="open it in the browser  [default: --open]"),
    click.Option(["--perfetto"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="FILE.json or FILE.json.gz instead, for ui.perfetto.dev"),
    as_json("where it is, and how large, as JSON"),
]  # fmt: skip
COMMAND = Command("view", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
