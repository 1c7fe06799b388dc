# SPDX-License-Identifier: BSD-3-Clause
"""AODV's messages (RFC 3561, section 5), written and read by the tests themselves, independently of the core."""

from __future__ import annotations

from typing import NamedTuple

from world import EVERYBODY, Sent, World, address, index

RREQ, RREP, RERR, ACK = 1, 2, 3, 4
LENGTHS = {"rreq": 52, "rrep": 48, "rerr": 40, "ack": 30}  # with IP and UDP; rerr: one destination


def on_air(length: int) -> int:
    """Return the time that the tests' radio takes for a frame, ns."""
    return 500_000 + 4_000 * length


class Message(NamedTuple):
    at: int  # when its frame ended
    source: int
    to: int | None  # a neighbour; None: everybody
    ttl: int
    kind: int
    flags: int
    hops: int  # RERR: destinations
    words: tuple[int, ...]  # those after the first

    @property
    def nodes(self) -> list[int | None]:
        """Return the destinations of a RERR."""
        return [index(word) for word in self.words[::2]]


def read(frame: Sent) -> Message | None:
    """None: it is data."""
    data = frame.bytes
    if data[9] != 17 or data[20:24] != (654).to_bytes(2, "big") * 2:
        return None
    words = tuple(int.from_bytes(data[i : i + 4], "big") for i in range(32, len(data), 4))
    assert data[16:20] == (address(frame.to) if frame.to is not None else EVERYBODY).to_bytes(4, "big")
    assert data[12:16] == address(frame.source).to_bytes(4, "big")
    hops = data[31] if len(data) > 31 else 0
    return Message(frame.time, frame.source, frame.to, data[8], data[28], data[29], hops, words)


def messages(world: World, kind: int | None = None) -> list[Message]:
    """Return all control packets on the air, including HELLOs."""
    found = [read(frame) for frame in world.frames]
    return [one for one in found if one and kind in (None, one.kind)]


def packet(source: int, to: int | None, body: bytes, ttl: int = 255, port: int = 654) -> bytes:
    """Return an IP and UDP packet from this node, without a UDP checksum."""
    udp = port.to_bytes(2, "big") * 2 + (8 + len(body)).to_bytes(2, "big") + bytes(2) + body
    head = bytearray(b"\x45\x00" + (20 + len(udp)).to_bytes(2, "big") + bytes(4) + bytes((ttl, 17, 0, 0)))
    head += address(source).to_bytes(4, "big") + (EVERYBODY if to is None else address(to)).to_bytes(4, "big")
    total = sum(int.from_bytes(head[i : i + 2], "big") for i in range(0, 20, 2))
    total = (total & 0xFFFF) + (total >> 16)
    head[10:12] = (0xFFFF - (total & 0xFFFF) - (total >> 16)).to_bytes(2, "big")
    return bytes(head) + udp


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "big") for value in values)


def rreq(
    source: int, origin: int, number: int, to: int, *, seq: int = 0, own: int = 1, flags: int = 0x08, hops: int = 0,
    ttl: int = 35,
) -> bytes:  # fmt: skip
    body = bytes((RREQ, flags, 0, hops)) + words(number, address(to), seq, address(origin), own)
    return packet(source, None, body, ttl)


def rrep(
    source: int, to: int | None, destination: int, seq: int, origin: int, *, hops: int = 0, flags: int = 0,
    life: int = 6000, ttl: int = 255,
) -> bytes:  # fmt: skip
    body = bytes((RREP, flags, 0, hops)) + words(address(destination), seq, address(origin), life)
    return packet(source, to, body, ttl)


def rerr(source: int, to: int | None, *lost: tuple[int, int], flags: int = 0) -> bytes:
    body = bytes((RERR, flags, 0, len(lost))) + b"".join(words(address(node), seq) for node, seq in lost)
    return packet(source, to, body, 1)


def data_for(to: int, source: int = 0) -> bytes:
    """Return a packet of a user, as a neighbour might forward it."""
    return packet(source, to, bytes(20), 64, port=9)
