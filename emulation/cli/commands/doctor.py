# SPDX-License-Identifier: BSD-3-Clause
"""`doctor`: show what is installed, what is missing, and how to fix it."""

import sys

import click

from emulation.cli.command import Command, as_json
from emulation.setup import doctor


def commands() -> list[str]:
    """Return the names of all commands, as features can be removed."""
    root = click.get_current_context().find_root()
    return root.command.list_commands(root) if isinstance(root.command, click.Group) else []


GROUP = "Administer"
COMMAND = Command(
    "doctor", ["doctor", "doctor --json"], params=[as_json("the findings as JSON")],
    callback=lambda as_json: sys.exit(doctor.main(as_json, commands())),
    help="Show what is installed, what is missing, and how to fix it.",
)  # fmt: skip
