# SPDX-License-Identifier: BSD-3-Clause
"""A tiny air for tests: stations on a string that send without listening first.

It has RTS, CTS, ACK, retries, limits and a drop-tail queue, but no carrier sense, so every outcome and every reason
occurs many times within a second of air time. It writes the records of `air.trace` and counts as the air module does,
by brute force: whatever overlaps at a station is corrupted. What `analysis` derives must agree with it.
"""

import heapq
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from analysis.traces.trace import Kind, Outcome, Reason

SIFS, SLOT, SNAP, NOBODY = 10_000, 20_000, 128, 0xFFFF
START = 1_000_000_000
RTS_FC, CTS_FC, ACK_FC = 0xB4, 0xC4, 0xD4


def airtime_ns(length: int, rate: int) -> int:
    """DSSS, long preamble: 192 us and 8 bits a byte."""
    return 192_000 + -(-length * 80 // rate) * 1000


def mac(station: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, station + 1])


def ip(station: int) -> bytes:
    return bytes([10, 0, 0, station + 1])


def ipv4(source: bytes, destination: bytes, protocol: int, payload: bytes, ident: int = 0) -> bytes:
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, 0x4000, 64, protocol, 0, source, destination)
    return b"\xaa\xaa\x03\0\0\0\x08\0" + head + payload


def tcp(sport: int, dport: int, seq: int, ack: int, flags: int = 0x10, payload: bytes = b"") -> bytes:
    return struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 65535, 0, 0) + payload


def udp(sport: int, dport: int, payload: bytes = b"") -> bytes:
    return struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload


def data_header(receiver: bytes, transmitter: bytes, seq: int, fc0: int = 0x08, duration: int = 0) -> bytes:
    return struct.pack("<BBH6s6s6sH", fc0, 0, duration, receiver, transmitter, b"\x02\xca\xfe\0\0\0", seq << 4 & 0xFFFF)


@dataclass
class Frame:
    kind: Kind
    receiver: int
    body: bytes
    seq: int
    queued: int
    msdu: int
    rts: bool
    group: bool = False
    attempt: int = 0
    short: int = 0
    long: int = 0
    rts_tries: int = 0
    last: int = 0
    sent_at: int = 0  # when its last transmission was over
    received: bool = False
    segment: int = 0


@dataclass
class Arrival:
    id: int
    started: int  # when its preamble is over; never, if it is too weak
    outcome: Outcome = Outcome.OK
    other: int = NOBODY
    other_kind: int = 0


@dataclass
class Station:
    index: int
    queue: list[Frame] = field(default_factory=list)
    here: dict[int, Arrival] = field(default_factory=dict)
    sending: int = -1  # kind
    sending_id: int = 0
    waiting: Kind | None = None
    owes: bool = False
    armed: bool = False
    msdus: int = 0
    seen: dict[int, int] = field(default_factory=dict)


def _segment(packet: bytes) -> int:
    """Return the number of a TCP segment, here its sequence number."""
    return int.from_bytes(packet[8 + 24 : 8 + 28], "big")


def _table(columns: type[Any]) -> dict[str, dict[str, int]]:
    return {kind.name.lower(): {c.name: 0 for c in columns} for kind in Kind}


class TinyAir:
    """`stations` in a row, 200 m apart: neighbours are received, those two away are sensed, others are not heard."""

    short_limit, long_limit, queue_limit = 7, 4, 6

    def __init__(self, stations: int = 4, seed: int = 1, rts: Callable[[int], bool] = lambda length: length > 100):
        self.random = random.Random(seed)
        self.rts = rts
        self.now = START
        self.records: list[bytes] = []
        self.stations = [Station(i) for i in range(stations)]
        self.counters: list[dict[str, Any]] = [
            {
                "tx": {k.name.lower(): 0 for k in Kind}, "airtime_ns": {k.name.lower(): 0 for k in Kind},
                "rx": _table(Outcome), "addressed": _table(Outcome), "end": _table(Reason),
                "retries": {"short": 0, "long": 0}, "busy_ns": 0, "nav_ns": 0, "tx_ns": 0,
            }
            for _ in range(stations)
        ]  # fmt: skip
        self.events: list[tuple[int, int, int, Callable[[], None]]] = []
        self.numbers = self.ids = self.segments = 0
        self.journeys: dict[int, list[int]] = {}  # segment: [queued, left or -1]
        self.journey_kind: dict[int, Kind] = {}

    # The network: frames in, frames out.

    def at(self, time: int, action: Callable[[], None], begins: bool = True) -> None:
        self.numbers += 1
        heapq.heappush(self.events, (time, int(begins), self.numbers, action))

    def enqueue(self, station: int, kind: Kind, receiver: int, payload: bytes, fc0: int = 0x08) -> None:
        s = self.stations[station]
        s.msdus += 1
        group = receiver == NOBODY
        address = b"\xff" * 6 if group else mac(receiver)
        header = data_header(address, mac(station), s.msdus, fc0, 0 if group else 314)
        if kind == Kind.ENCRYPTED:
            header = header[:1] + b"\x40" + header[2:]  # Protected Frame
        body = header + payload
        rts = not group and self.rts(len(body) + 4)
        frame = Frame(kind, receiver, body, s.msdus, self.now, s.msdus, rts, group)
        if kind in (Kind.TCP_DATA, Kind.TCP_ACK):
            frame.segment = _segment(payload)
        if len(s.queue) >= self.queue_limit:
            self.end(s, frame, Reason.QUEUE_FULL)
            return
        s.queue.append(frame)
        self.arm(s)

    def send_segment(self, source: int, destination: int, payload: bytes = b"x" * 1460) -> None:
        """A TCP segment with payload, or a pure ACK, on its way hop by hop."""
        self.segments += 1
        kind = Kind.TCP_DATA if payload else Kind.TCP_ACK
        packet = ipv4(ip(source), ip(destination), 6, tcp(1, 2, self.segments, 7, 0x10, payload), self.segments)
        self.journeys[self.segments] = [self.now, -1]
        self.journey_kind[self.segments] = kind
        self.forward(source, destination, kind, packet)

    def forward(self, station: int, destination: int, kind: Kind, packet: bytes) -> None:
        self.enqueue(station, kind, station + (1 if destination > station else -1), packet)

    # One station's exchange.

    def arm(self, s: Station) -> None:
        if s.queue and not s.armed:
            s.armed = True
            window = 150 << min(4, s.queue[0].short + s.queue[0].long)
            self.at(self.now + self.random.randrange(1, window) * SLOT, lambda: self.access(s))

    def access(self, s: Station) -> None:
        s.armed = False
        if s.sending >= 0 or s.waiting is not None or s.owes:
            self.arm(s)
            return
        frame = s.queue[0]
        if frame.rts:
            frame.rts_tries += 1
            duration = 3 * SIFS + airtime_ns(14, 10) * 2 + airtime_ns(len(frame.body) + 4, 20)
            octets = struct.pack("<BBH6s6s", RTS_FC, 0, duration // 1000, mac(frame.receiver), mac(s.index))
            self.transmit(s, Kind.RTS, frame.receiver, octets, 10, frame)
        else:
            self.send_data(s)

    def send_data(self, s: Station) -> None:
        frame = s.queue[0]
        frame.attempt += 1
        octets = bytearray(frame.body)
        octets[1] |= 8 if frame.attempt > 1 else 0
        self.transmit(s, frame.kind, frame.receiver, bytes(octets), 20, frame)

    def transmit(self, s: Station, kind: Kind, receiver: int, octets: bytes, rate: int, frame: Frame | None) -> None:
        self.ids += 1
        number, length = self.ids, len(octets) + 4
        duration = airtime_ns(length, rate)
        count = self.counters[s.index]
        count["tx"][kind.name.lower()] += 1
        count["airtime_ns"][kind.name.lower()] += duration
        cut = octets[:SNAP]
        if frame:
            frame.last, frame.sent_at = number, self.now + duration
        attempt = (frame.rts_tries if kind == Kind.RTS else frame.attempt) if frame else 1
        head = struct.pack(
            "<BBHHqqIHHqHBBIIHH", 1, kind, s.index, receiver, number, self.now, duration, rate, 2412,
            frame.queued if frame else 0, length, attempt, 0, frame.msdu if frame else 0, 0, len(cut), 0,
        )  # fmt: skip
        self.record(head + cut)
        s.sending, s.sending_id = kind, number
        for arrival in s.here.values():
            if arrival.outcome == Outcome.OK:
                arrival.outcome, arrival.other, arrival.other_kind = Outcome.OWN_TX, s.index, kind
        self.at(self.now + duration, lambda: self.sent(s, kind, frame), False)
        for other in self.stations:
            distance = abs(other.index - s.index)
            if 0 < distance <= 2:
                self.hear(s, other, distance, kind, receiver, octets, number, duration, frame)

    def hear(
        self, s: Station, other: Station, distance: int, kind: Kind, receiver: int, octets: bytes, number: int,
        duration: int, frame: Frame | None,
    ) -> None:  # fmt: skip
        begin = self.now + 667 * distance

        def arrive() -> None:
            arrival = Arrival(number, begin + 192_000 if distance == 1 else 1 << 62)
            if other.sending >= 0:
                arrival.outcome, arrival.other, arrival.other_kind = Outcome.OWN_TX, other.index, other.sending
            for old in other.here.values():
                if old.outcome == Outcome.OK:
                    old.outcome, old.other, old.other_kind = Outcome.COLLISION, s.index, kind
                if arrival.outcome == Outcome.OK:
                    arrival.outcome, arrival.other = Outcome.COLLISION, NOBODY
            other.here[number] = arrival

        def leave() -> None:
            arrival = other.here.pop(number)
            if distance == 2:
                arrival.outcome = Outcome.BELOW_THRESHOLD
            addressed = receiver == other.index
            name = kind.name.lower()
            if distance == 1:
                self.counters[other.index]["rx"][name][arrival.outcome.name] += 1
            if addressed:
                self.counters[other.index]["addressed"][name][arrival.outcome.name] += 1
            if distance == 1 or addressed:
                self.record(
                    struct.pack(
                        "<BBHHqqiBBH", 2, arrival.outcome, other.index, arrival.other, number, begin,
                        -50_000 - 10_000 * distance, arrival.other_kind, addressed, 0,
                    )
                )  # fmt: skip
            if arrival.outcome == Outcome.OK and addressed:
                self.received(other, s, kind, octets, frame)

        self.at(begin, arrive)
        self.at(begin + duration, leave, False)

    def sent(self, s: Station, kind: Kind, frame: Frame | None) -> None:
        s.sending = -1
        number = s.sending_id
        if frame and frame.group:
            self.done(s, Reason.GROUP)
        elif frame:
            s.waiting = Kind.CTS if kind == Kind.RTS else Kind.ACK
            deadline = self.now + SIFS + SLOT + 192_000
            self.at(deadline, lambda: self.timeout(s, number, deadline), False)

    def timeout(self, s: Station, number: int, deadline: int) -> None:
        """No answer has begun by the deadline; one that has begun is received to its end first."""
        if s.waiting is None or s.sending_id != number:
            return
        if any(a.started <= deadline and a.outcome != Outcome.OWN_TX for a in s.here.values()):
            self.at(self.now + 1000, lambda: self.timeout(s, number, deadline), False)
            return
        frame = s.queue[0]
        after_rts, s.waiting = frame.rts and s.waiting == Kind.ACK, None
        retries = self.counters[s.index]["retries"]
        if after_rts:
            frame.long += 1
            retries["long"] += 1
            reason = Reason.LONG_LIMIT if frame.long == self.long_limit else None
        else:
            frame.short += 1
            retries["short"] += 1
            tries = frame.rts_tries if frame.rts else frame.short
            reason = Reason.RTS_LIMIT if frame.rts else Reason.SHORT_LIMIT
            reason = reason if tries == self.short_limit else None
        if reason:
            self.done(s, reason)
        else:
            self.arm(s)

    def received(self, s: Station, by: Station, kind: Kind, octets: bytes, frame: Frame | None) -> None:
        if kind in (Kind.CTS, Kind.ACK):
            if s.waiting == kind and kind == Kind.CTS:
                s.queue[0].rts_tries = 0
                s.waiting, s.owes = None, True
                self.at(self.now + SIFS, lambda: self.respond(s, lambda: self.send_data(s)))
            elif s.waiting == kind:
                s.waiting = None
                self.done(s, Reason.ACKED)
            return
        if s.sending < 0 and s.waiting is None and not s.owes:
            s.owes = True
            answer = Kind.CTS if kind == Kind.RTS else Kind.ACK
            reply = struct.pack("<BBH6s", CTS_FC if kind == Kind.RTS else ACK_FC, 0, 0, mac(by.index))
            respond = lambda: self.transmit(s, answer, by.index, reply, 10, None)  # noqa: E731
            self.at(self.now + SIFS, lambda: self.respond(s, respond))
        if kind in (Kind.TCP_DATA, Kind.TCP_ACK) and frame and s.seen.get(by.index) != frame.seq:
            s.seen[by.index] = frame.seq
            frame.received = True
            self.pass_on(s, kind, octets[24:])

    def respond(self, s: Station, action: Callable[[], None]) -> None:
        s.owes = False
        action()

    def pass_on(self, s: Station, kind: Kind, packet: bytes) -> None:
        destination, segment = packet[8 + 19] - 1, _segment(packet)
        if destination != s.index:
            self.forward(s.index, destination, kind, packet)
            return
        self.journeys[segment][1] = self.now
        if kind == Kind.TCP_DATA:
            self.send_segment(s.index, packet[8 + 15] - 1, b"")

    def done(self, s: Station, reason: Reason) -> None:
        self.end(s, s.queue.pop(0), reason)
        self.arm(s)

    def end(self, s: Station, frame: Frame, reason: Reason) -> None:
        if frame.segment and reason not in (Reason.ACKED, Reason.GROUP) and not frame.received:
            self.journeys[frame.segment][1] = frame.sent_at or self.now
        self.counters[s.index]["end"][frame.kind.name.lower()][reason.name] += 1
        self.record(
            struct.pack(
                "<BBHBBqqIBBH", 3, reason, s.index, frame.kind, 0, frame.last, self.now, frame.msdu, frame.short,
                frame.long, 0,
            )
        )  # fmt: skip

    def record(self, rest: bytes) -> None:
        size = len(rest) + 2 + 7 & ~7
        self.records.append(size.to_bytes(2, "little") + rest.ljust(size - 2, b"\0"))

    def run(self, seconds: float) -> bytes:
        """Run it, and return the bytes of `air.trace`."""
        stop = START + int(seconds * 1e9)
        self.record(struct.pack("<BBIqq", 4, 0, 0, START, 0))
        while self.events and self.events[0][0] <= stop:
            self.now, _, _, action = heapq.heappop(self.events)
            action()
        self.record(struct.pack("<BBIqq", 4, 1, 0, stop, 0))
        return b"".join(self.records)

    def plan(self) -> dict[str, Any]:
        """Return the parts of `plan.json` that the taps need."""
        n = len(self.stations)
        power = {1: -60_000, 2: -70_000}
        return {
            "name": "tiny", "sample_s": 1.0, "air": {
                "slot_ns": SLOT, "sifs_ns": SIFS, "signal_extension_ns": 0, "reception": "capture",
                "cs_threshold_mdbm": -75_000, "rx_threshold_mdbm": -65_000, "short_retry": 7, "long_retry": 4,
                "retry_by": "limits", "basic_rates": [10],
                "power_mdbm": [[power.get(abs(i - j)) for j in range(n)] for i in range(n)],
                "delay_ns": [[667 * abs(i - j) for j in range(n)] for i in range(n)],
            },
            "nodes": [
                {"name": f"sta{i + 1}",
                 "interfaces": [{"kind": "radio", "address": mac(i).hex(":"), "ip": f"10.0.0.{i + 1}/24"}]}
                for i in range(n)
            ],
        }  # fmt: skip


def busy_string(seconds: float, seed: int = 1, stations: int = 4, load: float = 20.0, rts_above: int = 100) -> TinyAir:
    """Return a string with `seconds` of TCP from end to end, beacons, routing and ARP, ready to run. `load`: segments a
    second."""
    air = TinyAir(stations, seed, lambda length: length > rts_above)
    last = stations - 1
    for n in range(int(seconds * load)):
        air.at(START + int(n / load * 1e9) + air.random.randrange(10_000_000), lambda: air.send_segment(0, last))
    for n in range(int(seconds * 5)):
        base = START + n * 200_000_000
        s = n % stations
        air.at(base + 1_000_000, lambda s=s: air.enqueue(s, Kind.MANAGEMENT, NOBODY, bytes(12) + b"\0\1x", 0x80))
        hello = ipv4(ip(s), b"\xff" * 4, 17, udp(698, 698, bytes(40)))
        air.at(base + 2_000_000, lambda s=s, p=hello: air.enqueue(s, Kind.ROUTING, NOBODY, p))
        if n % 4 == 1 and s < last:
            hidden = bytes(range(60))
            air.at(base + 4_000_000, lambda s=s, p=hidden: air.enqueue(s, Kind.ENCRYPTED, s + 1, p))
        if s < last:
            datagram = ipv4(ip(s), ip(s + 1), 17, udp(5000, 5001, bytes(500)))
            air.at(base + 4_000_000, lambda s=s, p=datagram: air.enqueue(s, Kind.UDP, s + 1, p))
        arp = b"\xaa\xaa\x03\0\0\0\x08\x06" + bytes(28)
        to = (s + 2) % stations if n % 3 == 2 else s + 1 if s < last else s - 1  # two hops away is out of range
        air.at(base + 3_000_000, lambda s=s, p=arp, to=to: air.enqueue(s, Kind.OTHER, to, p))
    return air
