# SPDX-License-Identifier: BSD-3-Clause
"""Which flow a transmission belongs to, and which TCP segment or UDP datagram it carries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.routes.paths import addresses
from analysis.taps.aired import Aired
from analysis.traces.dissect import Frames, datagrams
from analysis.traces.trace import Array

NO_FLOW = 255
FLAG_ACK = 0x10


@dataclass(frozen=True)
class Segments:
    """The part of a flow that each transmission carries: columns of Frames. Datagrams have a payload only."""

    flow: Array
    back: Array
    seq: Array
    ack: Array
    payload: Array
    flags: Array


def segments(air: Aired, plan: Mapping[str, Any], names: Sequence[str]) -> Segments:
    """Find the plan's flows by their ends' addresses and port. Sequence numbers are relative to each connection's
    first."""
    size, tcp = air.kind.size, air.tcp
    found = Segments(np.full(size, NO_FLOW), *(np.zeros(size, np.int64) for _ in range(5)))
    ip = addresses(plan)
    udp = _Udp.of(air.frames)
    frames, v4 = air.frames.pick(tcp.row), tcp.version == 4
    ends = [frames.field(tcp.network + offset, 4) for offset in (12, 16)]
    ports = [frames.field(tcp.transport + offset, 2) for offset in (0, 2)]
    seq, ack = (frames.field(tcp.transport + offset, 4) for offset in (4, 8))
    found.flags[tcp.row] = frames.field(tcp.transport + 13)
    found.payload[tcp.row] = tcp.payload
    for planned in plan.get("applications", ()):
        if planned["name"] not in names or "port" not in planned:
            continue
        source, destination = (ip[planned[end]] for end in ("source", "destination"))
        of_port = v4 & ((ports[0] == planned["port"]) | (ports[1] == planned["port"]))
        there = of_port & (ends[0] == source) & (ends[1] == destination)
        mine = np.flatnonzero(there | (of_port & (ends[1] == source) & (ends[0] == destination)))
        row = tcp.row[mine]
        found.flow[row], found.back[row] = names.index(planned["name"]), ~there[mine]
        for back, ends_of in enumerate(((source, destination), (destination, source))):
            which = udp.of_port(planned["port"], *ends_of)
            datagram = udp.row[which]
            found.flow[datagram], found.back[datagram] = names.index(planned["name"]), back
            found.payload[datagram] = udp.payload[which]
        other = np.where(ports[0][mine] == planned["port"], ports[1][mine], ports[0][mine])
        for connection in np.unique(other):
            part = mine[other == connection]
            ways = [part[there[part]], part[~there[part]]]
            zero = [_first(seq[way], ack[back]) for way, back in (ways, ways[::-1])]
            for way, own, others in ((ways[0], *zero), (ways[1], *zero[::-1])):
                found.seq[tcp.row[way]] = (seq[way] - own) % 2**32
                acks = way[found.flags[tcp.row[way]] & FLAG_ACK != 0]
                found.ack[tcp.row[acks]] = (ack[acks] - others) % 2**32
    return found


def of_exchange(flow: Array, first: Array) -> Array:
    """Return the flow of each transmission; RTSs and answers belong to the flow of their frame. `first` is its first
    attempt."""
    of_frame = np.full(flow.size, NO_FLOW)
    np.minimum.at(of_frame, first, flow)
    found: Array = of_frame[first]
    return found


@dataclass(frozen=True)
class _Udp:
    """UDP datagrams: row, source and destination address and port, bytes of payload."""

    row: Array
    ends: list[Array]
    ports: list[Array]
    payload: Array

    @classmethod
    def of(cls, frames: Frames) -> "_Udp":
        row, network, transport = datagrams(frames)
        mine = frames.pick(row)
        ends, ports = ([mine.field(at + offset, size) for offset in offsets]
                       for at, offsets, size in ((network, (12, 16), 4), (transport, (0, 2), 2)))  # fmt: skip
        return cls(row, ends, ports, (mine.field(transport + 4, 2) - 8).clip(min=0))

    def of_port(self, port: int, source: int, destination: int) -> Array:
        """Return which datagrams go from one address to the other and have this port at either end."""
        between = (self.ends[0] == source) & (self.ends[1] == destination)
        which: Array = between & ((self.ports[0] == port) | (self.ports[1] == port))
        return which


def _first(seq: Array, acknowledged: Array) -> int:
    """Return the number from which a direction counts."""
    return int(seq[0]) if seq.size else int(acknowledged[0]) if acknowledged.size else 0
