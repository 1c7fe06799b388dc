# SPDX-License-Identifier: BSD-3-Clause
"""When something is due, and how large it is: pure, from a stream of random numbers.

Each flow has a stream of its own, of the run's seed and its name: what it offers hangs on neither its TCP nor the other
flows. Times are whole nanoseconds.
"""

from __future__ import annotations

import math
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

ARRIVALS = ("constant", "poisson", "onoff")
SIZES = ("fixed", "exponential", "lognormal", "pareto")
SECOND = 1e9  # ns


def stream(seed: int, name: str) -> Random:
    """The random numbers of a flow."""
    from random import Random  # which takes a while to load

    return Random(f"{seed} {name}")


def due(arrivals: str, interval_s: float, on_s: float, off_s: float, random: Random) -> Iterator[int]:
    """When each is due, in ns since the start, for ever.

    constant: one every interval, the first at once. poisson: intervals are exponential, of this mean. onoff: constant
    while it is on, and nothing while it is off, both for exponential times of these means; first it is on.
    """
    if arrivals == "constant":
        yield from (round(number * interval_s * SECOND) for number in count())
    at = 0
    while arrivals == "poisson":
        at += exponential(interval_s, random)
        yield at
    while True:
        end = at + exponential(on_s, random)
        for number in count():
            if (now := at + round(number * interval_s * SECOND)) >= end:
                break
            yield now
        at = end + exponential(off_s, random)


def exponential(mean_s: float, random: Random) -> int:
    """An exponential time of this mean, in ns."""
    return round(random.expovariate(1 / mean_s) * SECOND) if mean_s else 0


def size(sizes: str, mean: float, shape: float, most: int, random: Random) -> int:
    """A size in bytes, from 1 to `most`: `fixed`; `exponential`; `lognormal`, of which `shape` is sigma; `pareto`, of
    which it is alpha, above 1. `mean` is that of all sizes, before the largest are cut off."""
    if sizes == "exponential":
        drawn = random.expovariate(1 / mean)
    elif sizes == "lognormal":
        drawn = random.lognormvariate(math.log(mean) - shape**2 / 2, shape)
    elif sizes == "pareto":
        drawn = random.paretovariate(shape) * mean * (shape - 1) / shape
    else:
        drawn = mean
    return max(1, min(round(drawn), most))
