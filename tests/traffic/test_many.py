# SPDX-License-Identifier: BSD-3-Clause
"""Many datagrams by one system call, between sockets of this machine."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from traffic import many
from traffic.applications.udp import IP_RECVTTL


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as one, closing(socket.socket(type=socket.SOCK_DGRAM)) as other:
        other.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        other.bind(("127.0.0.1", 0))
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 7)
        yield one, other


def test_each_datagram_has_its_number_and_its_ttl(ends: tuple[socket.socket, socket.socket]) -> None:
    """One that is too short has no number; twice, as memory is used again. Those of 8 bytes have only their number."""
    one, other = ends
    receiver = many.Receiver()
    for count, size in ((5, 1000), (2, 8)):
        sender = many.Sender(other.getsockname(), 5, size)
        assert sender.send(one, 1 << 40, count) == count
        one.sendto(b"!", other.getsockname())
        numbers: list[int] = []
        ttls: list[int] = []
        while len(numbers) < count + 1:
            select.select([other], [], [])
            for found, more in zip((numbers, ttls), receiver.receive(other), strict=True):
                found += more
        assert numbers == [*range(1 << 40, (1 << 40) + count), many.NO_NUMBER]
        assert ttls == [7] * (count + 1)
    assert receiver.receive(other) == ([], [])


def test_datagrams_have_the_size(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    many.Sender(other.getsockname(), 2, 1000).send(one, 3, 2)
    assert [other.recv(2000) for _ in range(2)] == [bytes([n]) + bytes(999) for n in (3, 4)]


def test_what_the_kernel_says_is_raised(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    with pytest.raises(PermissionError):
        many.Sender(("255.255.255.255", 9), 2, 8).send(one, 0, 2)
    other.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        many.Receiver().receive(other)
