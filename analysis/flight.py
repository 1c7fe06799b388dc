# SPDX-License-Identifier: BSD-3-Clause
"""TCP segments in flight: how many DATA and ACK segments are on the path, over time.

A segment's journey begins when its origin's kernel hands it to the air, and ends when its final destination first
receives it well, or when a station on the way loses it. `analysis.hops` says which frames stations served and gave up;
the IP header names a packet from hop to hop (addresses, identification, ports, sequence numbers; for IPv6, which has no
identification, packets equal byte for byte are one journey at a time).

Two things are not in plain sight. A frame given up after nothing but unanswered RTSs never showed its segment: it was
the latest one that came to this station and did not leave it, or else one that began here. And a segment that came to
a station which then sent frames handed over later, but never this one, was dropped there, because queues keep order.
"""

from dataclasses import dataclass
from ipaddress import ip_address

import numpy as np

from analysis.dissect import Frames
from analysis.hops import NEVER, SEGMENTS, Hops
from analysis.result import InFlight
from analysis.trace import Array, Kind


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


def in_flight(hops: Hops) -> Flight:
    """The segments in flight over time. Cost: a few passes over the frames that stations served."""
    enter, leave, kind = journeys(hops)

    def series(which: Array) -> Series:
        return Series.of(enter[which], leave[which], hops.start_ns, hops.stop_ns)

    return Flight(series(kind == Kind.TCP_DATA), series(kind == Kind.TCP_ACK), series(np.ones(kind.size, bool)))


def journeys(hops: Hops) -> tuple[Array, Array, Array]:
    """When each segment came and left (ns; NEVER: still there at the stop), and its Kind."""
    segment = np.isin(hops.kind, SEGMENTS)
    frame = np.flatnonzero(segment & (hops.packet >= 0))
    key, destination = _identify(hops, hops.packet[frame])
    order = np.lexsort((hops.first[frame], key))
    frame, key, destination = frame[order], key[order], destination[order]
    new = np.append(True, key[1:] != key[:-1])[: key.size]
    station, receiver, arrived = hops.station[frame], hops.receiver[frame], hops.arrived[frame]
    new |= station == station[np.maximum.accumulate(np.where(new, np.arange(key.size), 0))]  # its origin's, again
    journey = np.cumsum(new) - 1
    count = int(new.sum())
    enter, kind = hops.queued[frame[new]], hops.kind[frame[new]]

    at_home = (arrived < NEVER) & (receiver == destination)
    delivered = np.full(count, NEVER)
    np.minimum.at(delivered, journey[at_home], arrived[at_home])
    dropped = np.full(count, -1)
    gave_up = hops.lost[frame] & (arrived == NEVER)
    np.maximum.at(dropped, journey[gave_up], hops.ended[frame[gave_up]])

    # Journeys that came to a station and never left it.
    unsettled = delivered[journey] == NEVER
    passed_on = set(zip(journey[unsettled].tolist(), station[unsettled].tolist(), strict=True))
    stranded = np.flatnonzero(unsettled & (arrived < NEVER))
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in stranded[np.argsort(arrived[stranded], kind="stable")].tolist():
        j, there = int(journey[row]), int(receiver[row])
        if (j, there) not in passed_on:
            waiting.setdefault((there, int(kind[j])), []).append((int(arrived[row]), j))
    # Frames that only ever asked by RTS: theirs, or segments that began here.
    extra: list[tuple[int, int, int]] = []
    for f in np.flatnonzero(segment & (hops.packet < 0)).tolist():
        came = waiting.get((int(hops.station[f]), int(hops.kind[f])), [])
        mine = max((place for place, (time, _) in enumerate(came) if time <= hops.queued[f]), default=None)
        gone = int(hops.ended[f]) if hops.lost[f] else NEVER
        if mine is None:
            extra.append((int(hops.queued[f]), gone, int(hops.kind[f])))
        elif gone < NEVER:
            dropped[came.pop(mine)[1]] = gone
        else:
            came.pop(mine)
    latest = np.zeros(len(hops.ips), np.int64)
    np.maximum.at(latest, hops.station, hops.queued)
    for (at, _), came in waiting.items():
        for time, j in came:
            if time < latest[at]:
                dropped[j] = time

    leave = np.where(delivered < NEVER, delivered, np.where(dropped >= 0, dropped, NEVER))
    more = np.array(extra, np.int64).reshape(-1, 3).T
    return tuple(np.concatenate(pair) for pair in zip((enter, leave, kind), more, strict=True))  # type: ignore[return-value]


def _identify(hops: Hops, packet: Array) -> tuple[Array, Array]:
    """For TCP segments, by their rows in `frames`: a number that is the same for one packet on all its hops, and the
    station that has its IP destination (-1: none)."""
    tcp = hops.tcp
    at = np.searchsorted(tcp.row, packet)
    frames, network, transport = hops.frames.pick(packet), tcp.network[at], tcp.transport[at]
    v6 = tcp.version[at] == 6
    address = np.where(v6, network + 8, network + 12)
    words = [frames.field(transport + 4 * word, 4) for word in range(3)]  # ports, sequence, acknowledgement
    words += [tcp.payload[at], np.where(v6, 0, frames.field(network + 4, 2))]
    source, target = _mix(_ip_words(frames, address, v6)), _mix(_ip_words(frames, address + np.where(v6, 16, 4), v6))
    known = np.array([_ip_number(ip) for ip in hops.ips], np.uint64)
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
