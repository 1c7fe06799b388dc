# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a run's frames (`schema.FRAMES`): what was on the air, and the outcomes.

Row i is frame i + 1 of air.pcapng.gz. The air's remarks, and what follows from the order of frames, are read as by the
timeline. Names are numbers; `NAMES` has their meaning.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from analysis.load import Recorded
from analysis.pages.timeline.exchange import attempts, culprits, remarks_of, waits
from analysis.pages.timeline.segments import NO_FLOW, of_exchange, segments
from analysis.taps import aired
from analysis.taps.aired import NONE
from analysis.taps.phy import Medium, radios
from analysis.traces import capture, pcapng
from analysis.traces.modes import LEGACY, Modes
from analysis.traces.trace import CATEGORIES, Array, Kind, Outcome, Reason, is_response

FLAGS = ("F", "S", "R", "P", "A", "U")  # of TCP, lowest bit first
RETRY = 0x08  # in the second byte (9.2.4.1)
NAMES: Mapping[str, Sequence[str]] = {
    "kind": [kind.name.lower() for kind in Kind],
    "outcome": [outcome.name.lower() for outcome in Outcome],
    "given_up": [reason.name.lower() for reason in Reason],
    "category": CATEGORIES,
    "tcp_flags": ["".join(flag for flag, is_set in zip(FLAGS, bits[::-1], strict=True) if is_set)
                  for bits in product((0, 1), repeat=len(FLAGS))],
}  # fmt: skip


def columns(run: Recorded, stations: Sequence[str], flows: Sequence[str]) -> dict[str, Array]:
    """Return the columns of one run; -1 means missing. Stations and flows are numbered as in these lists. Raises
    ValueError if malformed, OSError if unreadable."""
    plan, lane = run.plan, run.lane
    captured = capture.read_file(run.folder / pcapng.AIR)
    air = aired.of_capture(captured, plan)
    remarks = remarks_of(captured)
    medium = Medium.of_plan(plan, lane["started_ns"], lane.get("changes", ()))
    before, first = attempts(air, remarks.queued, remarks.category, captured)
    start, response = air.start_ns - lane["started_ns"], is_response(air.kind)
    names = [radio["name"] for radio in radios(plan)]
    flow_names = [
        planned["name"] for planned in plan.get("applications", ())
        if {planned["source"], planned["destination"]} <= {*names}
    ]  # fmt: skip
    segment = segments(air, plan, flow_names)
    flow = of_exchange(segment.flow, first)
    carried, tcp = segment.flow != NO_FLOW, np.zeros(air.kind.size, bool)
    tcp[air.tcp.row] = True
    tcp &= carried
    station = _numbers([stations.index(name) for name in names])
    second, duration = air.frames.field(1), air.frames.duration()
    # Control frames have type 01, and no sequence number (9.3.1).
    numbered = (air.frames.field(0) & 0x0C != 0x04) & (air.frames.caplen >= 24)
    sequence = (air.frames.field(22) | air.frames.field(23) << 8) >> 4
    return {
        "frame": np.arange(1, air.kind.size + 1),
        "time_ns": start,
        "duration_ns": (air.end_ns - air.start_ns).astype(np.int32),
        "ppdu_frame": np.arange(1, air.kind.size + 1) - (captured.packet_id - captured.ppdu),
        "kind": air.kind.astype(np.int8),
        "sender": station[air.station],
        "receiver": station[air.receiver],
        "outcome": np.where(air.receiver != NONE, air.outcome, -1).astype(np.int8),
        "culprit": station[np.where(air.outcome == Outcome.OWN_TX, air.receiver, air.culprit)],
        "culprit_frame": _frame_number(culprits(air)),
        "attempt": np.where(response, -1, remarks.attempt).astype(np.int16),
        "previous_frame": _frame_number(before),
        "given_up": np.where(remarks.given_up > 0, remarks.given_up, -1).astype(np.int8),
        "queued_ns": np.where(
            response | (remarks.queued[first] == NONE), -1, remarks.queued[first] + start - start[first]
        ),
        "contended_ns": waits(air, remarks.queued, before, medium, captured),
        "length_bytes": air.length.astype(np.int32),
        "rate_kbps": (100 * captured.rate).astype(np.int32),
        "mcs": np.where(captured.mode != LEGACY, Modes.of(captured.mode).mcs, -1).astype(np.int8),
        "freq_mhz": captured.freq.astype(np.int32),
        "retry": second & RETRY != 0,
        "duration_field_us": np.where(duration < 0x8000, duration, 0).astype(np.int32),
        "sequence": np.where(numbered, sequence, -1).astype(np.int32),
        "category": (remarks.category - 1).astype(np.int8),
        "flow": _numbers([flows.index(name) for name in flow_names])[np.where(flow == NO_FLOW, -1, flow)],
        "backward": segment.back != 0,
        "payload_bytes": np.where(carried, segment.payload, -1).astype(np.int32),
        "tcp_seq_bytes": np.where(tcp, segment.seq, -1),
        "tcp_ack_bytes": np.where(tcp & (segment.flags & 0x10 != 0), segment.ack, -1),
        "tcp_flags": np.where(tcp, segment.flags & 0x3F, -1).astype(np.int8),
    }


def _numbers(of: list[int]) -> Array:
    """Map indices of this run's list to those of all runs; the last entry, also reached by -1, is missing."""
    return np.array([*of, -1], np.int32)


def _frame_number(row: Array) -> Array:
    return np.where(row == NONE, -1, row + 1)
