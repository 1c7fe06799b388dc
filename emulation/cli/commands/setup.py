# SPDX-License-Identifier: BSD-3-Clause
"""`setup`: install and build now what the first use would. Use it to prepare
a machine."""

import click

from emulation import features
from emulation.cli.command import Command
from emulation.setup import Group, prepare, prepare_all_packages, prepare_stock
from emulation.setup.packages import OfFeature

IN_TIME = (Group.ENVIRONMENT, Group.BUILD)  # asked for when something is built
OF_FEATURES = [group for part in features.parts("of_setup") for group in part.GROUPS]
GROUPS = {group.value: group for group in (*(group for group in Group if group not in IN_TIME), *OF_FEATURES)}


def callback(wanted: tuple[str, ...]) -> None:
    """Install and build everything that runs in the virtual lane need, and all Python packages. FOR adds more.

    As root it installs packages, and its build serves all users.
    """
    from emulation.play.processes import Child

    groups = [GROUPS[value] for value in dict.fromkeys(wanted)]
    with Child(lambda _: prepare_all_packages()) as child:
        prepare(*groups)
        child.result()
        if Group.VM in groups:
            prepare_stock("")
        for group in groups:
            if isinstance(group, OfFeature) and group.build:
                group.build()


GROUP = "Administer"
COMMAND = Command(
    "setup", ["setup", "setup vm prompt"],
    params=[click.Argument(["wanted"], nargs=-1, type=click.Choice(list(GROUPS)), metavar="[FOR ...]")],
    callback=callback, help=f"{callback.__doc__}\n\nFOR: {', '.join(GROUPS)}",
)  # fmt: skip
