# SPDX-License-Identifier: BSD-3-Clause
"""`film RUN`: make a film of a run for the browser, or a picture of one moment."""

from pathlib import Path

import click

from emulation.cli.command import Command, trust
from emulation.cli.commands.view import only_run
from emulation.lane.errors import Misuse


def callback(run_folder: Path, out: Path | None, at_s: float | None, ranges: bool | None, trust: bool) -> None:
    """Make a film of a run: one file that any browser plays, with stations, links, paths, frames and collisions. With
    --at, make a picture of that moment, for print."""
    from emulation.features.film import runs as film
    from emulation.features.film.of_runs import PAGE
    from emulation.features.film.page import page
    from emulation.play.trust import trust_for_ranges
    from emulation.play.view import link

    run = only_run(run_folder)
    trusted = trust_for_ranges(run.parent, trust)
    if at_s is None:
        if ranges is not None:
            raise Misuse("--ranges and --no-ranges are for a picture, with --at; in a film, r shows and hides them")
        made = film.of_run(run, trusted)
        if out:
            out.write_text(page(made))
        else:
            out = run / PAGE
            film.write(made, out)
            link(run)
    else:
        out = out or run / f"film-{at_s:g}.svg"
        film.write_still(film.of_run(run, trusted), at_s, out, ranges)
    click.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB")


EXAMPLES = [
    "film runs/mobile-…",
    "film runs/rts-cts-…/full-1 --out full.html",
    "film runs/mobile-… --at 42.5 --out figure.pdf",
]
PARAMS = [
    click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path)),
    click.Option(["--out"], type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
                 help="FILE.html; with --at, FILE.svg, FILE.pdf or FILE.png  [default: in the run's folder]"),
    click.Option(["--at", "at_s"], type=float, metavar="SECONDS",
                 help="make a picture of this moment, in seconds, instead of a film"),
    click.Option(["--ranges/--no-ranges"], default=None,
                 help="draw the ranges of the stations  [default: if there are few stations]"),
    trust(),
]  # fmt: skip
GROUP = "Look"
COMMAND = Command("film", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
