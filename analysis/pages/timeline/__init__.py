# SPDX-License-Identifier: BSD-3-Clause
"""The air of a run on a timeline: each transmission, its outcome and what caused that, who heard it, and TCP's senders.
The timeline is columns; `page` makes a file for the browser of them, `perfetto` a trace for other programs.

Frames, outcomes, attempts and waits are what the air wrote to air.pcapng.gz, one row per frame: row i is frame i + 1 in
Wireshark. views.gz says who received a frame, the plan's powers who sensed it. Backoff, NAV and carrier sense are in no
file: the page derives them as the standard defines them (10.3.2, 10.3.4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.pages.timeline.exchange import attempts, culprits, remarks_of, waits
from analysis.pages.timeline.heard import RECEIVED, distinct, hearing, mark, receivers
from analysis.pages.timeline.segments import of_exchange, segments
from analysis.taps import aired
from analysis.taps.aired import NONE
from analysis.taps.phy import ANSWER_LEN, Medium, airtime_ns, parts_ns, plcp_ns, radios
from analysis.tcp.senders import Flow as TcpFlow
from analysis.traces import capture, pcapng
from analysis.traces.capture import Capture
from analysis.traces.columns import begins, ends
from analysis.traces.dissect import BLOCK_ACK
from analysis.traces.modes import LEGACY, Modes
from analysis.traces.trace import Array, Outcome
from analysis.traces.views import Views
from emulation.files.foreign import reading


@dataclass(frozen=True)
class Frames:
    """Transmissions in order, as columns. Stations are numbered from 0; NONE means unknown, or a group. Times are in ns
    since measuring began. Columns that hold rows refer to these columns; NONE means no row."""

    start: Array
    took: Array
    kind: Array
    station: Array
    receiver: Array
    outcome: Array  # at the addressed receiver
    culprit: Array  # row of the transmission that collided with it
    attempt: Array  # number of the RTS, or of the transmission of the frame itself, from 1
    given_up: Array  # Reason at whose limit the MAC gave up the frame after this; 0: not given up
    queued: Array  # time from the kernel's handing over to the start; NONE: not the first attempt
    waited: Array  # time from when its station began to contend to the start; NONE: an answer, or after a CTS
    before: Array  # the previous attempt at the same frame; for a CTS or ACK, the attempt that it answers
    length: Array  # bytes, with FCS
    rate: Array  # 100 kb/s
    mode: Array  # place in the timeline's modes, from 1; 0: a legacy rate
    place: Array  # among the MPDUs of its PPDU
    more: Array  # MPDUs of its PPDU after it
    part: Array  # time from the start of the PPDU to that of its part of it
    part_took: Array  # duration of that part
    acked: Array  # of a block ACK: how many of its PPDU's MPDUs it acknowledges
    freq: Array  # MHz
    short: Array  # preamble
    control: Array  # Frame Control, 16 bits
    duration: Array  # us: Duration field; 0 if it holds none
    sequence: Array  # sequence number of the MAC; 0 for control frames
    category: Array  # place in CATEGORIES, from 1; 0: not given
    flow: Array  # number of the flow that it carries, or requests or answers for; NO_FLOW
    back: Array  # whether its segment goes from the flow's destination to its source
    seq: Array  # TCP's numbers, relative to the connection's first; 0 without a segment
    ack: Array
    payload: Array
    flags: Array  # TCP's
    sensed: Array  # stations that could sense it, as the number of a mask
    received: Array  # stations that received it correctly, likewise


@dataclass(frozen=True)
class Timeline:
    """A run's timeline. `masks` has rows of bits, one per station, lowest first. `views`: whether the receivers are
    recorded; otherwise all stations in range count as receivers. `delay_ns`: [sender][receiver], None if it changes.
    `tcp`: by flow name."""

    title: str
    took_ns: int
    stations: Sequence[str]
    flows: Sequence[tuple[str, int, int]]  # name, source, destination
    frames: Frames
    modes: Sequence[str]  # of 802.11n and later, as people write them
    masks: Array
    views: bool
    mac: Mapping[str, int]  # from `spaces`
    delay_ns: Sequence[Sequence[int]] | None
    tcp: Mapping[str, TcpFlow]


def read(
    title: str, folder: Path, plan: Mapping[str, Any], lane: Mapping[str, Any], tcp: Mapping[str, TcpFlow]
) -> Timeline:
    """Return the timeline of the run in this folder. Raises Damaged if a file is, OSError if one cannot be read."""
    shown = capture.read_file(folder / pcapng.AIR)
    with reading(folder):
        return make(title, plan, lane, shown, capture.views_of(folder / pcapng.AIR, shown), tcp)


def make(
    title: str, plan: Mapping[str, Any], lane: Mapping[str, Any], shown: Capture, views: Views | None,
    tcp: Mapping[str, TcpFlow],
) -> Timeline:  # fmt: skip
    """Return the timeline of a run: `shown` is what was on the air, `views` what stations received (None: not
    recorded)."""
    air = aired.of_capture(shown, plan)
    names = [radio["name"] for radio in radios(plan)]
    start = air.start_ns - lane["started_ns"]
    said = remarks_of(shown)
    medium = Medium.of_plan(plan, lane["started_ns"], lane.get("changes", ()))
    before, first = attempts(air, said.queued, said.category, shown)
    every, known = np.arange(start.size), np.union1d(shown.mode, [LEGACY])
    spacing = 0 if medium.spacing_ns is None else medium.spacing_ns[air.receiver]
    part, part_took = parts_ns(shown, every, spacing, air.end_ns - air.start_ns)
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
            mode=np.searchsorted(known, shown.mode), place=shown.packet_id - shown.ppdu, more=_more(shown.ppdu),
            part=part, part_took=part_took, acked=_acknowledged(air, shown, before),
            length=air.length, rate=shown.rate, freq=shown.freq, short=shown.short_preamble, control=fc,
            duration=np.where(duration < 0x8000, duration, 0),
            sequence=np.where(numbered & (own.caplen >= 24), (own.field(22) | own.field(23) << 8) >> 4, 0),
            category=said.category, flow=flow, back=of_tcp.back, seq=of_tcp.seq, ack=of_tcp.ack,
            payload=of_tcp.payload, flags=of_tcp.flags, sensed=of_sensed, received=of_received,
        ),
        modes=[Modes.of(known).name(row) for row in range(1, known.size)],
        masks=masks,
        views=views is not None,
        mac=spaces(plan, medium),
        delay_ns=None if moving else [[int(each or 0) for each in row] for row in plan["air"]["delay_ns"]],
        tcp=tcp,
    )  # fmt: skip


def _more(ppdu: Array) -> Array:
    """Return for each row how many rows of the same PPDU follow it."""
    last = np.flatnonzero(ends(ppdu))
    more: Array = last[np.cumsum(begins(ppdu)) - 1] - np.arange(ppdu.size)
    return more


def _acknowledged(air: aired.Aired, shown: Capture, before: Array) -> Array:
    """Return how many MPDUs of the PPDU that it answers each block ACK acknowledges; 0 of all else."""
    block = np.flatnonzero((air.frames.field(0) == BLOCK_ACK) & (before != NONE))
    found = np.zeros(before.size, np.int64)
    first = before[block] - (shown.packet_id - shown.ppdu)[before[block]]
    count = 1 + _more(shown.ppdu)[first]
    of = np.repeat(np.arange(block.size), count)
    mpdu = np.repeat(first - np.cumsum(count) + count, count) + np.arange(of.size)
    well = air.frames.pick(block[of]).acknowledges(air.frames.pick(mpdu).sequence())
    found[block] = np.bincount(of[well], minlength=block.size)
    return found


def spaces(plan: Mapping[str, Any], medium: Medium) -> dict[str, int]:
    """Return the MAC's times (ns): slot, SIFS, DIFS, EIFS (0: none; 10.3.2.3.7), and the time without an answer after
    which the NAV of an RTS is reset (0: never; 10.3.2.4). Answers are assumed at the lowest basic rate."""
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
