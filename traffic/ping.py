# SPDX-License-Identifier: BSD-3-Clause
"""Ping: ICMP echo (RFC 792) from a host, without the program, which not every machine has."""

from __future__ import annotations

import os
import socket
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from traffic.host import Host

ECHO, ECHO_REPLY = 8, 0
HEADER = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def request(identifier: int, sequence: int, size: int) -> bytes:
    """Return an echo request with this many bytes of data."""
    payload = bytes(i & 0xFF for i in range(size))
    blank = HEADER.pack(ECHO, 0, 0, identifier, sequence)
    return HEADER.pack(ECHO, 0, checksum(blank + payload), identifier, sequence) + payload


def ping(
    source: Host, ip: str, count: int = 1, interval_s: float = 1.0, size: int = 56, timeout_s: float = 1.0
) -> Iterator[tuple[int, int, float | None]]:
    """Send an echo every `interval_s`; yield (sequence, TTL, round-trip time in s, or None without a reply)."""
    identifier = os.getpid() & 0xFFFF
    with source:
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with raw:
        for sequence in range(1, count + 1):
            sent = time.monotonic()
            raw.sendto(request(identifier, sequence, size), (ip, 0))
            yield reply(raw, identifier, sequence, sent, timeout_s)
            left = sent + interval_s - time.monotonic()
            if sequence < count and left > 0:
                time.sleep(left)


def reply(
    raw: socket.socket, identifier: int, sequence: int, sent: float, timeout_s: float
) -> tuple[int, int, float | None]:
    """Wait for the reply to one echo."""
    while (left := sent + timeout_s - time.monotonic()) > 0:
        raw.settimeout(left)
        try:
            packet = raw.recv(1 << 16)
        except TimeoutError:
            break
        kind, _, _, whose, which = HEADER.unpack_from(packet, (packet[0] & 15) * 4)
        if (kind, whose, which) == (ECHO_REPLY, identifier, sequence):
            return sequence, packet[8], time.monotonic() - sent
    return sequence, 0, None


def options(words: list[str]) -> tuple[str, int, float, int] | None:
    """Return (address, count, interval, size) from ping's arguments; None if they contain others."""
    values = {"-c": 4.0, "-i": 1.0, "-s": 56.0}
    hosts = []
    arguments = iter(words)
    for word in arguments:
        if word in values:
            try:
                values[word] = float(next(arguments, ""))
            except ValueError:
                return None
        else:
            hosts.append(word)
    if len(hosts) != 1 or hosts[0].startswith("-") or values["-c"] < 1:
        return None
    return hosts[0], int(values["-c"]), values["-i"], int(values["-s"])
