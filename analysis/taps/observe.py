# SPDX-License-Identifier: BSD-3-Clause
"""Derive what happened from a capture: who sent each frame, the outcome of each arrival, the end of each exchange.

The sources are frames, FCS flags, times, and the facts in `Medium`. Two kinds of the air's comments are also used. The
time at which a frame was queued separates frames from before the start. If the stations' receptions were not recorded,
the comments give the outcome at the addressed receiver, and that at others is unknown. A frame that arrives below the
reception threshold is on no station's interface and is not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from analysis.taps import exchanges
from analysis.taps.attempts import Attempts, attempts
from analysis.taps.phy import Medium, at
from analysis.taps.receptions import Received, arrivals, remarked
from analysis.taps.transmissions import Sent, transmissions
from analysis.traces.capture import Capture
from analysis.traces.trace import Array, Kind, Outcome, Reason
from emulation.files.foreign import Damaged

NAMES = [kind.name.lower() for kind in Kind]


@dataclass(frozen=True)
class Observation:
    """Everything derived from a capture. `served_kind` is a column that belongs to `served`: each frame's Kind."""

    capture: Capture
    medium: Medium
    sent: Sent
    received: Received
    attempts: Attempts
    served: exchanges.Served
    served_kind: Array

    def counters(self) -> list[dict[str, Any]]:
        """Return the counters per station, as in lane.json, without those that cannot be observed."""
        sent, received, served, attempts = self.sent, self.received, self.served, self.attempts
        capture = self.capture
        stations = len(capture.interfaces) - 1
        known, mine = sent.station >= 0, received.addressed
        sender = (sent.station[known], sent.kind[known])
        arrival = (received.station, sent.kind[received.tx], received.outcome)
        over = attempts.counts[served.first] & (served.reason != exchanges.OPEN)
        frame = (served.station[over], self.served_kind[over], served.reason[over])
        failed = attempts.failed & attempts.counts
        retry = (attempts.station[failed], served.after_cts[failed].astype(int))

        once = np.where(sent.leads, sent.airtime, 0)[known]  # a PPDU's counts under the kind of its first MPDU
        tx, airtime = (_tally((stations, len(Kind)), sender, each) for each in (1, once))
        rx = _tally((stations, len(Kind), len(Outcome)), arrival)
        addressed = _tally((stations, len(Kind), len(Outcome)), tuple(column[mine] for column in arrival))
        end = _tally((stations, len(Kind), len(Reason)), frame)
        retries = _tally((stations, 2), retry)
        outcomes = (Outcome.OK, Outcome.COLLISION, Outcome.NOISE)
        limited = self.medium.short_limit is not None
        limits = (Reason.RTS_LIMIT, Reason.SHORT_LIMIT, Reason.LONG_LIMIT) if limited else ()
        everywhere = [{"rx": _by_name(rx[s], outcomes)} if capture.has_views else {} for s in range(stations)]
        return [
            {
                "tx": dict(zip(NAMES, tx[s].tolist(), strict=True)),
                "airtime_ns": dict(zip(NAMES, airtime[s].tolist(), strict=True)),
                **everywhere[s],
                "addressed": _by_name(addressed[s], outcomes),
                "end": _by_name(end[s], (Reason.ACKED, Reason.GROUP, *limits)),
                "retries": dict(zip(("short", "long"), retries[s].tolist(), strict=True)),
            }
            for s in range(stations)
        ]


def _tally(shape: tuple[int, ...], place: tuple[Array, ...], each: Array | int = 1) -> Array:
    """Return a table of `shape` with `each` added at its place; `place` has a column of indices per dimension."""
    table = np.zeros(shape, np.int64)
    np.add.at(table, place, each)
    return table


def _by_name(rows: Array, columns: Sequence[IntEnum]) -> dict[str, dict[str, int]]:
    """Return some columns of a table with a row per Kind, by the names of both."""
    return {name: {column.name: int(row[column]) for column in columns} for name, row in zip(NAMES, rows, strict=True)}


def observe(capture: Capture, medium: Medium | None = None) -> Observation:
    """Derive everything. The default medium is Medium.of_all(). Raises Damaged if a station received a frame that was
    never on `air`, or if the medium has other stations than the capture."""
    stations = len(capture.interfaces) - 1
    medium = medium or Medium.of_all(stations)
    if medium.links.stations != stations:
        raise Damaged(f"the capture has {stations} stations, the plan {medium.links.stations}")
    sent = transmissions(capture, medium)
    received = arrivals(capture, medium, sent) if capture.has_views else remarked(capture, sent)
    tried = attempts(capture, medium, sent, received)
    limits = (medium.short_limit, medium.long_limit)
    in_force = (None if limit is None else at(limit, tried.station, sent.time[tried.tx]) for limit in limits)
    served = exchanges.serve(tried, *in_force)
    served_kind = exchanges.kinds(served, tried, sent.kind, sent.rate, sent.frames.duration())
    return Observation(capture, medium, sent, received, tried, served, served_kind)
