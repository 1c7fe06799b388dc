# SPDX-License-Identifier: BSD-3-Clause
"""`replay RUN`: run a run folder again, and compare the results."""

import json
import sys
from pathlib import Path

import click

from emulation.cli.command import Command, as_json, lane, trust
from emulation.lanes import Lane


def callback(run_folder: Path, as_json: bool, lane: Lane | None, trust: bool) -> None:
    """Run a run folder again, and compare the results byte for byte."""
    from emulation.play.replay import replay

    verdict = replay(run_folder, lane, trust)
    identical, differences, changed = not verdict.differences, list(verdict.differences), list(verdict.changed)
    if as_json:
        click.echo(json.dumps({"identical": identical, "differences": differences, "changed": changed}))
    else:
        inputs = f"made of other things now: {', '.join(changed)}" if changed else "made of the same things"
        if identical:
            click.echo("identical" + (f", although {inputs}" if changed else ""))
        else:
            click.echo("\n  ".join([f"different, {inputs}", *differences]))
    sys.exit(0 if identical else 1)


FOLDER = click.Argument(["run_folder"], type=click.Path(exists=True, file_okay=False, path_type=Path))
GROUP = "Run"
COMMAND = Command("replay", ["replay runs/string-…"], callback=callback, help=callback.__doc__,
                  params=[FOLDER, as_json("the verdict as JSON"), *lane(None), trust()])  # fmt: skip
