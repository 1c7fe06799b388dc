# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of runs that several labs use."""

import numpy as np

from analysis.load import Recorded
from analysis.traces.trace import Array, Kind, Outcome
from labs import Runs

SLOT_US, SIFS_US, DIFS_US = 20.0, 10.0, 50.0  # of DSSS: 802.11-2020, tables 15-5 and 9-2
MEAN_BACKOFF_US = 31 / 2 * SLOT_US  # of a first attempt


def kbps(name: str, runs: Runs) -> float:
    """Return the goodput of all flows of a run together, kb/s."""
    return runs[name].result.goodput_kbps


def flow_kbps(name: str, flow: int, runs: Runs) -> float:
    """Return the goodput of one flow, counted from 0, kb/s."""
    return runs[name].result.flows[flow].goodput_kbps


def collided(run: Recorded) -> Array:
    """Return which frames collided at their addressed receiver."""
    found: Array = run.air.outcome == Outcome.COLLISION
    return found


def sent(run: Recorded, kind: Kind, station: int | None = None) -> Array:
    """Return which frames are of this kind, and from this station, counted from 0."""
    found: Array = run.air.kind == kind
    return found if station is None else found & (run.air.station == station)


def airtime_us(run: Recorded, kind: Kind) -> float:
    """Return how long the longest frame of this kind is on the air, us."""
    which = sent(run, kind)
    return float((run.air.end_ns - run.air.start_ns)[which].max()) / 1000 if which.any() else 0.0


def meanwhile(run: Recorded, station: int) -> Array:
    """Return which frames began while a frame of this station, longer than a slot, was on the air."""
    air = run.air
    theirs = np.flatnonzero(air.station == station)
    before = theirs[(np.searchsorted(air.start_ns[theirs], air.start_ns) - 1).clip(min=0)]
    found: Array = (air.start_ns[before] + SLOT_US * 1000 < air.start_ns) & (air.start_ns < air.end_ns[before])
    return found


def ends(run: Recorded, reason: str) -> int:
    """Return how many frames the MACs of all stations finished for this reason."""
    tables = [table for station in run.result.stations for table in station.counters["end"].values()]
    return sum(int(table.get(reason, 0)) for table in tables)


def given_up(run: Recorded) -> float:
    """Return the share of all unicast frames that the MACs gave up."""
    failed = sum(ends(run, reason) for reason in ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT"))
    return failed / max(failed + ends(run, "ACKED"), 1)


def fairness(run: Recorded) -> float:
    """Return Jain's index of the flows' goodputs: 1 if they are equal, 1 over their number if one has all."""
    each = [flow.goodput_kbps for flow in run.result.flows]
    return sum(each) ** 2 / (len(each) * sum(rate * rate for rate in each)) if any(each) else 1.0
