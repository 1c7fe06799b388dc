# SPDX-License-Identifier: BSD-3-Clause
"""Motion: nodes move as the plan says, and the air learns who is heard how well from there.

The host has worked out the powers and delays of every place and time; here they only take effect, row by row.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.lane.network import Network
    from traffic.loop import Loop


class Motion:
    """The plan's `motion` (docs/interfaces.md, section 1) in a network."""

    def __init__(self, net: Network) -> None:
        self.net, self.steps = net, net.plan["motion"]

    def start(self, loop: Loop) -> None:
        """Move at each step's time, counted from now."""
        self.loop, self.began_ns = loop, time.monotonic_ns()
        self.wait(0)

    def wait(self, number: int) -> None:
        if number < len(self.steps):
            self.loop.at(self.began_ns + int(self.steps[number]["at_s"] * 1e9), lambda: self.move(number))

    def move(self, number: int) -> None:
        """Take a step, and wait for the next. Raises NetlinkError where the air refuses."""
        step = self.steps[number]
        for name, position in step["positions"].items():
            self.net.nodes[name].moved(tuple(position))
        if self.net.air:
            self.net.air.set_powers(rows(step["power_mdbm"]), rows(step["delay_ns"]))
        self.wait(number + 1)


def rows(changed: dict[str, list[Any]]) -> dict[int, list[Any]]:
    """Rows of a matrix by their index, which JSON cannot have as a key."""
    return {int(index): row for index, row in changed.items()}
