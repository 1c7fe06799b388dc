# SPDX-License-Identifier: BSD-3-Clause
"""Derive what happened from a capture: who sent each frame, what each arrival met, how each exchange ended.

Only frames, FCS flags and times are used, and the facts in `Medium`. The air module's comments play no part, but for
when a frame was queued, which tells those from before the start. A frame that arrived below the reception threshold is
on no station's interface, so nothing here counts it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import exchanges
from analysis.arrivals import Received, arrivals
from analysis.attempts import Attempts, attempts
from analysis.capture import Capture, CaptureError
from analysis.medium import Medium
from analysis.trace import Array, Kind, Outcome, Reason
from analysis.transmissions import Sent, transmissions

NAMES = [kind.name.lower() for kind in Kind]


@dataclass(frozen=True)
class Observation:
    """What was derived from a capture. `served_kind` is a column beside `served`: each frame's Kind."""

    capture: Capture
    medium: Medium
    sent: Sent
    received: Received
    attempts: Attempts
    served: exchanges.Served
    served_kind: Array

    def counters(self) -> list[dict[str, Any]]:
        """Per station, in the shape of `counters` in lane.json; what cannot be seen from outside is not there."""
        sent, received, served = self.sent, self.received, self.served
        stations, kinds = len(self.capture.interfaces) - 1, len(Kind)

        def count(last: int, *columns: Array) -> Array:
            table = np.zeros((stations, kinds, last), np.int64)
            np.add.at(table, columns, 1)
            return table

        known = sent.station >= 0
        tx = count(1, sent.station[known], sent.kind[known], np.zeros(known.sum(), int))
        airtime = np.zeros((stations, kinds), np.int64)
        np.add.at(airtime, (sent.station[known], sent.kind[known]), sent.airtime[known])
        mine = received.addressed
        rx = (received.station, sent.kind[received.tx], received.outcome)
        rx_table, addressed = count(len(Outcome), *rx), count(len(Outcome), *(column[mine] for column in rx))
        over = self.attempts.counts[served.first] & (served.reason != exchanges.OPEN)
        end = count(len(Reason), served.station[over], self.served_kind[over], served.reason[over])
        failed = self.attempts.failed & self.attempts.counts
        retries = np.zeros((stations, 2), np.int64)
        np.add.at(retries, (self.attempts.station[failed], served.after_cts[failed].astype(int)), 1)

        def table(rows: Array, columns: Sequence[Any]) -> dict[str, dict[str, int]]:
            return {
                name: {column.name: int(row[column]) for column in columns}
                for name, row in zip(NAMES, rows, strict=True)
            }

        outcomes = (Outcome.OK, Outcome.COLLISION, Outcome.NOISE)
        limits = (Reason.RTS_LIMIT, Reason.SHORT_LIMIT, Reason.LONG_LIMIT) if self.medium.short_limit else ()
        return [
            {
                "tx": dict(zip(NAMES, tx[s, :, 0].tolist(), strict=True)),
                "airtime_ns": dict(zip(NAMES, airtime[s].tolist(), strict=True)),
                "rx": table(rx_table[s], outcomes),
                "addressed": table(addressed[s], outcomes),
                "end": table(end[s], (Reason.ACKED, Reason.GROUP, *limits)),
                "retries": dict(zip(("short", "long"), retries[s].tolist(), strict=True)),
            }
            for s in range(stations)
        ]


def observe(capture: Capture, medium: Medium | None = None) -> Observation:
    """Derive everything. Without `medium`, Medium.of_all(). Raises CaptureError if a station received what was never
    on `air`, or if the medium is of other stations than the capture."""
    stations = len(capture.interfaces) - 1
    medium = medium or Medium.of_all(stations)
    if medium.senses.shape != (stations, stations):
        raise CaptureError(f"the capture has {stations} stations, the plan {medium.senses.shape[0]}")
    sent = transmissions(capture, medium)
    received = arrivals(capture, medium, sent)
    tried = attempts(capture, medium, sent, received)
    served = exchanges.serve(tried, medium.short_limit, medium.long_limit)
    served_kind = exchanges.kinds(served, tried, sent.kind, sent.rate, sent.frames.duration())
    return Observation(capture, medium, sent, received, tried, served, served_kind)
