# SPDX-License-Identifier: BSD-3-Clause
"""`replay RUN`: the same again, and whether it came out the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from emulation.cli.command import Command, as_json, lane
from emulation.lanes import Lane
from emulation.play.replay import replay


def callback(run_folder: Path, as_json: bool, lane: Lane | None) -> None:
    """Run a run folder again and say whether it came out the same, byte for byte."""
    verdict = replay(run_folder, lane)
    identical, differences, changed = not verdict.differences, list(verdict.differences), list(verdict.changed)
    if as_json:
        click.echo(json.dumps({"identical": identical, "differences": differences, "changed": changed}))
    else:
        click.echo("identical" if identical else "different:\n" + "\n".join(f"  {one}" for one in differences))
        if changed:
            click.echo(f"{'although' if identical else 'as'} it is made of other things now: {', '.join(changed)}")
        elif not identical:
            click.echo("although it is made of the same things")
    sys.exit(0 if identical else 1)


FOLDER = click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path))
COMMAND = Command("replay", params=[FOLDER, as_json("the verdict as JSON"), lane(None)], callback=callback,
                  help=callback.__doc__)  # fmt: skip
