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


def test_each_datagram_has_its_beginning_and_its_ttl(ends: tuple[socket.socket, socket.socket]) -> None:
    """Those longer than asked for are cut, and a shorter one has its own length; twice, as memory is used again."""
    one, other = ends
    sender, receiver = many.Sender(other.getsockname(), 5, 1000), many.Receiver(3)
    for count in (5, 2):
        for place in range(count):
            sender.begin(place, bytes([count, place]))
        assert sender.send(one, count) == count
        one.sendto(b"!", other.getsockname())
        expected = [(bytes([count, place, 0]), 7) for place in range(count)] + [(b"!", 7)]
        found: list[tuple[bytes, int]] = []
        while len(found) < len(expected):
            select.select([other], [], [])
            found += receiver.receive(other)
        assert found == expected
    assert list(receiver.receive(other)) == []


def test_what_the_kernel_says_is_raised(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    with pytest.raises(PermissionError):
        many.Sender(("255.255.255.255", 9), 2, 8).send(one, 2)
    other.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        list(many.Receiver(8).receive(other))
