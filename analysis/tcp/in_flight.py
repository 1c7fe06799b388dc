# SPDX-License-Identifier: BSD-3-Clause
"""TCP segments in flight: the number of DATA and ACK segments on the path over time, from `tcp.journeys`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.traces.trace import Array

if TYPE_CHECKING:
    from analysis.results.summaries import InFlight

BINS = 1 << 17


@dataclass(frozen=True)
class Series:
    """A count over time: `count[i]` holds from `time_s[i]`, in seconds since the start, until the next event."""

    time_s: Array
    count: Array
    air_s: float

    @classmethod
    def of(cls, enter_ns: Array, leave_ns: Array, start_ns: int, stop_ns: int) -> "Series":
        """Count segments from their times of entering and leaving; NEVER: still there at the stop. With more than BINS
        segments, times are rounded to 1 / BINS of the duration."""
        gone = leave_ns[leave_ns < stop_ns]
        if enter_ns.size > BINS:
            edge = np.linspace(start_ns, stop_ns, BINS + 1)
            came, left = (
                np.bincount(np.rint((time - start_ns).clip(min=0) * (BINS / (stop_ns - start_ns))).astype(np.int64),
                            minlength=BINS + 1)
                for time in (enter_ns, gone)
            )  # fmt: skip
            return cls((edge - start_ns) / 1e9, np.cumsum(came - left), (stop_ns - start_ns) / 1e9)
        time = np.concatenate([enter_ns.clip(min=start_ns), gone])
        step = np.concatenate([np.ones(enter_ns.size, np.int64), np.full(gone.size, -1)])
        order = np.argsort(time, kind="stable")
        return cls((time[order] - start_ns) / 1e9, np.cumsum(step[order]), (stop_ns - start_ns) / 1e9)

    @property
    def mean(self) -> float:
        """The mean over the air time, weighted by how long each count held."""
        held = np.diff(np.append(self.time_s, self.air_s))
        return float((self.count * held).sum() / self.air_s) if self.air_s else 0.0

    def average(self, at_s: Array, window_s: float) -> Array:
        """Return the moving average over the window around each of `at_s`, as far as it lies within the air time."""
        edges = np.concatenate([[0.0], self.time_s, [self.air_s]])
        area = np.append(0.0, np.cumsum(np.append(0, self.count) * np.diff(edges)))  # below the steps, up to each edge
        low, high = (at_s - window_s / 2).clip(min=0), (at_s + window_s / 2).clip(max=self.air_s)
        mean: Array = (np.interp(high, edges, area) - np.interp(low, edges, area)) / (high - low)
        return mean


@dataclass(frozen=True)
class Flight:
    """Segments in flight: DATA, ACK, and both."""

    data: Series
    ack: Series
    total: Series

    def means(self) -> "InFlight":
        from analysis.results.summaries import InFlight  # imported late: drawing does not need it

        return InFlight(data=self.data.mean, ack=self.ack.mean, total=self.total.mean)
