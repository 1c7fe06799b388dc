# SPDX-License-Identifier: BSD-3-Clause
"""`mediumd`: decide over the hwsim radios of this kernel, as wmediumd does. It has wmediumd's command line
(`emulation.features.wmediumd.daemon`)."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from emulation.features.wmediumd.daemon import main


def run(words: tuple[str, ...]) -> NoReturn:
    sys.exit(main(words))


COMMAND = click.Command(
    "mediumd",
    params=[click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)],
    callback=run,
    help="Decide over the hwsim radios of this kernel, as wmediumd does; mediumd -h says how.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
