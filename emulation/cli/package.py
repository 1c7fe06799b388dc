# SPDX-License-Identifier: BSD-3-Clause
"""`package`: a Debian package for machines that shall not build or fetch anything (docs/installing.md)."""

from __future__ import annotations

from pathlib import Path

import click

from emulation.cli.command import Command


def callback(out: Path, checks: bool) -> None:
    """Build a Debian package of the program and of all that it needs, kernel and modules included."""
    from emulation.play.session import set_up
    from emulation.setup.package import package

    with set_up():
        built = package(out, checks)
    click.echo(f"{built}: {built.stat().st_size >> 20} MB; as root: apt-get install {built.absolute()}")


COMMAND = Command(
    "package", ["package", "package --checks --out /srv/lab"],
    params=[
        click.Option(["--out"], type=click.Path(path_type=Path, file_okay=False), default=Path("."), metavar="FOLDER",
                     help="where it is put  [default: here]"),
        click.Option(["--checks"], is_flag=True, help="with the kernel in which modules are checked"),
    ],
    callback=callback, help=callback.__doc__,
)  # fmt: skip
