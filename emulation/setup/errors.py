# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong in set-up, said to the person who has to mend it; and news of what takes long."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from emulation.lane.errors import Failure


class SetupError(Failure):
    """Set-up cannot go on. Its text says what is wrong and what to do, then what a log tells if there is one."""

    code = "setup"

    def __init__(self, message: str, log: Sequence[str] = ()) -> None:
        super().__init__("\n".join([message, *(f"  | {line}" for line in log)]))


def say(message: str) -> None:
    """Tell the person at the terminal what is going on. Standard output belongs to results."""
    print(f"dcflab: {message}", file=sys.stderr, flush=True)
