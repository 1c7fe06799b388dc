# SPDX-License-Identifier: BSD-3-Clause
"""Transmissions from `air.pcapng.gz` alone: sender, receiver, and outcome at the addressed receiver.

The outcome comes from the air's remarks. That is fast and small, also with many stations, where the receptions of each
station would be far more. `analysis.taps.observe` reads all receptions, and uses no remark on outcomes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.taps.phy import radios, spacing_ns
from analysis.taps.transmissions import by_addresses
from analysis.traces.capture import Capture, read_file
from analysis.traces.columns import around
from analysis.traces.dissect import Frames, Tcp
from analysis.traces.pcapng import AIR
from analysis.traces.trace import Array, Outcome, is_response
from emulation.files.foreign import Damaged, reading

NONE = -1
CULPRIT = re.compile(r"collision with (\S+) ")


@dataclass(frozen=True)
class Aired:
    """All transmissions, in order. Stations are numbered from 0; NONE means unknown, or a group. Times are in ns of the
    lane.

    `outcome` is that at the addressed receiver (OK if the air says nothing, as for a group). `culprit` is the station
    whose transmission collided with it. `tcp` has the segments among `frames`; `ips` are the stations' addresses.
    """

    start_ns: Array
    end_ns: Array
    kind: Array
    station: Array
    receiver: Array
    outcome: Array
    culprit: Array
    length: Array  # bytes, with FCS
    ppdu: Array  # equal for the MPDUs of one PPDU
    frames: Frames
    tcp: Tcp
    ips: list[str]


def read(path: Path, plan: Mapping[str, Any]) -> Aired:
    """Read a file of a run with this plan. Raises Damaged if malformed, OSError if unreadable."""
    with reading(path):
        return of_capture(read_file(path), plan)


def of_capture(capture: Capture, plan: Mapping[str, Any]) -> Aired:
    """Return the transmissions of a capture. Raises Damaged if its stations are not those of the plan."""
    if (stations := len(capture.interfaces) - 1) != (planned := len(radios(plan))):
        raise Damaged(f"{AIR} has {stations} stations, the plan {planned}")
    sent = by_addresses(capture, spacing_ns(plan), plan["air"]["signal_extension_ns"])
    row, station, answer = sent.row, sent.station, np.flatnonzero(is_response(sent.kind))
    station[answer] = _responders(station, sent.receiver, sent.time, answer)
    names = {station.name: at for at, station in enumerate(capture.interfaces[1:])}
    outcome, culprit = capture.remarked(row), np.full(row.size, NONE)
    for at in np.flatnonzero(outcome == Outcome.COLLISION).tolist():
        if by := CULPRIT.match(capture.comment(int(row[at]))):
            culprit[at] = names.get(by[1], NONE)
    ips = [interface.ip for interface in capture.interfaces[1:]]
    return Aired(
        sent.time, sent.end, sent.kind, station, sent.receiver, outcome, culprit, capture.length[row], sent.number,
        sent.frames, sent.tcp, ips,
    )  # fmt: skip


def _responders(station: Array, receiver: Array, start: Array, answer: Array) -> Array:
    """Return the sender of each CTS or ACK: the receiver of the latest frame from the station it is addressed to."""
    asking = np.flatnonzero((station >= 0) & (receiver >= 0))
    before, _ = around(asking, station, start, receiver[answer], start[answer])
    return np.where(before >= 0, receiver[before], NONE)
