# SPDX-License-Identifier: BSD-3-Clause
"""Many datagrams by one system call, between sockets of this machine."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise

import pytest

from traffic import many
from traffic.applications.udp import IP_RECVTTL
from traffic.loop import Loop


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
    found: list[tuple[int, int, int]] = []
    for count, size in ((5, 1000), (2, 8)):
        with Loop() as loop:
            reader = many.LateReader(loop, other, size, lambda more: found.extend(zip(*more, strict=True)))
            sender = many.Sender(other.getsockname(), 5, size)
            assert sender.send(one, 1 << 40, count) == count
            one.sendto(b"!", other.getsockname())
            assert reader.read() == count + 1
            assert [number for number, *_ in found] == [*range(1 << 40, (1 << 40) + count), many.NO_NUMBER]
            assert [ttl for _, ttl, _ in found] == [7] * (count + 1)
            assert reader.read() == 0
        found.clear()


def test_datagrams_have_the_size(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    many.Sender(other.getsockname(), 2, 1000).send(one, 3, 2)
    assert [other.recv(2000) for _ in range(2)] == [bytes([n]) + bytes(999) for n in (3, 4)]


def test_the_kernel_gets_many_as_one_and_cuts_them_apart(ends: tuple[socket.socket, socket.socket]) -> None:
    """It takes 64 as one."""
    one, other = ends
    other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sender, first = many.Sender(other.getsockname(), 100, 1000, in_one=True), 1 << 40
    for count in (64, 100, 1, 65):
        assert sender.send(one, first, count) == count
        for number in range(first, first + count):
            assert other.recv(2000) == number.to_bytes(8, "little") + bytes(992)
        first += count


def test_a_late_reader_knows_when_each_has_arrived(ends: tuple[socket.socket, socket.socket]) -> None:
    """To the nanosecond, but for the difference of two clocks, which the reader takes once."""
    one, other = ends
    arrived: list[tuple[int, int, int]] = []
    moments_ns = []
    with Loop() as loop:
        reader = many.LateReader(loop, other, 8, lambda found: arrived.extend(zip(*found, strict=True)))
        noted = False
        while not noted:  # the kernel notes arrivals from some time after it is asked to
            one.sendto(bytes(8), other.getsockname())
            sent_ns = time.monotonic_ns()
            reader.read()
            noted = arrived.pop()[2] <= sent_ns
        for number in range(3):
            moments_ns += [time.time_ns()]
            one.sendto(number.to_bytes(8, "little"), other.getsockname())
        moments_ns += [time.time_ns()]
        assert reader.read() == 3
    assert [(number, ttl) for number, ttl, _ in arrived] == [(0, 7), (1, 7), (2, 7)]
    ahead_ns = [
        (before - at, after - at) for (*_, at), (before, after) in zip(arrived, pairwise(moments_ns), strict=True)
    ]
    least_ns, most_ns = max(before for before, _ in ahead_ns), min(after for _, after in ahead_ns)
    assert least_ns <= most_ns and abs(least_ns - (time.time_ns() - time.monotonic_ns())) < many.SECOND


def test_a_late_reader_takes_apart_what_the_kernel_passes_as_one(ends: tuple[socket.socket, socket.socket]) -> None:
    """There may be single ones between. In one of another size, nobody looks for numbers."""
    one, other = ends
    found: list[tuple[int, int, int]] = []
    with Loop() as loop:
        reader = many.LateReader(loop, other, 1000, lambda more: found.extend(zip(*more, strict=True)))
        many.Sender(other.getsockname(), 100, 1000, in_one=True).send(one, 5, 100)
        for alone in ((7).to_bytes(8, "little"), b"short"):
            one.sendto(alone, other.getsockname())
        many.Sender(other.getsockname(), 3, 500, in_one=True).send(one, 0, 3)
        assert reader.read() == 105
    assert [number for number, *_ in found] == [*range(5, 105), 7, *[many.NO_NUMBER] * 4]
    assert {ttl for _, ttl, _ in found} == {7} and [at for *_, at in found] == sorted(at for *_, at in found)


def test_what_the_kernel_says_is_raised(ends: tuple[socket.socket, socket.socket]) -> None:
    one, other = ends
    with pytest.raises(PermissionError):
        many.Sender(("255.255.255.255", 9), 2, 8).send(one, 0, 2)
    with Loop() as loop:
        reader = many.LateReader(loop, other, 8, lambda _: None)
        loop.forget(other.fileno())
        other.close()
        with pytest.raises(OSError, match="Bad file descriptor"):
            reader.read()
