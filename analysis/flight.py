# SPDX-License-Identifier: BSD-3-Clause
"""TCP segments in flight: how many DATA and ACK segments are on the path, over time.

A segment's journey begins when its origin's kernel hands it to the air, and ends when its final destination first
receives it well, or when a station on the way loses it. Only the pcapng is asked: the IP header names a packet from
hop to hop (addresses, identification, ports, sequence numbers; for IPv6, which has no identification, packets equal
byte for byte are one journey at a time), and `analysis.observe` says which frames stations gave up.

Two things are not in plain sight. A frame given up after nothing but unanswered RTSs never showed its segment: it was
the latest one that came to this station and did not leave it, or else one that began here. And a segment that came to
a station which then sent frames handed over later, but never this one, was dropped there, because queues keep order.
"""

from dataclasses import dataclass
from ipaddress import ip_address

import numpy as np

from analysis import exchanges
from analysis.dissect import Frames
from analysis.observe import Observation
from analysis.trace import GIVEN_UP, Array, Kind, Outcome
from emulation.result import InFlight

NEVER = np.iinfo(np.int64).max
SEGMENTS = (Kind.TCP_DATA, Kind.TCP_ACK)


@dataclass(frozen=True)
class Series:
    """A count over time: `count[i]` holds from `time_s[i]`, seconds since the start, until the next event."""

    time_s: Array
    count: Array
    air_s: float

    @classmethod
    def of(cls, enter_ns: Array, leave_ns: Array, start_ns: int, stop_ns: int) -> "Series":
        """From when each segment came and left; NEVER: it was there at the stop."""
        gone = leave_ns[leave_ns < stop_ns]
        time = np.concatenate([enter_ns.clip(min=start_ns), gone])
        step = np.concatenate([np.ones(enter_ns.size, np.int64), np.full(gone.size, -1)])
        order = np.argsort(time, kind="stable")
        return cls((time[order] - start_ns) / 1e9, np.cumsum(step[order]), (stop_ns - start_ns) / 1e9)

    @property
    def mean(self) -> float:
        """The mean over the air time, each count weighted with how long it held."""
        held = np.diff(np.append(self.time_s, self.air_s))
        return float((self.count * held).sum() / self.air_s) if self.air_s else 0.0

    def running_average(self, samples: int = 101) -> Array:
        """The centred running average over `samples` (odd) events; the first and last half are left raw (seed 000)."""
        half = samples // 2
        average = self.count.astype(float)
        if average.size >= samples:
            sums = np.cumsum(np.insert(average, 0, 0.0))
            average[half : average.size - half] = (sums[samples:] - sums[:-samples]) / samples
        return average


@dataclass(frozen=True)
class Flight:
    """Segments in flight: DATA, ACK, and both."""

    data: Series
    ack: Series
    total: Series

    def means(self) -> InFlight:
        return InFlight(data=self.data.mean, ack=self.ack.mean, total=self.total.mean)


def in_flight(seen: Observation) -> Flight:
    """The segments in flight over time. Cost: a few passes over the frames that stations served."""
    enter, leave, kind = journeys(seen)
    start, stop = seen.capture.start_ns, seen.capture.stop_ns

    def series(which: Array) -> Series:
        return Series.of(enter[which], leave[which], start, stop)

    return Flight(series(kind == Kind.TCP_DATA), series(kind == Kind.TCP_ACK), series(np.ones(kind.size, bool)))


def journeys(seen: Observation) -> tuple[Array, Array, Array]:
    """When each segment came and left (ns; NEVER: still there at the stop), and its Kind."""
    sent, served, attempts = seen.sent, seen.served, seen.attempts
    queued = seen.capture.queued_ns(sent.row[attempts.tx[served.first]])
    queued = np.where(queued < 0, sent.time[attempts.tx[served.first]], queued)
    last_tx = attempts.tx[served.last]
    ended = sent.time[last_tx] + sent.airtime[last_tx]
    segment = np.isin(seen.served_kind, SEGMENTS)
    final_frame = np.append(served.station[1:] != served.station[:-1], True)[: served.station.size]
    lost = ((served.reason == exchanges.OPEN) & ~final_frame) | np.isin(served.reason, GIVEN_UP)

    frame = np.flatnonzero(segment & (served.data >= 0))
    key, destination = _identify(seen, attempts.tx[served.data[frame]])
    order = np.lexsort((sent.time[attempts.tx[served.first[frame]]], key))
    frame, key, destination = frame[order], key[order], destination[order]
    new = np.append(True, key[1:] != key[:-1])[: key.size]
    origin = served.station[frame][np.maximum.accumulate(np.where(new, np.arange(key.size), 0))]
    new |= served.station[frame] == origin
    journey = np.cumsum(new) - 1
    count = int(new.sum())
    enter, kind = queued[frame[new]], seen.served_kind[frame[new]]

    arrived = _first_reception(seen)[frame]
    receiver = sent.receiver[attempts.tx[served.data[frame]]]
    at_home = (arrived < NEVER) & (receiver == destination)
    delivered = np.full(count, NEVER)
    np.minimum.at(delivered, journey[at_home], arrived[at_home])
    dropped = np.full(count, -1)
    gave_up = lost[frame] & (arrived == NEVER)
    np.maximum.at(dropped, journey[gave_up], ended[frame[gave_up]])

    # Journeys that came to a station and never left it.
    passed_on = set(zip(journey.tolist(), served.station[frame].tolist(), strict=True))
    stranded = np.flatnonzero((arrived < NEVER) & ~at_home)
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for j, station, time in sorted(
        zip(journey[stranded].tolist(), receiver[stranded].tolist(), arrived[stranded].tolist(), strict=True),
        key=lambda arrival: arrival[2],
    ):
        if (j, station) not in passed_on and delivered[j] == NEVER:
            waiting.setdefault((station, int(kind[j])), []).append((time, j))
    # Frames that only ever asked by RTS: theirs, or segments that began here.
    extra: list[tuple[int, int, int]] = []
    for f in np.flatnonzero(segment & (served.data < 0)).tolist():
        came = waiting.get((int(served.station[f]), int(seen.served_kind[f])), [])
        mine = max((place for place, (time, _) in enumerate(came) if time <= queued[f]), default=None)
        gone = int(ended[f]) if lost[f] else NEVER
        if mine is None:
            extra.append((int(queued[f]), gone, int(seen.served_kind[f])))
        elif gone < NEVER:
            dropped[came.pop(mine)[1]] = gone
        else:
            came.pop(mine)
    latest = np.zeros(len(seen.capture.interfaces), np.int64)
    np.maximum.at(latest, served.station, queued)
    for (station, _), came in waiting.items():
        for time, j in came:
            if time < latest[station]:
                dropped[j] = time

    leave = np.where(delivered < NEVER, delivered, np.where(dropped >= 0, dropped, NEVER))
    more = np.array(extra, np.int64).reshape(-1, 3).T
    return tuple(np.concatenate(pair) for pair in zip((enter, leave, kind), more, strict=True))  # type: ignore[return-value]


def _identify(seen: Observation, tx: Array) -> tuple[Array, Array]:
    """For transmissions of TCP segments: a number that is the same for one packet on all its hops, and the station
    that has its IP destination (-1: none)."""
    tcp = seen.sent.tcp
    at = np.searchsorted(tcp.row, tx)
    frames, network, transport = seen.sent.frames.pick(tx), tcp.network[at], tcp.transport[at]
    v6 = tcp.version[at] == 6
    address = np.where(v6, network + 8, network + 12)
    words = [frames.field(transport + 4 * word, 4) for word in range(3)]  # ports, sequence, acknowledgement
    words += [tcp.payload[at], np.where(v6, 0, frames.field(network + 4, 2))]
    source, target = _mix(_ip_words(frames, address, v6)), _mix(_ip_words(frames, address + np.where(v6, 16, 4), v6))
    known = np.array([_ip_number(i.ip) for i in seen.capture.interfaces[1:]], np.uint64)
    by_ip = np.argsort(known)
    place = np.searchsorted(known[by_ip], target).clip(max=known.size - 1)
    return _mix([source, target, *words]), np.where(known[by_ip][place] == target, by_ip[place], -1)


def _ip_words(frames: Frames, at: Array, v6: Array) -> list[Array]:
    """The four 32-bit words of an IP address; of IPv4's, all but the first are zero."""
    return [np.where(v6 | (word == 0), frames.field(at + 4 * word, 4), 0) for word in range(4)]


def _ip_number(ip: str) -> int:
    packed = ip_address(ip).packed.ljust(16, b"\0") if ip else b"\xff" * 16
    return int(_mix(list(np.frombuffer(packed, ">u4").reshape(4, 1)))[0])


def _mix(words: list[Array]) -> Array:
    """One 64-bit number of several (Fowler-Noll-Vo's product, with a shift so that high bits count too)."""
    value = np.full(words[0].shape, 0xCBF29CE484222325, np.uint64)
    for word in words:
        value = (value ^ word.astype(np.uint64)) * np.uint64(0x100000001B3)
        value ^= value >> np.uint64(29)
    return value


def _first_reception(seen: Observation) -> Array:
    """When each served frame was first received well by whom it was for; NEVER if it was not."""
    received, sent = seen.received, seen.sent
    served_of = np.full(sent.row.size, -1)
    served_of[seen.attempts.tx] = seen.served.of_attempt
    well = received.addressed & (received.outcome == Outcome.OK) & (sent.kind[received.tx] != Kind.RTS)
    tx = received.tx[well]
    first = np.full(seen.served.first.size, NEVER)
    mine = served_of[tx] >= 0
    np.minimum.at(first, served_of[tx][mine], (received.time[well] + sent.airtime[tx])[mine])
    return first
