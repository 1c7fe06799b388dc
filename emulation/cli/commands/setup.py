# SPDX-License-Identifier: BSD-3-Clause
"""`setup`: install and build now what the first use would. Use it to prepare
a machine."""

import click

from emulation.cli.command import Command
from emulation.setup import Group, kernel, prepare, prepare_all_packages, prepare_stock, smp

CHOICES = [group.value for group in Group if group not in (Group.ENVIRONMENT, Group.BUILD)]


def callback(wanted: tuple[str, ...]) -> None:
    """Install and build everything that runs in the virtual lane need, and all Python packages. FOR adds more.

    As root it installs packages, and its build serves all users.
    """
    from emulation.play.processes import Child

    groups = {Group(value) for value in wanted}
    with Child(lambda _: prepare_all_packages()) as child:
        prepare(*groups)
        child.result()
        if Group.CHECK in groups:
            prepare(configuration=kernel.DEBUG)
        if Group.VM in groups:
            prepare_stock("")
        if Group.SMP in groups:
            smp.obtain()


GROUP = "Administer"
COMMAND = Command(
    "setup", ["setup", "setup vm prompt"],
    params=[click.Argument(["wanted"], nargs=-1, type=click.Choice(CHOICES), metavar="[FOR ...]")],
    callback=callback, help=f"{callback.__doc__}\n\nFOR: {', '.join(CHOICES)}",
)  # fmt: skip
