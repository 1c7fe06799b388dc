# SPDX-License-Identifier: BSD-3-Clause
"""mediumd: a drop-in for wmediumd. Our air, or wmediumd's own model, decides over the hwsim radios of this kernel.

It has wmediumd's command line and control socket (`inside`), runs until a signal or a client ends it, and prints
`REGISTER SENT!` once the radios have their medium. See docs/mediumd.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulation.features.wmediumd.inside import program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from emulation.features.wmediumd.inside.arguments import Arguments, Say
    from emulation.features.wmediumd.inside.stations import Stations
    from emulation.lane.per_tables import Table
    from traffic.loop import Loop


def main(words: Sequence[str]) -> int:
    """Run the program. Return its exit status."""
    return program.main(words, play)


def play(
    loop: Loop, stations: Stations, table: Table | None, arguments: Arguments, say: Say
) -> AbstractContextManager[program.Medium]:
    """Return our air, which takes a while to import."""
    from emulation.features.wmediumd.daemon.air import Medium

    return Medium(loop, stations, table, arguments, say)
