# SPDX-License-Identifier: BSD-3-Clause
"""The paths that packets took: over which stations each DATA segment went that reached its destination.

Seen from the air alone: a frame that its receiver got is a leg of its packet (`analysis.traces.packets`). A packet that
reached the destination did so by its first leg there; it reached the station that sent this by the latest leg before;
and so on, back to the source. So it does not matter how stations know the way, nor how often they sent a frame.
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

LONGEST = 32  # hops; of a longer path the rest is not followed
NONE = -1
COLUMNS = 1200  # of pixels, of a figure


@dataclass(frozen=True)
class Legs:
    """TCP DATA frames that their receivers got, in order of time: columns. From which station to which, when they were
    over (ns); which packet they carried, and the station that this is for (-1: none), as `traces.packets` has both;
    and its IPv4 addresses and port."""

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
        """From the air's own records, of `which` transmissions; `stations` are the plan's, in their order."""
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
        """From what was on the air, until the stop."""
        got = (air.outcome == Outcome.OK) & (air.receiver >= 0) & (air.end_ns < stop_ns)
        row = np.flatnonzero((air.kind == Kind.TCP_DATA) & got)
        return cls.of(air.station[row], air.receiver[row], air.end_ns[row], air.frames.pick(row), air.ips)

    @classmethod
    def of(cls, sender: Array, receiver: Array, end: Array, frames: Frames, ips: Sequence[str]) -> "Legs":
        """Of frames from and to these stations, which have these addresses."""
        row = classify(frames)[1].row  # all, unless a frame was cut too short to be known again
        frames = frames.pick(row)
        tcp = classify(frames)[1]
        packet, home = identify(frames, tcp, ips, np.arange(row.size)) if row.size else (row.astype(np.uint64), row)
        source, destination = (frames.field(tcp.network + at, 4).astype(np.uint32) for at in (12, 16))
        port = frames.field(tcp.transport + 2, 2).astype(np.uint16)
        sender, receiver, home = (column.astype(np.int16) for column in (sender[row], receiver[row], home))
        return cls(sender, receiver, end[row], packet, home, source, destination, port)

    @classmethod
    def joined(cls, parts: Sequence["Legs"]) -> "Legs":
        """Those of parts, one after the other."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))


@dataclass(frozen=True)
class Paths:
    """The packets of a flow that reached its destination, in order: when (ns), over how many hops, and over which
    stations, from the source on (NONE: no more)."""

    time_ns: Array
    hops: Array
    stations: Array  # a row each

    def changes(self) -> Array:
        """The rows whose path is another than that of the packet before."""
        return np.flatnonzero(np.append(True, (self.stations[1:] != self.stations[:-1]).any(axis=1))[: self.hops.size])

    def shown(self) -> "Paths":
        """As a figure of time and hops can show them: of those over as many hops in one column of pixels, the first."""
        column = self.time_ns * COLUMNS // max(int(self.time_ns.max(initial=0)), 1)
        row = np.sort(np.unique(column * (LONGEST + 1) + self.hops, return_index=True)[1])
        return Paths(self.time_ns[row], self.hops[row], self.stations[row])


def paths(legs: Legs, plan: Mapping[str, Any]) -> dict[str, Paths]:
    """The paths of each flow of a plan, by its name."""
    if not legs.end_ns.size:
        return {flow["name"]: _nothing() for flow in plan["applications"]}
    order = np.lexsort((legs.end_ns, legs.packet))
    new = begins(legs.packet[order])
    sender, receiver, end = (column[order] for column in (legs.sender, legs.receiver, legs.end_ns))
    before = _before(sender, receiver, new)
    there = np.flatnonzero(receiver == legs.home[order])
    there = there[begins(np.cumsum(new)[there])]  # the first time
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
    """The stations' IPv4 addresses as numbers, by name, in the order of the air; NONE: it has none."""
    ips = dict(zip((radio["name"] for radio in radios(plan)), ips_of(radios(plan)), strict=True))
    return {name: int(IPv4Address(ip)) if ip and ":" not in ip else NONE for name, ip in ips.items()}


def _nothing() -> Paths:
    none = np.zeros(0, np.int64)
    return Paths(none, none, np.zeros((0, 1), np.int64))


def _before(sender: Array, receiver: Array, new: Array) -> Array:
    """For each leg the latest leg before of the same packet that came to its sender; NONE at the source. Legs are by
    packet and time, `new` says where a packet's begin."""
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
    """The stations of paths that end with these legs, from the first on, and how many legs they have."""
    backwards, at, hops = [receiver[there]], there, np.zeros(there.size, np.int64)
    while (at >= 0).any() and len(backwards) <= LONGEST:
        backwards.append(np.where(at >= 0, sender[at], NONE))
        hops += at >= 0
        at = np.where(at >= 0, before[at], NONE)
    column = hops[:, None] - np.arange(len(backwards))
    found = np.array(backwards).T[np.arange(there.size)[:, None], column.clip(min=0)]
    return np.where(column >= 0, found, NONE), hops
