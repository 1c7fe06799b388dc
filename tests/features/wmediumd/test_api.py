# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's API socket: a client's frames reach the kernel's radios, and theirs reach it."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from emulation.features.wmediumd.inside import api, hwsim
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.control import UnknownError
from emulation.features.wmediumd.inside.formula import Formula
from emulation.lane import netlink

MINE, KERNELS = bytes.fromhex("020000000000"), bytes.fromhex("020000000100")
IDS = 'ifaces: { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00"]; };'
FAMILY = 30


class Kernel:
    """What is sent to hwsim."""

    all_frames, both_names = False, True

    def __init__(self) -> None:
        self.sent = list[bytes]()

    def send(self, data: bytes) -> None:
        self.sent.append(data)


class Lab:
    """A medium with a client, and the client's end of the connection."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.called: list[tuple[int, Any]] = []
        loop: Any = self
        self.edge = hwsim.Edge(loop, parse(IDS).stations, Formula(), 1, now=lambda: self.now_ns)
        self.kernel, self.edge.family = Kernel(), FAMILY
        self.edge.register(self.kernel)
        ours, self.end = socket.socketpair()
        self.client = api.Client(self.edge, ours)

    def at(self, when_ns: int, callback: Any) -> None:
        self.called.append((when_ns, callback))

    def ask(self, kind: int, body: bytes = b"") -> int:
        (answer,) = self.client.feed(api.HEADER.pack(kind, len(body)) + body)
        return int(api.HEADER.unpack(answer)[0])

    def transmit(self, to: bytes) -> None:
        """Let the kernel send a frame."""
        ((_, _, _, body),) = netlink.messages(frame(KERNELS, to, KERNELS))
        self.edge.take(body, self.kernel)

    def play(self) -> None:
        self.now_ns = self.edge.medium.next_ns()
        self.edge._due(self.now_ns)

    def received(self) -> list[tuple[int, bytes]]:
        """(command, attributes)"""
        self.end.setblocking(False)
        data, found = b"", []
        with contextlib.suppress(BlockingIOError):
            data = self.end.recv(1 << 16)
        while data:
            kind, length = api.HEADER.unpack_from(data)
            assert kind == api.NETLINK
            found.append(command(data[8 : 8 + length]))
            data = data[8 + length :]
        return found


def command(message: bytes) -> tuple[int, bytes]:
    ((_, _, _, body),) = netlink.messages(message)
    return body[0], body[4:]


def frame(source: bytes, to: bytes, radio: bytes) -> bytes:
    """A FRAME message of hwsim's."""
    body = struct.pack("=BBH", hwsim.FRAME, 1, 0) + netlink.build([
        (hwsim.A_TRANSMITTER, radio), (hwsim.A_FRAME, b"\x08\0\0\0" + to + source + bytes(60)), (hwsim.A_FLAGS, 1),
        (hwsim.A_TX_INFO, struct.pack("=bB", 0, 1) + 3 * struct.pack("=bB", -1, 0)),
        (hwsim.A_COOKIE, struct.pack("=Q", 7)), (hwsim.A_FREQ, 2412),
    ])  # fmt: skip
    return netlink.HEADER.pack(netlink.HEADER.size + len(body), FAMILY, netlink.REQUEST, 1, 0) + body


@pytest.fixture
def lab() -> Iterator[Lab]:
    made = Lab()
    with made.end, made.client.connection:
        yield made


def test_a_clients_frame_reaches_a_radio_of_the_kernel(lab: Lab) -> None:
    """Which hwsim knows by one of two names, as it has not sent yet. The client gets the report."""
    assert lab.ask(api.REGISTER) == api.ACK
    assert lab.ask(api.NETLINK, frame(MINE, KERNELS, MINE)) == api.ACK
    lab.play()
    to_kernel = [netlink.parse(body) for name, body in map(command, lab.kernel.sent) if name == hwsim.FRAME]
    assert [values[hwsim.A_RECEIVER].hex() for values in to_kernel] == ["020000000100", "420000000100"]
    received = lab.received()
    assert [name for name, _ in received] == [hwsim.FRAME, hwsim.TX_INFO_FRAME]  # nobody has that station yet
    report = netlink.parse(received[1][1])
    assert netlink.number(report[hwsim.A_FLAGS]) == 1 | 4 and report[hwsim.A_COOKIE] == struct.pack("=Q", 7)


def test_a_frame_to_a_clients_station_reaches_only_the_client(lab: Lab) -> None:
    lab.ask(api.REGISTER)
    lab.ask(api.NETLINK, frame(MINE, KERNELS, MINE))
    lab.transmit(MINE)
    lab.play()
    lab.received()
    lab.kernel.sent.clear()
    lab.play()
    ((name, body),) = lab.received()
    assert name == hwsim.FRAME and netlink.parse(body)[hwsim.A_RECEIVER] == MINE
    assert [command(sent)[0] for sent in lab.kernel.sent] == [hwsim.TX_INFO_FRAME]


def test_a_client_may_ask_for_all_frames_and_leave(lab: Lab) -> None:
    lab.ask(api.REGISTER)
    assert lab.ask(api.SET_CONTROL, struct.pack("=I", api.ALL_FRAMES)) == api.ACK
    for _ in range(2):
        lab.transmit(b"\xff" * 6)
        lab.play()
    assert [name for name, _ in lab.received()] == [hwsim.FRAME] * 2
    assert lab.ask(api.UNREGISTER) == api.ACK
    lab.transmit(b"\xff" * 6)
    lab.play()
    assert not lab.received()


@pytest.mark.parametrize(
    ("kind", "body"),
    [(api.UNREGISTER, b""), (api.NETLINK, b""), (api.NETLINK, b"short"), (api.NETLINK, bytes(16)), (9, b"what"),
     (api.SET_CONTROL, struct.pack("=I", 4)), (api.SET_CONTROL, b"")],
)  # fmt: skip
def test_what_makes_no_sense_is_invalid(lab: Lab, kind: int, body: bytes) -> None:
    assert lab.ask(kind, body) == api.INVALID


def test_messages_may_come_in_pieces_and_are_not_endless(lab: Lab) -> None:
    whole = api.HEADER.pack(api.REGISTER, 0)
    assert not [*lab.client.feed(whole[:5])] and [*lab.client.feed(whole[5:])] == [api.HEADER.pack(api.ACK, 0)]
    assert not [*lab.client.feed(api.HEADER.pack(api.ACK, 0))]
    with pytest.raises(UnknownError, match="a message of 4294967295 bytes"):
        [*lab.client.feed(api.HEADER.pack(api.NETLINK, 2**32 - 1))]


def test_a_client_that_is_gone_is_forgotten(lab: Lab) -> None:
    lab.ask(api.REGISTER)
    lab.end.close()
    lab.ask(api.NETLINK, frame(MINE, KERNELS, MINE))
    lab.play()
    assert lab.edge.clients == [lab.kernel]


def test_a_client_is_told_when_a_frame_begins(lab: Lab) -> None:
    """With its cookie if it is the client's own."""
    lab.ask(api.REGISTER)
    assert lab.ask(api.SET_CONTROL, struct.pack("=I", api.STARTS)) == api.ACK
    lab.ask(api.NETLINK, frame(MINE, KERNELS, MINE))
    lab.transmit(MINE)
    starts = [(at, call) for at, call in lab.called if isinstance(call, partial)]
    begins = [one.report.begins_ns for one in sorted(lab.edge.medium.waiting)]
    assert [at for at, _ in starts] == begins == [0, lab.edge.medium.next_ns()]
    for _, call in starts:
        call()
    size = api.HEADER.size + api.START.size
    told = [api.START.unpack(lab.end.recv(size)[api.HEADER.size :]) for _ in starts]
    assert told == [(struct.pack("=Q", 7), 2412), (bytes(8), 2412)]


def test_in_a_schedulers_time_a_client_takes_each_message_first(lab: Lab) -> None:
    """And may ask something before."""
    lab.client.exact = True
    lab.ask(api.REGISTER)
    control = struct.pack("=I", api.ALL_FRAMES)
    lab.end.sendall(api.HEADER.pack(api.SET_CONTROL, 4) + control + api.HEADER.pack(api.ACK, 0))
    lab.client.send(b"a message")
    assert lab.client.all_frames and lab.client.acknowledged == 1
    assert lab.end.recv(100) == api.HEADER.pack(api.NETLINK, 9) + b"a message" + api.HEADER.pack(api.ACK, 0)
