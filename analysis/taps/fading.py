# SPDX-License-Identifier: BSD-3-Clause
"""Block fading, computed a second time: the factor of each signal's power against its mean, at each receiver.

No frame shows it, and none has to. For transmission n from a at b, the air takes the n-th number of a stream
(splitmix64) that depends on the seed, a and b. With a coherence time, n is the number of the time span in which the
transmission begins, and the stream is that of both directions. With this number, the air looks up the factor in a table
of the plan (docs/medium.md). So plan and trace, where each packet has its number, give each power exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.traces.trace import Array

GOLDEN = 0x9E3779B97F4A7C15
ONE, TWICE = np.uint64(GOLDEN), np.uint64(2 * GOLDEN % 2**64)
STRONGEST_AW = 1e19  # DCF_MAX_POWER_AW: greater powers are set to it


@dataclass(frozen=True)
class Fading:
    """`quantiles` of the factor, evenly spaced over 0..1, linear in between. `coherence_ns`: how long a pair of
    stations keeps a factor; 0: for one signal."""

    quantiles: Array
    seed: int
    coherence_ns: int = 0

    @classmethod
    def of_plan(cls, air: Mapping[str, Any]) -> "Fading | None":
        """Read the plan's `air` (docs/interfaces.md, section 1). Return None without fading."""
        fading = air.get("fading")
        if not fading:
            return None
        return cls(np.array(fading["gain_q32"]) / 2.0**32, air["seed"], fading.get("coherence_ns", 0))

    def faded(self, power_aw: Array, sender: Array, receiver: Array, when: Array, number: Array) -> Array:
        """Return the power (whole aW) at which these transmissions arrive, given their mean powers."""
        fades = self.quantiles.size - 1
        numbers = np.broadcast_arrays(*np.atleast_1d(sender, receiver, when, number))
        drawn = self._drawn(*(each.astype(np.uint64) for each in numbers))  # arrays wrap around; scalars warn
        place, part = drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)
        at = (place * np.uint64(fades) >> np.uint64(32)).astype(np.int64)
        inside = (place * np.uint64(fades) & np.uint64(0xFFFFFFFF)) + (part * np.uint64(fades) >> np.uint64(32))
        below, above = self.quantiles[at], self.quantiles[at + 1]
        gain = below + (above - below) * (inside / 2.0**32)
        return np.minimum(np.floor(power_aw * gain), STRONGEST_AW)

    def _drawn(self, sender: Array, receiver: Array, when: Array, number: Array) -> Array:
        """Return 64 uniform bits for each transmission."""
        one, half, span = np.uint64(1), np.uint64(32), np.uint64(self.coherence_ns)
        if span:
            sender, receiver = np.minimum(sender, receiver), np.maximum(sender, receiver)
        pair = np.uint64(self.seed) ^ (sender + one) << np.uint64(48) ^ (receiver + one) << half
        if span:
            number = (when + ((_mixed(pair + ONE) >> half) * span >> half)) // span
        state = _mixed(pair + TWICE)  # the stream begins at its second number
        return _mixed(state + (number + one) * ONE)


def _mixed(z: Array) -> Array:
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ z >> np.uint64(31))
