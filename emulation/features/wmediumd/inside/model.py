# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's model of a medium: all frames of all stations one after the other, and a random draw for each attempt.

There is no carrier sense and no collision, no ACK is lost, and RTS/CTS is unknown. A frame waits for earlier frames of
its access category and those above, of all stations on all channels. The purpose is to compare: to see what such a
model leaves out. It is pure: times come in as nanoseconds, random draws come from one seed, and deliveries and reports
go out in the order of their times. docs/mediumd.md says what it takes over, and what not.
"""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field

from emulation.features.wmediumd.inside import losses
from emulation.features.wmediumd.inside.stations import CCA_DBM, MOVE_S, SNR_DEFAULT, Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from emulation.features.wmediumd.inside.stations import Address, Station, Stations

    class Errors(Protocol):
        def error(self, snr_db: float, rate: int, length: int) -> float: ...

    Rate = tuple[int, int]  # index into hwsim's table; number of attempts


US = 1000
SLOT_US, SIFS_US = 9, 16
DIFS_US = 2 * SLOT_US + SIFS_US
ACK_BYTES, LEAST_BYTES = 14, 24
RATES = (10, 20, 55, 110, 60, 90, 120, 180, 240, 360, 480, 540)  # 100 kb/s; at 5 GHz from the fifth on
CCK = 4
VO, VI, BE, BK = range(4)
CW = ((3, 7), (7, 15), (15, 1023), (15, 1023))  # by access category
BY_TID = (BE, BK, BK, BE, VI, VI, VO, VO)
STAT_ACK = 4  # hwsim's flag; wmediumd takes no account of that for frames without ACK
COLLECT_US = 10_000  # interval over which durations of weak frames are summed
NEVER = 1 << 62


@dataclass(frozen=True)
class Delivery:
    """A frame that arrives at a station. `rate` is an index; rate and `signal_dbm` go into the kernel's receive
    status."""

    to: Address
    frame: bytes
    rate: int
    signal_dbm: int
    freq: int


@dataclass(frozen=True)
class Report:
    """The outcome of a frame, for its sender's kernel."""

    radio: bytes
    cookie: bytes
    flags: int
    rates: tuple[Rate, ...]
    signal_dbm: int
    frame: bytes
    freq: int
    begins_ns: int
    ends_ns: int


@dataclass(order=True)
class Queued:
    """A frame under way, ordered by its due time and then by the order of requests."""

    due_ns: int
    number: int
    sender: Station = field(compare=False)
    rate: int = field(compare=False)  # index of the first one
    duration_us: int = field(compare=False)
    report: Report = field(compare=False)


def airtime_us(length: int, rate: int) -> int:
    """Return the duration of a frame in us, as with OFDM, for all rates (100 kb/s); without an FCS."""
    return 16 + 4 + 4 * math.ceil((16 + 8 * length + 6) * 10 / (4 * rate))


class Medium:
    """All frames under way."""

    def __init__(self, stations: Stations, errors: Errors, seed: int = 1, start_ns: int = 0) -> None:
        self.stations, self.errors, self.draw = stations, errors, random.Random(seed)
        self.waiting: list[Queued] = []
        self.last: dict[tuple[int, int], int] = {}  # by medium and category: when the last frame so far is due
        self.number = 0
        self.moves_ns = start_ns + round(MOVE_S * 1e9)
        self.weak: dict[Address, list[float]] = {}  # duration of its weak frames, us, and their strength
        self.busy: dict[Address, float] = {}  # their share of the previous interval
        self.collect_ns = start_ns + COLLECT_US * US

    def take(
        self, now_ns: int, radio: bytes, frame: bytes, freq: int, flags: int, rates: Sequence[Rate], cookie: bytes
    ) -> int | None:
        """Accept a frame from a radio, and return when it begins. A frame of an unknown station is lost, without a
        report: None."""
        if len(frame) < LEAST_BYTES or not (sender := self.stations.find(frame[10:16])):
            return None
        self._advance(now_ns)
        category = category_of(frame)
        base = CCK if freq > 5000 else 0
        to = self.stations.find(frame[4:10])
        group = bool(frame[4] & 1)
        snr = SNR_DEFAULT if group or not to else self._snr(sender, to)
        acked, duration, used = self._attempts(sender, to, frame, base, snr, group, category, rates)
        begins = max([now_ns, *(self.last.get((sender.medium, above), 0) for above in range(category + 1))])
        due = begins + duration * US
        self.last[sender.medium, category] = due
        self.number += 1
        flags |= STAT_ACK if acked else 0
        report = Report(
            radio, cookie, flags, tuple(used if flags & STAT_ACK else rates),
            round(snr + self.stations.noise_dbm), frame, freq, begins, due,
        )  # fmt: skip
        first = rates[0][0] if rates else 0
        heapq.heappush(self.waiting, Queued(due, self.number, sender, first, duration, report))
        return begins

    def next_ns(self) -> int:
        """Return when the next frame is due; NEVER if there is none."""
        return self.waiting[0].due_ns if self.waiting else NEVER

    def due(self, now_ns: int) -> list[Delivery | Report]:
        """Return what has happened until now."""
        happened: list[Delivery | Report] = []
        while self.waiting and self.waiting[0].due_ns <= now_ns:
            frame = heapq.heappop(self.waiting)
            self._advance(frame.due_ns)
            happened += [*self._arrive(frame), frame.report]
        return happened

    def _attempts(
        self, sender: Station, to: Station | None, frame: bytes, base: int, snr: float, group: bool, category: int,
        rates: Sequence[Rate],
    ) -> tuple[bool, int, list[Rate]]:  # fmt: skip
        """Return whether the frame is acknowledged, the duration of all attempts (us), and the attempts.

        A group frame counts as acknowledged once it is sent, and a frame to an unknown address as any other.
        """
        least, most = CW[category]
        ack_us = SIFS_US + airtime_us(ACK_BYTES, RATES[base])
        window, duration, used = least, 0, [(-1, 0)] * len(rates)
        fixed = self.draw.random()  # for links with a probability: it holds for all attempts
        for stage, (rate, count) in enumerate(rates):
            if rate < 0:
                break
            for attempt in range(count):
                duration += DIFS_US + airtime_us(len(frame), RATES[min(base + rate, len(RATES) - 1)])
                if attempt:
                    duration += window * SLOT_US // 2
                    window = min(window * 2 + 1, most)
                used[stage] = rate, attempt + 1
                if group:
                    return True, duration, used
                duration += ack_us
                drawn = fixed if self.stations.mode in (Mode.PROB, Mode.SPECIFIC) else self.draw.random()
                if drawn > self._error(sender, to, snr, base + rate, len(frame)):
                    return True, duration, used
        return False, duration, used

    def _arrive(self, frame: Queued) -> list[Delivery]:
        """Deliver a frame to its station; a group frame to all that receive it."""
        report, rate = frame.report, max(frame.rate, 0)
        base = CCK if report.freq > 5000 else 0
        if not report.frame[4] & 1:
            to = self.stations.find(report.frame[4:10])
            if weak := self.stations.interference and report.signal_dbm < CCA_DBM:
                self._record_weak(frame)
            if not to or not report.flags & STAT_ACK or weak:
                return []
            return [Delivery(to.address, report.frame, rate, report.signal_dbm, report.freq)]
        found = []
        for one in self.stations.all if report.flags & STAT_ACK else ():
            if one is frame.sender:
                continue
            snr = losses.snr(self.stations, frame.sender, one) + self._fade()
            signal = round(snr + self.stations.noise_dbm)
            if signal < CCA_DBM:
                continue
            if self.draw.random() > self._error(frame.sender, one, snr, base + rate, len(report.frame)):
                found.append(Delivery(one.address, report.frame, rate, signal, report.freq))
        return found

    def _error(self, sender: Station, to: Station | None, snr: float, rate: int, length: int) -> float:
        if rate >= len(RATES) or (to and sender.medium != to.medium):  # an index of HT is taken for one of these
            return 1.0
        if self.stations.mode is Mode.PROB:
            return self.stations.link_error(sender, to) if to else 0.0
        if self.stations.mode is Mode.SPECIFIC:
            return self.stations.link_specific(sender, to, length, rate) if to else 0.0
        return self.errors.error(snr, rate, length)

    def _snr(self, sender: Station, to: Station) -> float:
        return losses.snr(self.stations, sender, to) - self._interference_db(sender, to) + self._fade()

    def _fade(self) -> int:
        """Return fading in dB; a sum of twelve uniforms approximates a Gaussian."""
        if not self.stations.fading_db:
            return 0
        return int(self.stations.fading_db * (sum(self.draw.random() for _ in range(12)) - 6))

    def _advance(self, now_ns: int) -> None:
        """Do what depends on time: steps of stations, and sums of weak frames."""
        while self.moves_ns <= now_ns:
            self.stations.move()
            self.moves_ns += round(MOVE_S * 1e9)
        if self.collect_ns <= now_ns:
            self.busy = {address: lasted / COLLECT_US for address, (lasted, _) in self.weak.items()}
            for weak in self.weak.values():
                weak[0] = 0.0
            self.collect_ns += (now_ns - self.collect_ns) // (COLLECT_US * US) * COLLECT_US * US + COLLECT_US * US

    def _record_weak(self, frame: Queued) -> None:
        weak = self.weak.setdefault(frame.sender.address, [0.0, 0.0])
        weak[0] += frame.duration_us
        weak[1] = frame.report.signal_dbm

    def _interference_db(self, sender: Station, to: Station) -> int:
        """Return by how many dB weak frames of others lower an SNR. Each counts with its strength at its own receiver,
        and with the probability that it was on the air. A single one changes nothing, as it is below the noise."""
        power = 0.0
        for address, (_, signal) in self.weak.items() if self.stations.interference else ():
            if address not in (sender.address, to.address) and self.draw.random() < self.busy.get(address, 0.0):
                power += 10 ** ((signal - self.stations.noise_dbm) / 10)
        return round(10 * math.log10(power)) if power > 1 else 0


def category_of(frame: bytes) -> int:
    """Return VO for frames other than data, BE for data without QoS, and otherwise the category of the TID."""
    kind, subtype = frame[0] >> 2 & 3, frame[0] >> 4
    if kind != 2:
        return VO
    if not subtype & 8:
        return BE
    at = 30 if frame[1] & 3 == 3 else 24
    return BY_TID[frame[at] & 7] if len(frame) > at else BE
