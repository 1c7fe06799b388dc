# SPDX-License-Identifier: BSD-3-Clause
"""`mediumd`: replace wmediumd for the hwsim radios of this kernel. It has wmediumd's command line
(`emulation.features.wmediumd.daemon`)."""

import sys
from typing import NoReturn

import click

from emulation.cli.command import Command
from emulation.features.wmediumd.daemon import main


def run(words: tuple[str, ...]) -> NoReturn:
    sys.exit(main(words))


GROUP = "Bring your own"
COMMAND = Command(
    "mediumd",
    ["mediumd -c lab.cfg", "mediumd -c lab.cfg -s"],
    params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
    callback=run,
    help="Replace wmediumd for the hwsim radios of this kernel; mediumd -h lists its options.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
