# SPDX-License-Identifier: BSD-3-Clause
"""`test`: run the tests. It sets up what they need, and hands over to pytest."""

from __future__ import annotations

import click

from emulation.cli.command import Command, become
from emulation.lanes import CHECKOUT
from emulation.play.errors import Failure
from emulation.setup import Group

# A process a CPU; the one that is done takes over what another has not begun.
SIDE_BY_SIDE = ("--numprocesses", "auto", "--dist", "worksteal")


def callback(arguments: tuple[str, ...]) -> None:
    """Run all tests, side by side on all CPUs; or those of ARGUMENTS, which go to pytest."""
    from emulation.play.session import provide

    if not (CHECKOUT / "tests").is_dir():
        raise Failure("the tests are not here: packages leave them out; this takes a checkout")
    provide(Group.TEST)
    become("pytest", *(arguments or SIDE_BY_SIDE))


COMMAND = Command(
    "test", ["test", "test tests/core -k eifs -x"],
    params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)], callback=callback,
    help=callback.__doc__, context_settings={"ignore_unknown_options": True},
)  # fmt: skip
