# SPDX-License-Identifier: BSD-3-Clause
"""When things are due, and how large they are: pure functions of a random stream.

Each flow has its own stream, from the run's seed and the flow's name: what it offers depends neither on its TCP nor on
other flows. Times are whole nanoseconds.
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
    """Return the random stream of a flow."""
    from random import Random  # loading it takes time

    return Random(f"{seed} {name}")


def due(arrivals: str, interval_s: float, on_s: float, off_s: float, random: Random) -> Iterator[int]:
    """Yield the due times, in ns since the start, endlessly.

    constant: one per interval, the first at once. poisson: exponential intervals with this mean. onoff: constant while
    on, nothing while off, for exponential times with these means; it begins on.
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
    """Return an exponential time with this mean, in ns."""
    return round(random.expovariate(1 / mean_s) * SECOND) if mean_s else 0


def size(sizes: str, mean: float, shape: float, most: int, random: Random) -> int:
    """Return a size in bytes, from 1 to `most`: `fixed`; `exponential`; `lognormal`, where `shape` is sigma; `pareto`,
    where it is alpha, above 1. `mean` is that of all sizes, before the largest are cut to `most`."""
    if sizes == "exponential":
        drawn = random.expovariate(1 / mean)
    elif sizes == "lognormal":
        drawn = random.lognormvariate(math.log(mean) - shape**2 / 2, shape)
    elif sizes == "pareto":
        drawn = random.paretovariate(shape) * mean * (shape - 1) / shape
    else:
        drawn = mean
    return max(1, min(round(drawn), most))
