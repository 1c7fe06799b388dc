# SPDX-License-Identifier: BSD-3-Clause
"""Count what studies count, from Scapy's packets and their attributes alone: slowly, as a student would.

A station's attempt fails if the station receives no good CTS or ACK before it sends anything else. A failure counts as
short, or as long if it followed a CTS (IEEE 802.11-2016, 10.3.4.4). Counting begins with the first frame handed over
after the start. An MPDU in a PPDU of several is acknowledged by its bit of the block ACK.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.results.result import APART, ROWS, counted
from analysis.taps.phy import airtime_ns, plcp_ns
from analysis.taps.sniff import frames, remarked
from analysis.traces import radiotap, views
from analysis.traces.capture import span_ns
from analysis.traces.modes import DELIMITER, HT, ppdu_ns
from analysis.traces.pcapng import AIR
from analysis.traces.remarks import FLAGS
from analysis.traces.trace import MOST_MPDUS, Array, Kind, Outcome

if TYPE_CHECKING:
    from scapy.packet import Packet

COLLIDED = (Outcome.COLLISION, Outcome.OWN_TX)
ROW = {Kind[kind.upper()]: row for row, kinds in (ROWS | APART).items() for kind in kinds}
NAMES = {"DATA": "data", "TCP ACK": "ack", **dict.fromkeys(FLAGS.values(), "other")}  # others by the name of their row
SIFS_AND_SLOT_NS = {True: 30_000, False: 25_000}  # below 5 GHz, and at 5 GHz


def counters(run: Path) -> dict[str, int]:
    """Return the counters under the names of `taps.totals`, without COL_ANY if the stations' receptions are not
    recorded. Raises Damaged if malformed, OSError if unreadable."""
    air = run / AIR if run.is_dir() else run
    there = air.with_name(views.FILE).exists()
    tables = ("col", "col.any", "fail") if there else ("col", "fail")
    rows = [counted(table, row) for table in tables for row in (*ROWS, "total", *APART)]
    names = [*rows, "retries, short", "retries, long", *(f"sent, {kind.name.lower()}" for kind in Kind)]
    found, tries = Counter({name: 0 for name in names}), Tries()

    def add(table: str, row: str) -> None:
        found[counted(table, row)] += 1
        found[counted(table, "total")] += row in ROWS

    for frame in frames(run):
        found[f"sent, {frame.kind.name.lower()}"] += 1
        tries.see(frame)
        if frame.outcome in COLLIDED:
            add("col", ROW[frame.kind])
        if frame.given_up:
            what, limit = frame.given_up
            if limit == "RTS retry limit":
                add("fail", "rtscts")
            add("fail", NAMES.get(what, what.lower()))
    found.update(tries.retries(*span_ns(air)))
    for frame in remarked(run) if there else ():  # includes all corrupted packets
        if frame.outcome in COLLIDED:
            add("col.any", ROW[frame.kind])
    return dict(found)


@dataclass
class Try:
    """One attempt of a station, times in ns: its end, and the deadline by which an answer must begin; whether it is an
    RTS, followed a CTS, and requires an answer; when its frame was handed over, if the air says. `heard`: a CTS or ACK
    followed; `answered`: the right one."""

    end: int
    deadline: int
    rts: bool
    after_cts: bool
    asks: bool
    queued: int | None
    ppdu: int | None = None  # the A-MPDU's reference number, if there are several MPDUs in its PPDU
    sequence: int = 0
    heard: bool = False
    answered: bool = False


class Sent(NamedTuple):
    """A transmission, in ns; `started` is the end of its preamble."""

    station: str
    begin: int
    started: int
    end: int


class Tries:
    """The attempts of all stations, as seen on `air`."""

    def __init__(self) -> None:
        self.of: dict[str, list[Try]] = defaultdict(list)
        self.last: list[Sent] = []  # transmissions that may not have ended
        self.hears: dict[str, set[str]] = defaultdict(set)  # by receiver: the stations that it has received from
        self.together = False  # several frames of a station are served at a time
        self.queued: dict[tuple[object, ...], int | None] = {}  # then: when each frame was handed over
        self.octets: dict[int, int] = {}  # of each PSDU so far, by the A-MPDU's reference number

    def see(self, frame: "Packet") -> None:
        from scapy.layers.dot11 import Dot11, Dot11QoS

        header, begin = frame[Dot11], round(float(frame.time) * 1e9)
        rate, short = np.array(round((frame.Rate or 6) * 10)), np.array(bool(frame.Flags.ShortPreamble))
        preamble, length = int(plcp_ns(rate, short)), np.array([frame.wirelen - frame.len])
        head = np.frombuffer(frame.original[: frame.len], "<u4")
        seen = radiotap.read(head, np.zeros(1, np.int64), np.array([frame.len]))
        ppdu = int(seen.reference[0]) if seen.several[0] else None
        if seen.mode[0]:
            self.together = True
            end = begin + self._took(seen.mode, length, ppdu)
        else:
            end = begin + int(airtime_ns(rate, length, short, 0)[0])
        if frame.kind in (Kind.CTS, Kind.ACK):
            self._answer(header.addr1, frame.kind, begin, frame.outcome == Outcome.OK, frame.original[frame.len :])
            return
        if frame.outcome == Outcome.OK:
            self.hears[header.addr1].add(header.addr2)
        tries, qos = self.of[header.addr2], frame.getlayer(Dot11QoS)
        said = b"".join(frame.comments or [])
        same = bool(tries and ppdu is not None and tries[-1].ppdu == ppdu)
        if same:
            for one in tries[-MOST_MPDUS:]:
                if one.ppdu == ppdu:
                    one.end, one.deadline = end, end + tries[-1].deadline - tries[-1].end
        made = Try(
            end=end,
            deadline=end + SIFS_AND_SLOT_NS[frame.ChannelFrequency < 5000] + preamble,
            rts=frame.kind == Kind.RTS,
            after_cts=tries[-1].after_cts if same else bool(tries and tries[-1].rts and tries[-1].answered),
            asks=not int(header.addr1[:2], 16) & 1 and not (qos is not None and qos.Ack_Policy == 1),
            queued=begin - round(frame.queued_s * 1e9) if b"queued" in said else None,
            ppdu=ppdu,
            sequence=(header.SC or 0) >> 4,
        )
        asked = tries[-1].queued if tries and tries[-1].rts else None  # an RTS says it for the frame that follows
        if not made.rts:
            made.queued = self._handed_over(frame, made.queued, asked)
        elif made.queued is None:
            made.queued = asked
        tries.append(made)
        self.last = [
            *(sent for sent in self.last if sent.end > begin),
            Sent(header.addr2, begin, begin + preamble, end),
        ]

    def _took(self, mode: Array, length: Array, ppdu: int | None) -> int:
        """Return how long a PPDU takes at least, of which this is the last MPDU so far. Spaces between MPDUs, which no
        header shows, are left out."""
        octets = length + DELIMITER * (ppdu is not None or mode[0] & 7 != HT)
        if ppdu is not None:
            octets += -(-self.octets.get(ppdu, 0) // 4) * 4
            self.octets = {ppdu: int(octets[0])}
        return int(ppdu_ns(mode, octets)[0])

    def _handed_over(self, frame: "Packet", queued: int | None, asked: int | None) -> int | None:
        """Return when a frame was handed over, which its first attempt says, or its RTS; None: before all else."""
        from scapy.layers.dot11 import Dot11, Dot11QoS

        header, qos = frame[Dot11], frame.getlayer(Dot11QoS)
        key = (header.addr2, header.addr1, header.subtype, None if qos is None else qos.TID, header.SC)
        if queued is not None:
            self.queued[key] = queued
        elif asked is not None:
            self.queued.setdefault(key, asked)
        return self.queued.get(key)

    def _answer(self, station: str, kind: Kind, begin: int, well: bool, octets: bytes) -> None:
        tries = self.of.get(station)
        if not (tries and well and not tries[-1].heard and begin >= tries[-1].end):
            return
        answers = kind == (Kind.CTS if tries[-1].rts else Kind.ACK)
        if tries[-1].ppdu is None:
            tries[-1].heard, tries[-1].answered = True, answers
            return
        bits = int.from_bytes(octets[20 : 52 if octets[18] & 15 else 28], "little")  # 9.3.1.8
        first = int.from_bytes(octets[18:20], "little") >> 4
        for one in tries[-MOST_MPDUS:]:
            if one.ppdu == tries[-1].ppdu:
                one.heard, one.answered = True, bool(bits >> (one.sequence - first) % 4096 & 1)

    def retries(self, start_ns: int, stop_ns: int) -> dict[str, int]:
        """Return the number of short and long retries between start and stop."""
        found = {"retries, short": 0, "retries, long": 0}
        for station, tries in self.of.items():
            counts = False
            for each in tries:
                counts = (counts and (each.rts or not self.together)) or (
                    each.queued is not None and each.queued >= start_ns
                )
                last = each is tries[-1] or (each.ppdu is not None and each.ppdu == tries[-1].ppdu)
                over = not last or self._settled(station, each, stop_ns)
                if counts and each.asks and not each.answered and over:
                    found["retries, long" if each.after_cts else "retries, short"] += 1
        return found

    def _settled(self, station: str, each: Try, stop_ns: int) -> bool:
        """Return whether a station's last attempt had failed by the stop. A reception that began in time is completed
        first."""
        hearing = (
            sent.begin >= each.end and sent.started <= each.deadline and sent.end > stop_ns
            and sent.station in self.hears[station] for sent in self.last
        )  # fmt: skip
        return each.heard or (each.deadline <= stop_ns and not any(hearing))
