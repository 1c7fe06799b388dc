# SPDX-License-Identifier: BSD-3-Clause
"""The journeys of TCP segments, of which those in flight are counted (`analysis.tcp.in_flight`).

A segment's journey begins when its origin's kernel hands it to the air, and ends when its final destination first
receives it well, or when a station on the way loses it. `tcp.hops` says which frames stations served and gave up,
`analysis.traces.packets` which of them carried the same packet.

Two things are not in plain sight. A frame given up after nothing but unanswered RTSs never showed its segment: it was
the latest one that came to this station and did not leave it, or else one that began here. And a segment that came to
a station which then sent frames handed over later, but never this one, was dropped there, because queues keep order.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from analysis.tcp.hops import NEVER, Hops
from analysis.tcp.in_flight import Flight, Series
from analysis.traces.columns import begins, one_of
from analysis.traces.packets import SEGMENTS
from analysis.traces.trace import Array, Kind


@dataclass(frozen=True)
class Before:
    """What is known of the frames that came before: each segment's `journeys`, columns as these have them, and when
    each station was last handed a frame."""

    journeys: tuple[Array, Array, Array]
    latest: Array

    @classmethod
    def nothing(cls, stations: int) -> "Before":
        none = np.zeros(0, np.int64)
        return cls((none, none, none), np.zeros(stations, np.int64))


def in_flight(hops: Hops, before: Before | None = None) -> Flight:
    """The segments in flight over time. Cost: a few passes over the frames that stations served."""
    before = before or Before.nothing(hops.stations)
    columns = zip(before.journeys, journeys(hops, before.latest), strict=True)
    enter, leave, kind = (np.concatenate(parts) for parts in columns)

    def series(which: Array) -> Series:
        return Series.of(enter[which], leave[which], hops.start_ns, hops.stop_ns)

    return Flight(series(kind == Kind.TCP_DATA), series(kind == Kind.TCP_ACK), series(np.ones(kind.size, bool)))


def over(hops: Hops, until_ns: int, before: Before) -> tuple[Array, Before]:
    """Which frames tell no more of a segment in flight than is known then: those of packets whose journeys all ended in
    plain sight, and that nobody has sent since, and those of no segment."""
    legs = _legs(hops)
    delivered, returned, given_up = _delivered(hops, legs), _returned(hops, legs), _given_up(hops, legs)
    under_way = (delivered == NEVER) & (returned == NEVER)
    leave = np.where(~under_way, np.where(delivered < NEVER, delivered, returned), given_up)
    known = leave < NEVER
    known[[journey for came in _stranded(hops, legs, under_way).values() for _, journey in came]] = False
    packet = np.cumsum(begins(hops.packet[legs.frame])) - 1
    done = np.ones(packet.max(initial=-1) + 1, bool)
    np.logical_and.at(done, packet, known[legs.journey] & (hops.ended[legs.frame] < until_ns))
    journey, frames = np.zeros(legs.first.size, bool), np.zeros(hops.station.size, bool)
    journey[legs.journey], frames[legs.frame] = done[packet], done[packet]
    frames |= hops.shown & ~one_of(hops.kind, SEGMENTS) & (hops.ended < until_ns)
    new = hops.queued[legs.first[journey]], leave[journey], hops.kind[legs.first[journey]]
    latest = before.latest.copy()
    np.maximum.at(latest, hops.station[frames], hops.queued[frames])
    a, b, c = (np.concatenate(parts) for parts in zip(before.journeys, new, strict=True))
    return frames, Before((a, b, c), latest)


def journeys(hops: Hops, latest: Array | None = None) -> tuple[Array, Array, Array]:
    """When each segment came and left (ns; NEVER: still there at the stop), and its Kind. `latest`: when each station
    was last handed a frame before these."""
    legs = _legs(hops)
    delivered, dropped = _delivered(hops, legs), _given_up(hops, legs)
    returned = _returned(hops, legs)
    dropped = np.where(returned < NEVER, returned, dropped)
    under_way = (delivered == NEVER) & (returned == NEVER)
    asked, journey, stranded = _asked_for(hops, _stranded(hops, legs, under_way))
    gone = np.where(hops.lost[asked], hops.ended[asked], NEVER)  # what the RTSs asked for
    known = (journey >= 0) & (gone < NEVER)
    dropped[journey[known]] = gone[known]
    for overtaken, came in _overtaken(hops, stranded, latest):
        dropped[overtaken] = came

    unseen = journey < 0  # each is a journey of its own
    first = np.concatenate([legs.first, asked[unseen]])
    leave = np.concatenate([np.where(delivered < NEVER, delivered, dropped), gone[unseen]])
    return hops.queued[first], leave, hops.kind[first]


@dataclass(frozen=True)
class _Legs:
    """The frames that showed their segment, by packet and then time, as legs of journeys.

    `frame`: its row in Hops; `journey`: numbered from 0; `home`: it is for the packet's destination. `first` has a row
    for each journey: its first frame.
    """

    frame: Array
    journey: Array
    home: Array
    first: Array


def _legs(hops: Hops) -> _Legs:
    """One packet's frames make up a journey, until its origin sends it again."""
    frame = np.flatnonzero(one_of(hops.kind, SEGMENTS) & hops.shown)
    packet, destination = hops.packet[frame], hops.destination[frame]
    order = np.lexsort((hops.first[frame], packet))
    frame, packet, destination = frame[order], packet[order], destination[order]
    station, new = hops.station[frame], begins(packet)
    origin = station[np.maximum.accumulate(np.where(new, np.arange(frame.size), 0))]
    new |= station == origin
    return _Legs(frame, np.cumsum(new) - 1, hops.receiver[frame] == destination, frame[new])


def _delivered(hops: Hops, legs: _Legs) -> Array:
    """When each journey's segment first reached its destination, or NEVER."""
    delivered = np.full(legs.first.size, NEVER)
    np.minimum.at(delivered, legs.journey[legs.home], hops.arrived[legs.frame[legs.home]])
    return delivered


def _given_up(hops: Hops, legs: _Legs) -> Array:
    """When a station last gave up each journey's segment, and the next had not received it; or NEVER."""
    lost = hops.lost[legs.frame] & (hops.arrived[legs.frame] == NEVER)
    given_up = np.full(legs.first.size, -1)
    np.maximum.at(given_up, legs.journey[lost], hops.ended[legs.frame[lost]])
    return np.where(given_up >= 0, given_up, NEVER)


def _returned(hops: Hops, legs: _Legs) -> Array:
    """When each journey's segment came back to where it began, as routes may form a loop, or NEVER. It ends there: a
    kernel drops what comes with an address of its own as the source."""
    back = hops.receiver[legs.frame] == hops.station[legs.first[legs.journey]]
    returned = np.full(legs.first.size, NEVER)
    np.minimum.at(returned, legs.journey[back], hops.arrived[legs.frame[back]])
    return returned


# By station and Kind, in the order in which they came there: when each segment did, and its journey.
_Stranded = dict[tuple[int, int], list[tuple[int, int]]]


def _stranded(hops: Hops, legs: _Legs, under_way: Array) -> _Stranded:
    """The segments that came to a station which then showed no frame of theirs. In a loop it may have shown one before.
    `under_way`: whether each journey's segment neither was delivered nor came back."""
    those = np.flatnonzero(under_way[legs.journey])
    shown = zip(legs.journey[those].tolist(), hops.station[legs.frame[those]].tolist(), strict=True)
    times = hops.first[legs.frame[those]].tolist()
    last_shown = dict(zip(shown, times, strict=True))  # by journey and station, as legs are in the order of time
    came = those[hops.arrived[legs.frame[those]] < NEVER]
    came = came[np.argsort(hops.arrived[legs.frame[came]], kind="stable")]
    frame, journey = legs.frame[came], legs.journey[came]
    columns = (hops.receiver[frame], hops.kind[legs.first[journey]], hops.arrived[frame], journey)
    stranded: _Stranded = {}
    for station, kind, time, number in zip(*(column.tolist() for column in columns), strict=True):
        if last_shown.get((number, station), 0) < time:
            stranded.setdefault((station, kind), []).append((time, number))
    return stranded


def _asked_for(hops: Hops, stranded: _Stranded) -> tuple[Array, Array, _Stranded]:
    """The frames of which nothing but RTSs were sent, the journey that each was on, and who is then still stranded.

    A frame was that of the latest segment of its kind that had come by when it was handed over; -1: it began here.
    """
    left = {place: came.copy() for place, came in stranded.items()}
    asked = np.flatnonzero(one_of(hops.kind, SEGMENTS) & ~hops.shown)
    journey = []
    columns = (hops.station[asked], hops.kind[asked], hops.queued[asked])
    for station, kind, queued in zip(*(column.tolist() for column in columns), strict=True):
        came = left.get((station, kind), [])
        by_then = bisect_right(came, queued, key=itemgetter(0))
        journey.append(came.pop(by_then - 1)[1] if by_then else -1)
    return asked, np.array(journey, np.int64), left


def _overtaken(hops: Hops, stranded: _Stranded, before: Array | None) -> Iterator[tuple[int, int]]:
    """The stranded segments whose station was later handed others to send, as journey and when it came there: a queue
    keeps order, so it was full."""
    latest = np.zeros(hops.stations, np.int64) if before is None else before.copy()
    np.maximum.at(latest, hops.station, hops.queued)
    return ((journey, time) for (at, _), came in stranded.items() for time, journey in came if time < latest[at])
