# SPDX-License-Identifier: BSD-3-Clause
"""`python`: start Python with dcflab and its packages."""

import os
import sys

import click

from emulation.cli.command import Command


def callback(arguments: tuple[str, ...]) -> None:
    """Start the Python that has dcflab and its packages; ARGUMENTS are Python's.

    `from analysis.load import load; load("RUN")` has all that a run left.
    """
    from emulation.setup import require_all_packages

    require_all_packages()
    os.execv(sys.executable, [sys.executable, *arguments])


GROUP = "Look"
COMMAND = Command(
    "python", ["python", 'python -c "from analysis.load import load; print(load(\'RUN\').runs[0].result.col)"'],
    params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)], callback=callback,
    help=callback.__doc__, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)  # fmt: skip
