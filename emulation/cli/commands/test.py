# SPDX-License-Identifier: BSD-3-Clause
"""`test`: run the tests. It sets up what they need, and starts pytest."""

import click

from emulation.cli.command import Command, Option, exec_program
from emulation.lane.errors import Failure
from emulation.lanes import CHECKOUT
from emulation.setup import Group

# One process per CPU; an idle one takes over tests that another has not begun. The slowest tests are listed at the end.
SIDE_BY_SIDE = ("--numprocesses", "auto", "--dist", "worksteal", "--durations", "20")


MAIN = "main"


def callback(arguments: tuple[str, ...], quick: bool, changed: str | None) -> None:
    """Run all tests, side by side on all CPUs; or those of ARGUMENTS, which go to pytest."""
    from emulation.play.session import provide

    if not (CHECKOUT / "tests").is_dir():
        raise Failure("the tests are missing: packages do not contain them; run this in a checkout")
    provide(Group.TEST)
    chosen = (*(["--quick"] if quick else []), *([f"--changed={changed}"] if changed else []))
    exec_program("pytest", *chosen, *(arguments or SIDE_BY_SIDE))


QUICK = Option(["--quick"], is_flag=True, help="The quick tests and one lane of each kind: an answer in two minutes.")
CHANGED = Option(
    ["--changed"], is_flag=False, flag_value=MAIN, metavar="[BASE]",
    help=f"Only tests that changes since BASE, a branch or a commit, can affect [default: {MAIN}].",
)  # fmt: skip
GROUP = "Administer"
COMMAND = Command(
    "test", ["test", "test --quick", "test --changed", "test tests/core -k eifs -x"],
    params=[QUICK, CHANGED, click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)], callback=callback,
    help=callback.__doc__, context_settings={"ignore_unknown_options": True},
)  # fmt: skip
