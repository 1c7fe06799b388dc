# SPDX-License-Identifier: BSD-3-Clause
"""The air of a run on a timeline: each transmission, what became of it and by whose doing, who heard it, and what TCP's
senders did meanwhile; as columns, of which `page` makes a file that a browser shows and `perfetto` a trace for others.

Frames, outcomes, attempts and waits are what the air wrote into air.pcapng.gz, a row each, in its order: row i is
frame i + 1 in Wireshark. Who received a frame is in views.gz; who sensed it, the plan's powers say. Backoff, NAV and
carrier sense are in no file: the page derives them from all that, as the standard has it (10.3.2, 10.3.4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.timeline.exchange import attempts, culprits, remarked, waits
from analysis.pages.timeline.heard import RECEIVED, distinct, hearing, mark, receivers
from analysis.pages.timeline.segments import of_exchange, segments
from analysis.taps import aired
from analysis.taps.aired import NONE
from analysis.taps.phy import Medium, airtime_ns, plcp_ns, radios
from analysis.tcp.senders import Flow as TcpFlow
from analysis.traces import capture, pcapng
from analysis.traces.capture import Capture
from analysis.traces.trace import Array, Outcome
from analysis.traces.views import Views
from emulation.files.foreign import reading

ANSWER_LEN = 14  # bytes of a CTS or ACK


@dataclass(frozen=True)
class Frames:
    """Transmissions in order, columns. Stations are numbered from 0 (NONE: not known, or a group); times in ns since
    the start of what was measured; rows are of these columns, NONE is no row."""

    start: Array
    took: Array
    kind: Array
    station: Array
    receiver: Array
    outcome: Array  # at the addressed receiver
    culprit: Array  # row of the transmission that spoilt it
    attempt: Array  # RTSs, and sendings of the frame itself, from 1
    given_up: Array  # Reason at whose limit the frame was given up after this; 0: it was not
    queued: Array  # how long before its start the kernel handed it over; NONE: not the first of its frame
    waited: Array  # how long before its start its station began to contend for it; NONE: an answer, or after a CTS
    before: Array  # the attempt of the same frame before it; of a CTS or ACK, the attempt that it answers
    length: Array  # bytes, with FCS
    rate: Array  # 100 kb/s
    freq: Array  # MHz
    short: Array  # preamble
    control: Array  # Frame Control, 16 bits
    duration: Array  # us: Duration field, 0 where it is none
    sequence: Array  # sequence number of the MAC; 0 of control frames
    category: Array  # place in CATEGORIES from 1 on; 0: none is said
    flow: Array  # number of the flow that it is of, or asks or answers for; NO_FLOW
    back: Array  # whether it carries a segment from the flow's destination to its source
    seq: Array  # TCP's numbers, since the connection's first; where there is no segment 0
    ack: Array
    payload: Array
    flags: Array  # TCP's
    sensed: Array  # who could sense it, as number of a mask
    received: Array  # who received it well, the same


@dataclass(frozen=True)
class Timeline:
    """All of it. `masks` has rows of bits, one a station, lowest first. `views`: whether it is known who received what,
    or supposed of all within range. `delay_ns`: [sender][receiver], None where it changes. `tcp`: by flow's name."""

    title: str
    took_ns: int
    stations: Sequence[str]
    flows: Sequence[tuple[str, int, int]]  # name, source, destination
    frames: Frames
    masks: Array
    views: bool
    mac: Mapping[str, int]  # `spaces`
    delay_ns: Sequence[Sequence[int]] | None
    tcp: Mapping[str, TcpFlow]


def read(
    title: str, folder: Path, plan: Mapping[str, Any], lane: Mapping[str, Any], tcp: Mapping[str, TcpFlow]
) -> Timeline:
    """That of the run in this folder. Raises Damaged, OSError."""
    shown = capture.read_file(folder / pcapng.AIR)
    with reading(folder):
        return make(title, plan, lane, shown, capture.views_of(folder / pcapng.AIR, shown), tcp)


def make(
    title: str, plan: Mapping[str, Any], lane: Mapping[str, Any], shown: Capture, views: Views | None,
    tcp: Mapping[str, TcpFlow],
) -> Timeline:  # fmt: skip
    """The timeline of a run: of its plan and lane.json, what was on the air, what stations received (None: left out),
    and what TCP's senders did."""
    air = aired.of_capture(shown, plan)
    names = [radio["name"] for radio in radios(plan)]
    start = air.start_ns - lane["started_ns"]
    said = remarked(shown)
    medium = Medium.of_plan(plan, lane["started_ns"], lane.get("changes", ()))
    before, first = attempts(air, said.queued, said.category)
    flows = [
        (planned["name"], names.index(planned["source"]), names.index(planned["destination"]))
        for planned in plan.get("applications", ())
        if {planned["source"], planned["destination"]} <= {*names}
    ]
    of_tcp = segments(air, plan, [name for name, _, _ in flows])
    flow = of_exchange(of_tcp.flow, first)
    sensed = hearing(air, plan, lane, medium, shown)
    if views is None:
        received = None if sensed is None else hearing(air, plan, lane, medium, shown, RECEIVED)
    else:
        received = receivers(views, start.size, len(names))
    received = np.zeros((start.size, -(-len(names) // 8)), np.uint8) if received is None else received
    mark(received, air.receiver, (air.outcome == Outcome.OK) & (air.receiver != NONE))
    masks, (of_sensed, of_received) = distinct(received if sensed is None else sensed | received, received)
    moving = bool((plan.get("motion") or {}).get("waypoints") or lane.get("changes") or lane.get("moves"))
    own = air.frames
    fc = own.field(0) | own.field(1) << 8
    numbered = (fc & 0x0C) != 0x04
    duration = own.duration()
    return Timeline(
        title=title,
        took_ns=lane["stopped_ns"] - lane["started_ns"],
        stations=names,
        flows=flows,
        frames=Frames(
            start=start, took=air.end_ns - air.start_ns, kind=air.kind, station=air.station, receiver=air.receiver,
            outcome=air.outcome, culprit=culprits(air), attempt=said.attempt, given_up=said.given_up,
            queued=said.queued, waited=waits(air, said.queued, before, medium, shown), before=before,
            length=air.length, rate=shown.rate, freq=shown.freq, short=shown.short_preamble, control=fc,
            duration=np.where(duration < 0x8000, duration, 0),
            sequence=np.where(numbered & (own.caplen >= 24), (own.field(22) | own.field(23) << 8) >> 4, 0),
            category=said.category, flow=flow, back=of_tcp.back, seq=of_tcp.seq, ack=of_tcp.ack,
            payload=of_tcp.payload, flags=of_tcp.flags, sensed=of_sensed, received=of_received,
        ),
        masks=masks,
        views=views is not None,
        mac=spaces(plan, medium),
        delay_ns=None if moving else [[int(each or 0) for each in row] for row in plan["air"]["delay_ns"]],
        tcp=tcp,
    )  # fmt: skip


def spaces(plan: Mapping[str, Any], medium: Medium) -> dict[str, int]:
    """The MAC's times (ns): DIFS, EIFS (0: there is none; 10.3.2.3.7), and after how long without an answer the NAV of
    an RTS is forgotten (0: never; 10.3.2.4). Answers are taken to go at the lowest basic rate."""
    rate, long = np.array(min(medium.basic_rates)), np.array(False)
    answer = int(airtime_ns(rate, np.array(ANSWER_LEN), long, medium.signal_extension_ns))
    difs = medium.sifs_ns + 2 * medium.slot_ns
    reset = 2 * medium.sifs_ns + answer + int(plcp_ns(rate, long)) + 2 * medium.slot_ns
    air = plan["air"]
    return {
        "slot": medium.slot_ns, "sifs": medium.sifs_ns, "difs": difs, "edca": int(bool(air.get("edca"))),
        "eifs": medium.sifs_ns + answer + difs if air.get("eifs", "off") != "off" else 0,
        "reset": reset if air.get("nav_reset") else 0,
    }  # fmt: skip
