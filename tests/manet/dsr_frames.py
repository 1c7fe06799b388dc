# SPDX-License-Identifier: BSD-3-Clause
"""Reads and makes DSR's frames, and a world without jitter, for its tests. A frame takes 500 us and 4 us a byte."""

from __future__ import annotations

from typing import Any, NamedTuple

from world import FIRST_ADDRESS, MS, Entry, EntryKind, Event, Kind, Sent, World, address

US = 1000
PENDING, LINK, PATH = EntryKind.PENDING, EntryKind.LINK, EntryKind.SOURCE_ROUTE


def air(*lengths: int) -> int:
    """Return the time of a frame with this many bytes."""
    return sum(500 * US + 4 * US * length for length in lengths)


class Options(NamedTuple):
    """Return the options header of a frame, with its source route as nodes."""

    kinds: list[int]
    route: list[int]
    left: int
    salvaged: int
    payload: int


def options(frame: Sent) -> Options:
    data = frame.bytes
    at = (data[0] & 15) * 4
    end = at + 4 + int.from_bytes(data[at + 2 : at + 4], "big")
    kinds, route, left, salvaged = [], [], 0, 0
    here = at + 4
    while here < end:
        kinds.append(data[here])
        if data[here] == 96:
            word = int.from_bytes(data[here + 2 : here + 4], "big")
            left, salvaged = word & 63, word >> 6 & 15
            stop = here + 2 + data[here + 1]
            route = [int.from_bytes(data[i : i + 4], "big") - FIRST_ADDRESS for i in range(here + 4, stop, 4)]
        here += 2 + data[here + 1]
    assert here == end
    return Options(kinds, route, left, salvaged, len(data) - end)


def dsr(count: int, preset: str = "rfc", **changed: int) -> World:
    return World(count, "dsr", preset, **{"jitter_ms": 0, **changed})


def searches(world: World, node: int = 0) -> list[tuple[float, int]]:
    """Return the time in ms and the TTL of each request."""
    return [(r.time / MS, r.count) for r in world.told(Event.SEARCH, node)]


def control(world: World, kind: Any) -> list[Sent]:
    """Return the frames that carry this option and no payload."""
    wanted = {Kind.RREQ: 1, Kind.RREP: 2, Kind.RERR: 3}[kind]
    return [f for f in world.frames if f.bytes[9] == 48 and f.bytes[20] == 59 and options(f).kinds[-1] == wanted]


def data(world: World) -> list[Sent]:
    return [f for f in world.frames if f.bytes[9] != 48 or f.bytes[20] != 59]


def entries(world: World, node: int, kind: Any) -> list[Entry]:
    return [entry for entry in world.entries(node) if entry.kind == kind]


def checksum(header: bytes | bytearray) -> bytes:
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2) if i != 10)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF).to_bytes(2, "big")


def request(originator: int, number: int, target: int, *through: int) -> bytes:
    listed = b"".join(address(node).to_bytes(4, "big") for node in through)
    option = bytes([1, 6 + len(listed)]) + number.to_bytes(2, "big") + address(target).to_bytes(4, "big") + listed
    head = bytearray(bytes.fromhex("4500000000010000ff300000") + address(originator).to_bytes(4, "big") + b"\xff" * 4)
    whole = head + bytes([59, 0]) + len(option).to_bytes(2, "big") + option
    whole[2:4] = len(whole).to_bytes(2, "big")
    whole[10:12] = checksum(whole[:20])
    return bytes(whole)


def originators(world: World) -> list[int]:
    """Return the nodes whose requests were forwarded."""
    return [int.from_bytes(f.bytes[12:16], "big") - FIRST_ADDRESS for f in control(world, Kind.RREQ)]
