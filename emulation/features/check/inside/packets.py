# SPDX-License-Identifier: BSD-3-Clause
"""Packets of all kinds, sent past IP at a node's link: a qdisc that reads headers meets them in any order and shape."""

from __future__ import annotations

import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from emulation.lane.node import Node

ETH_P_IP, ETH_P_ARP, ETH_P_IPV6, ETH_P_802_EX1 = 0x0800, 0x0806, 0x86DD, 0x88B5
BROADCAST = b"\xff" * 6
IPV4, IPV6, TCP = struct.Struct("!BBHHHBBH4s4s"), struct.Struct("!IHBB16s16s"), struct.Struct("!HHIIBBHHH")
FIN, SYN, RST, ACK = 1, 2, 4, 16
SACK = struct.pack("!BBBBII", 1, 1, 5, 10, 1000, 2000)
FLOWS = 1300  # more than the tables of most qdiscs hold
NEW = 0.8  # of the ACKs, as long as there are fewer flows
WORD = 1 << 32


class Packets:
    """A source of packets, which belong to many flows of TCP, and of others."""

    def __init__(self, random: Random, flows: int = FLOWS) -> None:
        self.random, self.flows = random, flows
        self.acknowledged: dict[int, int] = {}  # by port
        self.kinds: tuple[Callable[[], tuple[int, bytes]], ...] = (
            *(self.ack,) * 12, self.segment, self.segment, self.ipv6, self.fragment, self.cut, self.noise, self.foreign,
        )  # fmt: skip

    def send(self, node: Node, count: int) -> int:
        """Send some at once, to nobody in particular. Return how many the link took."""
        name, sent = node.radio.name, 0
        with node, socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0) as raw:
            for _ in range(count):
                protocol, packet = self.random.choice(self.kinds)()
                try:
                    raw.sendto(packet, (name, protocol, 0, 0, BROADCAST))
                    sent += 1
                except OSError:  # no buffers, or too short for the link
                    continue
        return sent

    def ack(self) -> tuple[int, bytes]:
        """Return an ACK without data: of a new flow, or the next of one."""
        known = len(self.acknowledged)
        new = not known or (known < self.flows and self.random.random() < NEW)
        port = known if new else self.random.randrange(known)
        self.acknowledged[port] = (self.acknowledged.get(port, port * 7919) + 1448) % WORD
        return ETH_P_IP, self.ipv4(tcp(1024 + port, 1, self.acknowledged[port], ACK), tos=0)

    def segment(self) -> tuple[int, bytes]:
        """Return a segment with any flags, options and data."""
        random = self.random
        flags = random.choice((SYN, SYN | ACK, FIN | ACK, RST, ACK, ACK, random.randrange(256)))
        options = random.choice((b"", SACK, bytes(random.randrange(256) for _ in range(8))))
        port, seq, ack = 1024 + random.randrange(FLOWS), random.randrange(WORD), random.randrange(WORD)
        return ETH_P_IP, self.ipv4(tcp(port, seq, ack, flags, options) + bytes(random.choice((0, 1, 500))))

    def ipv4(self, payload: bytes, offset: int = 0, tos: int | None = None) -> bytes:
        """Return a packet, with any class and any mark of congestion."""
        tos, length = self.random.randrange(256) if tos is None else tos, IPV4.size + len(payload)
        ends = bytes((10, 9, 9, 1)), bytes((10, 9, 9, 2))
        return IPV4.pack(0x45, tos, length, 1, offset, 64, socket.IPPROTO_TCP, 0, *ends) + payload

    def fragment(self) -> tuple[int, bytes]:
        """Return a fragment, the first or a later one."""
        return ETH_P_IP, self.ipv4(tcp(1024, 1, 1, ACK), self.random.choice((0x2000, 1)))

    def ipv6(self) -> tuple[int, bytes]:
        """Return TCP over IPv6, perhaps after an extension header."""
        following = self.random.choice((socket.IPPROTO_TCP, socket.IPPROTO_HOPOPTS))
        segment = tcp(1024 + self.random.randrange(FLOWS), 1, self.random.randrange(WORD), ACK)
        ends = bytes((0xFD, *range(15))), bytes((0xFD, *range(1, 16)))
        return ETH_P_IPV6, IPV6.pack(6 << 28, len(segment), following, 64, *ends) + segment

    def cut(self) -> tuple[int, bytes]:
        """Return the beginning of a packet, whose headers announce more."""
        protocol, packet = self.random.choice((self.ack, self.segment, self.ipv6))()
        return protocol, packet[: self.random.randrange(len(packet))]

    def noise(self) -> tuple[int, bytes]:
        """Return a packet with one wrong byte in its headers."""
        protocol, packet = self.random.choice((self.ack, self.segment, self.ipv6))()
        at = self.random.randrange(len(packet))
        return protocol, packet[:at] + bytes([self.random.randrange(256)]) + packet[at + 1 :]

    def foreign(self) -> tuple[int, bytes]:
        """Return what is not IP."""
        return self.random.choice((ETH_P_ARP, ETH_P_802_EX1)), bytes(self.random.randrange(1, 100))


def tcp(port: int, seq: int, ack: int, flags: int, options: bytes = b"") -> bytes:
    """Return a TCP header."""
    offset = (TCP.size + len(options)) // 4 << 4
    return TCP.pack(port, 80, seq, ack, offset, flags, 1000, 0, 0) + options
