# SPDX-License-Identifier: BSD-3-Clause
"""The frames that stations served, where a station serves many at a time: with aggregation, attempts at several frames
are in one PPDU, and those at one frame have others between them.

A frame is known by its sender, receiver, TID and Sequence Control; its first attempt has no Retry bit. A block-ACK
request has none ever; the air's remark `queued` marks its first attempt. An RTS is taken to be for the frame that its
station sends next to that receiver.
"""

from dataclasses import dataclass

import numpy as np

from analysis.traces.capture import Capture
from analysis.traces.columns import begins
from analysis.traces.dissect import BLOCK_START, REQUEST, Frames
from analysis.traces.trace import Array

RETRY = 0x08
OF_REQUESTS = 16  # is added to the TID


@dataclass(frozen=True)
class Keyed:
    """Attempts divided into frames: for each attempt its frame, for each frame its first attempt. Frames are in the
    order of these."""

    of_attempt: Array
    first: Array


def divide(capture: Capture, row: Array, frames: Frames, station: Array, rts: Array) -> Keyed:
    """Divide attempts, given as rows of a capture by station and time."""
    request = frames.field(0) == REQUEST
    control = np.where(request, frames.field(BLOCK_START) | frames.field(BLOCK_START + 1) << 8,
                       frames.field(22) | frames.field(23) << 8)  # fmt: skip
    tid = np.where(request, OF_REQUESTS + (frames.field(BLOCK_START - 1) >> 4), frames.tid())
    new = np.where(request, capture.queued_ns(row) >= 0, frames.field(1) & RETRY == 0)
    to = frames.address(1)
    own = np.flatnonzero(~rts)
    order = own[np.lexsort((own, control[own], tid[own], to[own], station[own]))]
    apart = np.logical_or.reduce([new[order], *(begins(column[order]) for column in (station, to, tid, control))])
    of = np.full(row.size, -1)
    of[order] = np.cumsum(apart) - 1
    of = _with_rts(of, np.flatnonzero(rts), own, station, to)
    _, first, of = np.unique(of, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return Keyed(rank[of], np.sort(first))


def _with_rts(of: Array, rts: Array, own: Array, station: Array, to: Array) -> Array:
    """Return the frame of each attempt, also of RTSs: the next one of their station to their receiver; one of its own
    without such."""
    if not rts.size:
        return of
    everybody, receiver = np.unique(to, return_inverse=True)
    pair = station * everybody.size + receiver
    by_pair = own[np.lexsort((own, pair[own]))]
    key = pair[by_pair] * of.size + by_pair
    place = np.searchsorted(key, pair[rts] * of.size + rts)
    following = np.append(by_pair, -1)[place]
    there = (following >= 0) & (pair[following] == pair[rts])
    of[rts] = np.where(there, of[following], of.max(initial=-1) + 1 + np.arange(rts.size))
    return of


def counted(capture: Capture, row: Array, frames: Frames, rts: Array, keyed: Keyed) -> Array:
    """Return which attempts, in these rows, belong to frames that the kernel handed over after the start: the air
    remarks when, or the first transmission is there. RTSs may have been sent before that."""
    queued, of = capture.queued_ns(row), keyed.of_attempt
    own = np.flatnonzero(~rts)
    first = own[np.unique(of[own], return_index=True)[1]]
    picked = frames.pick(first)
    fresh = np.zeros(keyed.first.size, bool)
    fresh[of[first]] = (picked.field(1) & RETRY == 0) & (picked.field(0) != REQUEST)
    fresh[of[queued >= capture.start_ns]] = True
    fresh[of[(queued >= 0) & (queued < capture.start_ns)]] = False
    counts: Array = fresh[of]
    return counts
