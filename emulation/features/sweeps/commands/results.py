# SPDX-License-Identifier: BSD-3-Clause
"""`results`: show how large the result store is, or make it smaller."""

from pathlib import Path

import click

from emulation.cli.command import Command
from emulation.features.sweeps.playing import store_option
from emulation.play.store import Store

MB = 1 << 20


def callback(store: Path | None, prune: float | None) -> None:
    """Show how many results of sweeps and claims are stored, and where, or remove old ones."""
    results = Store(store)
    if prune is not None:
        click.echo(f"{results.prune(int(prune * MB))} results are removed")
    count, size = results.size()
    click.echo(f"{count} results, {size / MB:.1f} MB: {results.folder}")


GROUP = "Administer"
COMMAND = Command(
    "results", ["results", "results --prune 100"],
    params=[
        click.Option(["--prune"], type=click.FloatRange(0), metavar="MB",
                     help="remove the least recently used results until this many megabytes remain"),
        store_option(),
    ],
    callback=callback, help=callback.__doc__,
)  # fmt: skip
