# SPDX-License-Identifier: BSD-3-Clause
"""The journeys of TCP segments; `analysis.tcp.in_flight` counts those under way.

A journey begins when the origin's kernel hands the segment to the air. It ends when the final destination first
receives it well, or when a station on the path loses it. `tcp.hops` says which frames stations served and gave up,
`analysis.traces.packets` which frames carried the same packet.

Two cases are not directly visible. A frame that was given up after RTSs only never showed its segment: it is the latest
one that came to this station and did not leave it, or else one that began here. If a segment came to a station that
later sent frames handed over afterwards, but never this segment, the station dropped it, because queues keep order.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from analysis.tcp.hops import Hops
from analysis.tcp.in_flight import Flight, Series
from analysis.traces.columns import begins, one_of
from analysis.traces.packets import SEGMENTS
from analysis.traces.trace import NEVER, Array, Kind


@dataclass(frozen=True)
class Before:
    """What is known of earlier frames: the `journeys` of segments, in the same columns, and when each station was last
    handed a frame."""

    journeys: tuple[Array, Array, Array]
    latest: Array

    @classmethod
    def nothing(cls, stations: int) -> "Before":
        none = np.zeros(0, np.int64)
        return cls((none, none, none), np.zeros(stations, np.int64))


def in_flight(hops: Hops, before: Before | None = None) -> Flight:
    """Return the segments in flight over time. The cost is a few passes over the served frames."""
    before = before or Before.nothing(hops.stations)
    columns = zip(before.journeys, journeys(hops, before.latest), strict=True)
    enter, leave, kind = (np.concatenate(parts) for parts in columns)

    def series(which: Array) -> Series:
        return Series.of(enter[which], leave[which], hops.start_ns, hops.stop_ns)

    return Flight(series(kind == Kind.TCP_DATA), series(kind == Kind.TCP_ACK), series(np.ones(kind.size, bool)))


def over(hops: Hops, until_ns: int, before: Before) -> tuple[Array, Before]:
    """Return which frames are settled, and what is known then. Settled are frames of packets whose journeys all visibly
    ended, if none was sent since `until_ns`, and frames without a segment."""
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
    """Return when each segment entered and left (ns; NEVER: still there at the stop), and its Kind. `latest`: when each
    station was last handed a frame before these."""
    legs = _legs(hops)
    delivered, dropped = _delivered(hops, legs), _given_up(hops, legs)
    returned = _returned(hops, legs)
    dropped = np.where(returned < NEVER, returned, dropped)
    under_way = (delivered == NEVER) & (returned == NEVER)
    asked, journey, stranded = _asked_for(hops, _stranded(hops, legs, under_way))
    gone = np.where(hops.lost[asked], hops.ended[asked], NEVER)  # the frames that the RTSs were for
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
    """The frames that showed their segment, by packet and time, as legs of journeys.

    `frame`: the row in Hops. `journey`: its number, from 0. `home`: whether the frame is addressed to the packet's
    destination. `first`: the first frame of each journey.
    """

    frame: Array
    journey: Array
    home: Array
    first: Array


def _legs(hops: Hops) -> _Legs:
    """Return the legs. A packet's frames form one journey, until its origin sends it again."""
    frame = np.flatnonzero(one_of(hops.kind, SEGMENTS) & hops.shown)
    packet, destination = hops.packet[frame], hops.destination[frame]
    order = np.lexsort((hops.first[frame], packet))
    frame, packet, destination = frame[order], packet[order], destination[order]
    station, new = hops.station[frame], begins(packet)
    origin = station[np.maximum.accumulate(np.where(new, np.arange(frame.size), 0))]
    new |= station == origin
    return _Legs(frame, np.cumsum(new) - 1, hops.receiver[frame] == destination, frame[new])


def _delivered(hops: Hops, legs: _Legs) -> Array:
    """Return when each journey's segment first reached its destination, or NEVER."""
    delivered = np.full(legs.first.size, NEVER)
    np.minimum.at(delivered, legs.journey[legs.home], hops.arrived[legs.frame[legs.home]])
    return delivered


def _given_up(hops: Hops, legs: _Legs) -> Array:
    """Return when a station last gave up each journey's segment without the next station having it, or NEVER."""
    lost = hops.lost[legs.frame] & (hops.arrived[legs.frame] == NEVER)
    given_up = np.full(legs.first.size, -1)
    np.maximum.at(given_up, legs.journey[lost], hops.ended[legs.frame[lost]])
    return np.where(given_up >= 0, given_up, NEVER)


def _returned(hops: Hops, legs: _Legs) -> Array:
    """Return when each journey's segment came back to its origin, as in a routing loop, or NEVER. The journey ends
    there: a kernel drops packets with its own address as the source."""
    back = hops.receiver[legs.frame] == hops.station[legs.first[legs.journey]]
    returned = np.full(legs.first.size, NEVER)
    np.minimum.at(returned, legs.journey[back], hops.arrived[legs.frame[back]])
    return returned


# By station and Kind, in order of arrival: the arrival time of each segment there, and its journey.
_Stranded = dict[tuple[int, int], list[tuple[int, int]]]


def _stranded(hops: Hops, legs: _Legs, under_way: Array) -> _Stranded:
    """Return the segments that came to a station which then showed no frame of them; in a loop it may have shown one
    before. `under_way`: whether each journey's segment was neither delivered nor returned."""
    those = np.flatnonzero(under_way[legs.journey])
    shown = zip(legs.journey[those].tolist(), hops.station[legs.frame[those]].tolist(), strict=True)
    times = hops.first[legs.frame[those]].tolist()
    last_shown = dict(zip(shown, times, strict=True))  # by journey and station, as legs are sorted by time
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
    """Return the frames of which only RTSs were sent, the journey of each (-1: it began here), and the segments that
    are still stranded.

    Such a frame carried the latest segment of its kind that had arrived when the frame was handed over.
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
    """Yield the stranded segments whose station was later handed others to send, as journey and arrival time there. A
    queue keeps order, so it was full."""
    latest = np.zeros(hops.stations, np.int64) if before is None else before.copy()
    np.maximum.at(latest, hops.station, hops.queued)
    return ((journey, time) for (at, _), came in stranded.items() for time, journey in came if time < latest[at])
