# SPDX-License-Identifier: BSD-3-Clause
"""Block fading, read a second time: by how much each signal was stronger or weaker than its mean where it arrived.

No frame tells that, and none needs to: the air draws the factor of transmission number n from a at b as the n-th of a
stream (splitmix64) that hangs on the seed and on a and b, and looks it up in a table of the plan (docs/medium.md). So
whoever has the plan and the trace, where each packet has its number, knows each power exactly, and guesses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.traces.trace import Array

GOLDEN = 0x9E3779B97F4A7C15
ONE, TWICE = np.uint64(GOLDEN), np.uint64(2 * GOLDEN % 2**64)
STRONGEST_AW = 1e19  # DCF_MAX_POWER_AW: what would be more is that


@dataclass(frozen=True)
class Fading:
    """`quantiles` of the factor, evenly over 0..1, linear in between."""

    quantiles: Array
    seed: int

    @classmethod
    def of_plan(cls, air: Mapping[str, Any]) -> "Fading | None":
        """docs/interfaces.md, section 1, `air`; None: there is none."""
        fading = air.get("fading")
        return cls(np.array(fading["gain_q32"]) / 2.0**32, air["seed"]) if fading else None

    def faded(self, power_aw: Array, sender: Array, receiver: Array, number: Array) -> Array:
        """What arrives of these transmissions, whose means are given, in whole attowatts."""
        fades = self.quantiles.size - 1
        numbers = np.broadcast_arrays(*np.atleast_1d(sender, receiver, number))
        drawn = self._drawn(*(each.astype(np.uint64) for each in numbers))  # arrays wrap around, and scalars warn
        place, part = drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)
        at = (place * np.uint64(fades) >> np.uint64(32)).astype(np.int64)
        inside = (place * np.uint64(fades) & np.uint64(0xFFFFFFFF)) + (part * np.uint64(fades) >> np.uint64(32))
        below, above = self.quantiles[at], self.quantiles[at + 1]
        gain = below + (above - below) * (inside / 2.0**32)
        return np.minimum(np.floor(power_aw * gain), STRONGEST_AW)

    def _drawn(self, sender: Array, receiver: Array, number: Array) -> Array:
        """64 uniform bits for each."""
        one = np.uint64(1)
        pair = np.uint64(self.seed) ^ (sender + one) << np.uint64(48) ^ (receiver + one) << np.uint64(32)
        state = _mixed(pair + TWICE)  # the stream begins where the second number leads
        return _mixed(state + (number + one) * ONE)


def _mixed(z: Array) -> Array:
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ z >> np.uint64(31))
