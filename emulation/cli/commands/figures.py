# SPDX-License-Identifier: BSD-3-Clause
"""`figures RUN`: write the figures of a report as files, for print. Its page draws them itself."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from emulation.cli.command import FORMATS, Command, another_place, as_json, formats, size
from emulation.lane.errors import Misuse


def callback(run_folder: Path, formats: Sequence[str], out: Path | None, as_json: bool) -> None:
    """Write the figures of a run folder's report as files: goodput and collisions, segments in flight, TCP state, flows
    and routes over time. For a study with several cases, draw each quantity over the cases."""
    from analysis.results.names import RESULT

    folder = out or run_folder
    if not (run_folder / RESULT).is_file():
        hint = f"; that of {run_folder.parent} is meant?" if (run_folder.parent / RESULT).is_file() else ""
        raise Misuse(f"{run_folder}: figures need a whole run folder, with a {RESULT}{hint}")
    if folder.exists() and not folder.is_dir():
        raise Misuse(f"--out: {folder} is not a folder")
    with another_place():
        found = draw_all(run_folder, folder, formats or FORMATS[:1])
    if as_json:
        click.echo(json.dumps([{"file": str(file), "bytes": file.stat().st_size} for file in found], indent=1))
        return
    for file in found:
        click.echo(f"{file}: {size(file.stat().st_size)}")


def draw_all(run_folder: Path, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Draw all figures or none, and return their files. Raises Misuse, Failure, Damaged or OSError."""
    from emulation.files.foreign import reading
    from emulation.files.whole import at_once
    from emulation.play.drawing import artist, preload
    from emulation.play.reporting import draw, report_again

    with preload():
        report = report_again(run_folder)
        with at_once(folder) as partial_folder:
            with reading(run_folder), artist() as artist_:
                draw(artist_, report, partial_folder, formats)
            names = sorted(file.name for file in partial_folder.iterdir())
    return [folder / name for name in names]


EXAMPLES = ["figures runs/rts-cts-…", "figures runs/rts-cts-… --figure-format pdf --figure-format svg --out figures"]
PARAMS = [
    click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path)),
    formats(),
    click.Option(["--out"], type=click.Path(path_type=Path), metavar="DIR", help="where  [default: in the run folder]"),
    as_json("which files there are, with their bytes, as JSON"),
]
GROUP = "Look"
COMMAND = Command("figures", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
