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
    frames, v4 = air.frames.pick(tcp.row), tcp.version == 4
    ends = _Ends.of(frames, tcp.network, tcp.transport)
    udp, network, transport = datagrams(air.frames)
    of_udp = air.frames.pick(udp)
    udp_ends = _Ends.of(of_udp, network, transport)
    udp_payload = (of_udp.field(transport + 4, 2) - 8).clip(min=0)
    seq, ack = (frames.field(tcp.transport + offset, 4) for offset in (4, 8))
    found.flags[tcp.row] = frames.field(tcp.transport + 13)
    found.payload[tcp.row] = tcp.payload
    for planned in plan.get("applications", ()):
        if planned["name"] not in names or "port" not in planned:
            continue
        number, port = names.index(planned["name"]), planned["port"]
        source, destination = (ip[planned[end]] for end in ("source", "destination"))
        there = v4 & ends.between(port, source, destination)
        mine = np.flatnonzero(there | (v4 & ends.between(port, destination, source)))
        row = tcp.row[mine]
        found.flow[row], found.back[row] = number, ~there[mine]
        for back, ends_of in enumerate(((source, destination), (destination, source))):
            which = udp_ends.between(port, *ends_of)
            found.flow[udp[which]], found.back[udp[which]] = number, back
            found.payload[udp[which]] = udp_payload[which]
        other = np.where(ends.ports[0][mine] == port, ends.ports[1][mine], ends.ports[0][mine])
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
class _Ends:
    """The IPv4 addresses and the ports of packets: of the source, and of the destination."""

    ips: list[Array]
    ports: list[Array]

    @classmethod
    def of(cls, frames: Frames, network: Array, transport: Array) -> "_Ends":
        return cls(
            [frames.field(network + at, 4) for at in (12, 16)], [frames.field(transport + at, 2) for at in (0, 2)]
        )

    def between(self, port: int, source: int, destination: int) -> Array:
        """Return which packets go from one address to the other and have this port at either end."""
        (from_ip, to_ip), (from_port, to_port) = self.ips, self.ports
        which: Array = (from_ip == source) & (to_ip == destination) & ((from_port == port) | (to_port == port))
        return which


def _first(seq: Array, acknowledged: Array) -> int:
    """Return the number from which a direction counts."""
    return int(seq[0]) if seq.size else int(acknowledged[0]) if acknowledged.size else 0
