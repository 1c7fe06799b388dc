# SPDX-License-Identifier: BSD-3-Clause
"""The paths of packets: the stations over which each DATA segment travelled that reached its destination.

Only frames on the air are used. A frame that its receiver got is a leg of its packet (`analysis.traces.packets`). The
first leg to the destination ends the path; the latest earlier leg to that leg's sender precedes it, and so on back to
the source. So the routing protocol does not matter, nor how often a frame was sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from ipaddress import IPv4Address
from typing import Any

import numpy as np

from analysis.taps.aired import Aired
from analysis.taps.phy import ips_of, radios
from analysis.traces.columns import begins
from analysis.traces.dissect import Frames, classify
from analysis.traces.packets import identify
from analysis.traces.trace import NOBODY, Array, Kind, Outcome, Trace

LONGEST = 32  # hops; the rest of a longer path is not followed
NONE = -1
COLUMNS = 1200  # pixel columns of a figure


@dataclass(frozen=True)
class Legs:
    """TCP DATA frames that their receivers got, by time, as columns: sending and receiving station, end (ns), the
    packet and the station that it is for (-1: none) as in `traces.packets`, and the packet's IPv4 addresses and
    destination port."""

    sender: Array
    receiver: Array
    end_ns: Array
    packet: Array
    home: Array
    source: Array
    destination: Array
    port: Array

    @classmethod
    def of_trace(cls, trace: Trace, stations: Sequence[Mapping[str, Any]], which: Array | bool = True) -> "Legs":
        """Return the legs in the air's own records; `which` selects transmissions, `stations` are the plan's."""
        tx, rx = trace.tx, trace.rx
        got = np.zeros(tx.size, bool)
        got[trace.rx_tx[(rx["addressed"] != 0) & (rx["outcome"] == Outcome.OK)]] = True
        row = np.flatnonzero(got & which & (tx["kind"] == Kind.TCP_DATA) & (tx["receiver"] != NOBODY))
        frames = Frames(trace.data, trace.frame[row], tx["caplen"][row].astype(np.int64))
        end = tx["start_ns"][row] + tx["duration_ns"][row]
        sender, receiver = (tx[name][row].astype(np.int64) for name in ("station", "receiver"))
        return cls.of(sender, receiver, end, frames, ips_of(stations))

    @classmethod
    def of_air(cls, air: Aired, stop_ns: int) -> "Legs":
        """Return the legs on the air, until the stop."""
        got = (air.outcome == Outcome.OK) & (air.receiver >= 0) & (air.end_ns < stop_ns)
        row = np.flatnonzero((air.kind == Kind.TCP_DATA) & got)
        return cls.of(air.station[row], air.receiver[row], air.end_ns[row], air.frames.pick(row), air.ips)

    @classmethod
    def of(cls, sender: Array, receiver: Array, end: Array, frames: Frames, ips: Sequence[str]) -> "Legs":
        """Return the legs of frames between these stations; `ips` are the stations' addresses."""
        row = classify(frames)[1].row  # all, except frames that were cut too short to identify
        frames = frames.pick(row)
        tcp = classify(frames)[1]
        packet, home = identify(frames, tcp, ips, np.arange(row.size)) if row.size else (row.astype(np.uint64), row)
        source, destination = (frames.field(tcp.network + at, 4).astype(np.uint32) for at in (12, 16))
        port = frames.field(tcp.transport + 2, 2).astype(np.uint16)
        sender, receiver, home = (column.astype(np.int16) for column in (sender[row], receiver[row], home))
        return cls(sender, receiver, end[row], packet, home, source, destination, port)

    @classmethod
    def joined(cls, parts: Sequence["Legs"]) -> "Legs":
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


@dataclass(frozen=True)
class Paths:
    """The packets of a flow that reached its destination, in order: arrival time (ns), hops, and stations from the
    source on (NONE: no more)."""

    time_ns: Array
    hops: Array
    stations: Array  # a row per packet

    def changes(self) -> Array:
        """Return the rows whose path differs from that of the packet before."""
        return np.flatnonzero(np.append(True, (self.stations[1:] != self.stations[:-1]).any(axis=1))[: self.hops.size])

    def shown(self) -> "Paths":
        """Reduce them to what a figure of time and hops can show: the first with a number of hops in each pixel
        column."""
        column = self.time_ns * COLUMNS // max(int(self.time_ns.max(initial=0)), 1)
        row = np.sort(np.unique(column * (LONGEST + 1) + self.hops, return_index=True)[1])
        return Paths(self.time_ns[row], self.hops[row], self.stations[row])


def paths(legs: Legs, plan: Mapping[str, Any]) -> dict[str, Paths]:
    if not legs.end_ns.size:
        return {flow["name"]: _nothing() for flow in plan["applications"]}
    order = np.lexsort((legs.end_ns, legs.packet))
    new = begins(legs.packet[order])
    sender, receiver, end = (column[order] for column in (legs.sender, legs.receiver, legs.end_ns))
    before = _before(sender, receiver, new)
    there = np.flatnonzero(receiver == legs.home[order])
    there = there[begins(np.cumsum(new)[there])]  # only the first arrival
    there = there[np.argsort(end[there], kind="stable")]
    stations, hops = _walk_back(there, before, sender, receiver)
    *ends, port = (column[order][there] for column in (legs.source, legs.destination, legs.port))
    ip = addresses(plan)
    found = {}
    for flow in plan["applications"]:
        source, destination = (ip.get(flow[end_], NONE) for end_ in ("source", "destination"))
        mine = (ends[0] == source) & (ends[1] == destination) & (port == flow.get("port", NONE))
        found[flow["name"]] = Paths(end[there][mine], hops[mine], stations[mine])
    return found


def addresses(plan: Mapping[str, Any]) -> dict[str, int]:
    """Return the IPv4 address of each node with a radio as a number, by name: its first radio's that has one; NONE
    without an address."""
    found: dict[str, int] = {}
    for radio, ip in zip(radios(plan), ips_of(radios(plan)), strict=True):
        if found.get(radio["name"], NONE) == NONE:
            found[radio["name"]] = int(IPv4Address(ip)) if ip and ":" not in ip else NONE
    return found


def of_stations(plan: Mapping[str, Any]) -> list[int]:
    """Return the same for each station of the air, in order; radios of one node share its address."""
    found = addresses(plan)
    return [found[radio["name"]] for radio in radios(plan)]


def _nothing() -> Paths:
    none = np.zeros(0, np.int64)
    return Paths(none, none, np.zeros((0, 1), np.int64))


def _before(sender: Array, receiver: Array, new: Array) -> Array:
    """Return for each leg the latest earlier leg of the same packet that ended at its sender; NONE at the source. Legs
    are sorted by packet and time; `new` marks the first leg of each packet."""
    before, place = np.full(sender.size, NONE), np.arange(sender.size)
    first = np.maximum.accumulate(np.where(new, place, 0))
    open_, back = place[place > first], 1
    while open_.size:
        came = receiver[open_ - back] == sender[open_]
        before[open_[came]] = open_[came] - back
        back += 1
        open_ = open_[~came & (open_ - back >= first[open_])]
    return before


def _walk_back(there: Array, before: Array, sender: Array, receiver: Array) -> tuple[Array, Array]:
    """Return the stations of the paths that end with these legs, from the first on, and the number of legs."""
    backwards, at, hops = [receiver[there]], there, np.zeros(there.size, np.int64)
    while (at >= 0).any() and len(backwards) <= LONGEST:
        backwards.append(np.where(at >= 0, sender[at], NONE))
        hops += at >= 0
        at = np.where(at >= 0, before[at], NONE)
    column = hops[:, None] - np.arange(len(backwards))
    found = np.array(backwards).T[np.arange(there.size)[:, None], column.clip(min=0)]
    return np.where(column >= 0, found, NONE), hops
