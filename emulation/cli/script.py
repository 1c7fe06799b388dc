# SPDX-License-Identifier: BSD-3-Clause
"""`run SCRIPT.py ARGUMENTS`: the script runs inside a lane, as root of its kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from emulation.cli.command import Command, lane, out, seeds
from emulation.lanes import Lane, Listener
from emulation.play.errors import Misuse
from emulation.play.session import failures, new_folder, provide


def command(path: str) -> click.Command:
    """The command of a script."""

    def callback(seeds: list[int], out: Path | None, lane: Lane, arguments: tuple[str, ...]) -> None:
        if not Path(path).is_file():
            raise Misuse(f"there is no script {path}")
        folder, lab = new_folder(out, Path(path).stem), provide(lane=lane)
        with failures():
            status = lane.run(
                lab.kernel, lab.modules, folder, ["script", str(Path(path).resolve()), *arguments], seed=seeds[0],
                listener=Listener(line=click.echo),
            ).status  # fmt: skip
        sys.exit(status)

    params = [seeds(), out(), lane(), click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)]
    return Command(path, params=params, callback=callback, help="Run a script of your own inside a lane.")
