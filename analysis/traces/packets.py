# SPDX-License-Identifier: BSD-3-Clause
"""Identify a TCP segment's packet on all its hops, and the station that it is for.

A packet is identified by its IP header (addresses, identification) and by ports, sequence numbers and length. IPv6 has
no identification; its packets are equal if all else is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import numpy as np

from analysis.traces.columns import one_of, places
from analysis.traces.dissect import Frames, Tcp, classify
from analysis.traces.trace import Array, Kind

FNV_OFFSET, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the 64-bit hash
SEGMENTS = (Kind.TCP_DATA, Kind.TCP_ACK)


@dataclass(frozen=True)
class Packets:
    """What transmissions carry, one per row: the `kind` of frame; for segments `number`, equal for one packet on all
    its hops, and `destination`, the station with its IP destination (-1: none); for RTSs `duration`, us."""

    kind: Array
    number: Array
    destination: Array
    duration: Array

    @classmethod
    def of(cls, data: Array, tx: Array, frame: Array, ips: Sequence[str]) -> "Packets":
        """Examine transmissions as in Trace. Only frames that the air counts as segments are parsed."""
        kind, number, destination = tx["kind"].copy(), np.zeros(tx.size, np.uint64), np.full(tx.size, -1)
        row = np.flatnonzero(one_of(kind, SEGMENTS))
        frames = Frames(data, frame[row], tx["caplen"][row].astype(np.int64))
        kind[row], tcp = classify(frames)
        segment = np.flatnonzero(one_of(kind[row], SEGMENTS))
        number[row[segment]], destination[row[segment]] = identify(frames, tcp, ips, segment)
        rts, duration = np.flatnonzero(kind == Kind.RTS), np.zeros(tx.size, np.int64)
        duration[rts] = Frames(data, frame[rts], tx["caplen"][rts].astype(np.int64)).duration()
        return cls(kind, number, destination, duration)

    @classmethod
    def joined(cls, parts: Sequence["Packets"]) -> "Packets":
        columns = zip(*((part.kind, part.number, part.destination, part.duration) for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def pick(self, rows: Array) -> "Packets":
        return Packets(self.kind[rows], self.number[rows], self.destination[rows], self.duration[rows])


def identify(frames: Frames, tcp: Tcp, ips: Sequence[str], row: Array) -> tuple[Array, Array]:
    """Return two columns for each `row` of `frames`, which `tcp` must know as a segment. The first is a number that is
    the same for one packet on all its hops. The second is the station with its IP destination, as an index into `ips`
    (-1: none)."""
    at = np.searchsorted(tcp.row, row)
    frames, network, transport = frames.pick(row), tcp.network[at], tcp.transport[at]
    v6 = tcp.version[at] == 6
    address = np.where(v6, network + 8, network + 12)
    source, target = (_mix(_ip_words(frames, end, v6)) for end in (address, address + np.where(v6, 16, 4)))
    words = [frames.field(transport + 4 * word, 4) for word in range(3)]  # ports, sequence, acknowledgement
    words += [tcp.payload[at], np.where(v6, 0, frames.field(network + 4, 2))]
    return _mix([source, target, *words]), places(np.array([_ip_number(ip) for ip in ips], np.uint64), target)


def _ip_words(frames: Frames, at: Array, v6: Array) -> list[Array]:
    """Return the four 32-bit words of an IP address; for IPv4 all but the first are zero."""
    return [np.where(v6 | (word == 0), frames.field(at + 4 * word, 4), 0) for word in range(4)]


def _ip_number(ip: str) -> int:
    """Return an address as _mix makes it from _ip_words; "", of a station without one, equals no packet's."""
    packed = ip_address(ip).packed.ljust(16, b"\0") if ip else b"\xff" * 16
    return int(_mix(list(np.frombuffer(packed, ">u4").reshape(4, 1)))[0])


def _mix(words: list[Array]) -> Array:
    """Hash several words to 64 bits (Fowler-Noll-Vo's offset and prime, with a shift so that high bits count too)."""
    value = np.full(words[0].shape, FNV_OFFSET, np.uint64)
    for word in words:
        value = (value ^ word.astype(np.uint64)) * FNV_PRIME
        value ^= value >> np.uint64(29)
    return value
