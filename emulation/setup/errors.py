# SPDX-License-Identifier: BSD-3-Clause
"""Errors of set-up, with their remedy; and progress messages."""

import sys
from collections.abc import Sequence

from emulation.lane.errors import Failure


class SetupError(Failure):
    """Set-up cannot continue. Its text says what is wrong and what to do, followed by a log if there is one."""

    code = "setup"

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"  | {line}" for line in log)]))


def say(message: str) -> None:
    """Print a message to the user on standard error. Standard output is for results."""
    print(f"dcflab: {message}", file=sys.stderr, flush=True)
