# SPDX-License-Identifier: BSD-3-Clause
"""`module new NAME`: start a kernel module from a template."""

from __future__ import annotations

from pathlib import Path

import click

from emulation.cli.command import Command
from emulation.features.check import new


@click.command("new", cls=Command, examples=["module new mine", "module new mine --kind qdisc"])
@click.argument("name")
@click.option("--kind", type=click.Choice(list(new.PREFIX)), default="congestion", show_default=True)
def new_module(name: str, kind: str) -> None:
    """Start a module: a folder NAME with a commented C file and its Kbuild."""
    file = new.make(name, kind, Path())
    click.echo(f"{file}: edit it where it says CHANGE. Then:\n    ./dcflab module check {file.parent}")


COMMAND = new_module
