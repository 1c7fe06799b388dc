# SPDX-License-Identifier: BSD-3-Clause
"""A medium below mac80211_hwsim, in its messages: frames come in, receptions and reports go out.

wmediumd uses this interface, and any kernel with hwsim has it; our own air uses virtio. Messages come by netlink from
this kernel, from other kernels (`vhost`), and from programs that are radios themselves (`api`). The constants are those
of include/linux/mac80211_hwsim.h. `emulation.features.wmediumd.inside.model` decides.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time
from functools import partial

from emulation.features.wmediumd.inside.arguments import WARNING
from emulation.features.wmediumd.inside.model import (
    ACK_BYTES,
    CCK,
    RATES,
    STAT_ACK,
    US,
    Delivery,
    Medium,
    Report,
    airtime_us,
)
from emulation.features.wmediumd.inside.stations import SECOND
from emulation.lane import netlink
from emulation.lane.netlink import Generic, NetlinkError, build, messages, number, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, Self

    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.capture import Capture
    from emulation.features.wmediumd.inside.control import Reply
    from emulation.features.wmediumd.inside.model import Errors
    from emulation.features.wmediumd.inside.stations import Stations
    from emulation.lane.netlink import Value
    from traffic.loop import Loop

    class Client(Protocol):
        """Whoever has radios: this kernel, another one, or a program."""

        @property
        def all_frames(self) -> bool: ...  # also those to stations of others

        @property
        def both_names(self) -> bool: ...  # it may know a station by its second address

        def send(self, message: bytes) -> None:
            """Send a message of hwsim's family."""


FAMILY = "MAC80211_HWSIM"
REGISTER, FRAME, TX_INFO_FRAME = 1, 2, 3
A_RECEIVER, A_TRANSMITTER, A_FRAME, A_FLAGS = 1, 2, 3, 4
A_RX_RATE, A_SIGNAL, A_TX_INFO, A_COOKIE, A_FREQ = 5, 6, 7, 8, 19
STAGES = 4
NO_COOKIE = bytes(8)  # of a frame of others
MESSAGE_SIZE = 1 << 14  # bytes; a message has one frame
BUFFER_SIZE = 1 << 15  # bytes of the socket's buffer, as libnl sets it; hwsim drops a frame that it has no room for
ACK_FRAME = b"\xd4\x00\x00\x00"  # followed by the receiver's address
DEBUG = 7  # as in syslog


class Edge:
    """The medium of all clients' radios. `now` returns the time of `loop`, in nanoseconds."""

    def __init__(
        self, loop: Loop, stations: Stations, errors: Errors, seed: int, capture: Capture | None = None,
        now: Callable[[], int] = time.monotonic_ns,
    ) -> None:  # fmt: skip
        self.loop, self.stations, self.now = loop, stations, now
        self.medium = Medium(stations, errors, seed, now())
        self.capture = capture
        self.radios: dict[bytes, bytes] = {}  # hwsim's names of the stations that have sent, by their addresses
        self.clients: list[Client] = []
        self.owners: dict[bytes, Client] = {}  # of the stations that have sent
        self.watchers: dict[Client, Callable[[bytes, int], None]] = {}  # called when a frame begins: cookie, MHz
        self.family = self.sequence = 0
        self.armed_ns = 0

    def on_change(self, done: Reply) -> None:
        """Do nothing: a client's change holds from the next frame on."""

    def register(self, client: Client) -> None:
        self.clients.append(client)

    def unregister(self, client: Client) -> None:
        if client in self.clients:
            self.clients.remove(client)
        self.watchers.pop(client, None)
        self.owners = {address: owner for address, owner in self.owners.items() if owner is not client}

    def watch_starts(self, client: Client, start: Callable[[bytes, int], None] | None) -> None:
        """Call `start` at the beginning of each frame from now on, or nothing any more."""
        self.watchers.pop(client, None)
        if start:
            self.watchers[client] = start

    def _send(self, client: Client, command: int, values: list[tuple[int, Value]]) -> None:
        self.sequence += 1
        client.send(message(self.family, command, values, self.sequence))

    def take(self, body: bytes, client: Client) -> None:
        """Accept a frame of a client, which is then its station's owner."""
        if body[0] != FRAME:
            return
        values = parse(body[netlink.GENERIC_HEADER.size :])
        if any(name not in values for name in (A_TRANSMITTER, A_FRAME, A_FLAGS, A_TX_INFO, A_COOKIE)):
            return
        rates = [pair for pair in struct.iter_unpack("=bB", values[A_TX_INFO][: 2 * STAGES])]
        frame, radio = values[A_FRAME], values[A_TRANSMITTER]
        if self.stations.find(frame[10:16]):
            self.radios[frame[10:16]] = radio
            self.owners[frame[10:16]] = client
        freq = number(values.get(A_FREQ, b""))
        cookie, flags = values[A_COOKIE], number(values[A_FLAGS])
        if (begins := self.medium.take(self.now(), radio, frame, freq, flags, rates, cookie)) is not None:
            for watcher, start in self.watchers.items():
                self.loop.at(begins, partial(start, cookie if watcher is client else NO_COOKIE, freq))
        self._arm()

    def _arm(self) -> None:
        """Schedule the next call, unless it is scheduled already."""
        due = self.medium.next_ns()
        if due < (self.armed_ns or due + 1):
            self.armed_ns = due
            self.loop.at(due, lambda: self._due(due))

    def _due(self, armed_ns: int) -> None:
        if armed_ns == self.armed_ns:
            self.armed_ns = 0
        for one in self.medium.due(self.now()):
            if isinstance(one, Delivery):
                self._deliver(one)
            else:
                self._report(one)
                if self.capture:
                    self._capture(self.capture, one)
        self._arm()

    def _deliver(self, one: Delivery) -> None:
        """Deliver a frame. A station that has not sent yet can be anyone's, and hwsim knows it by its address or by its
        second one."""
        owner, rates = self.owners.get(one.to), len(RATES) - (CCK if one.freq > 5000 else 0)
        values: list[tuple[int, Value]] = [
            (A_FRAME, one.frame), (A_RX_RATE, min(one.rate, rates - 1)),
            (A_SIGNAL, one.signal_dbm & 0xFFFFFFFF), (A_FREQ, one.freq),
        ]  # fmt: skip
        names = [self.radios[one.to]] if owner else [one.to, bytes([one.to[0] | SECOND]) + one.to[1:]]
        for client in [*self.clients]:
            if client is owner or client.all_frames or not owner:
                for receiver in names if client.both_names else names[:1]:
                    self._send(client, FRAME, [(A_RECEIVER, receiver), *values])

    def _capture(self, capture: Capture, one: Report) -> None:
        base = CCK if one.freq > 5000 else 0
        rate = RATES[min(base + max(one.rates[0][0], 0), len(RATES) - 1)]
        capture.write(one.begins_ns, one.frame, one.freq, rate)
        if one.flags & STAT_ACK and not one.frame[4] & 1:
            duration = airtime_us(ACK_BYTES, RATES[base]) * US
            capture.write(one.ends_ns - duration, ACK_FRAME + one.frame[10:16], one.freq, RATES[base])

    def _report(self, one: Report) -> None:
        if not (owner := self.owners.get(one.frame[10:16])):
            return
        rates = b"".join(struct.pack("=bB", *pair) for pair in one.rates)
        self._send(owner, TX_INFO_FRAME, [
            (A_TRANSMITTER, one.radio), (A_FLAGS, one.flags), (A_SIGNAL, one.signal_dbm & 0xFFFFFFFF),
            (A_TX_INFO, rates), (A_COOKIE, one.cookie),
        ])  # fmt: skip


class Kernel:
    """This namespace's radios, until the end of the block. Raises OSError if they cannot have this medium."""

    all_frames, both_names = False, True

    def __init__(self, edge: Edge, say: Say) -> None:
        self.edge, self.say = edge, say

    def __enter__(self) -> Self:
        self.netlink = Generic()
        try:
            self.netlink.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_SIZE)
            self.edge.family = self._family()
            self.edge.register(self)
            self._register()
        except BaseException:
            self.netlink.close()
            raise
        self.edge.loop.watch(self.netlink.socket.fileno(), select.EPOLLIN, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self.edge.loop.forget(self.netlink.socket.fileno())
        self.netlink.close()  # hwsim's radios then have no medium

    def send(self, message: bytes) -> None:
        self.netlink.socket.send(message)

    def _family(self) -> int:
        try:
            return self.netlink.family(FAMILY)[0]
        except NetlinkError as error:
            if error.errno != errno.ENOENT:
                raise
            raise NetlinkError(error.errno, "mac80211_hwsim is not loaded: modprobe mac80211_hwsim") from None

    def _register(self) -> None:
        """Register as the medium; frames may come before the answer."""
        self.netlink.sequence += 1
        self.send(message(self.edge.family, REGISTER, [], self.netlink.sequence, netlink.ACK))
        while True:
            for kind, flags, _, body in messages(self.netlink.socket.recv(MESSAGE_SIZE)):
                if kind != netlink.ERROR:
                    self._handle(kind, body)
                    continue
                error, sentence = netlink.acknowledgement(kind, flags, body)
                if error == errno.EBUSY:
                    raise NetlinkError(error, "hwsim already has a medium; end the other wmediumd, or unload dcf80211")
                if error:
                    raise NetlinkError(error, f"hwsim: {sentence or os.strerror(error)}")
                return

    def _read(self) -> None:
        """Read hwsim's messages. It reports only errors of what it was sent, as for a radio that is gone."""
        try:
            for kind, flags, _, body in messages(self.netlink.socket.recv(MESSAGE_SIZE)):
                if kind == netlink.ERROR:
                    self.say(DEBUG, f"hwsim: {os.strerror(netlink.acknowledgement(kind, flags, body)[0])}")
                else:
                    self._handle(kind, body)
        except OSError as error:
            if error.errno != errno.ENOBUFS:
                raise
            self.say(WARNING, "frames were lost: too many came at one time, or this machine is too slow for them")

    def _handle(self, kind: int, body: bytes) -> None:
        if kind == self.edge.family:
            self.edge.take(body, self)


def message(family: int, command: int, values: list[tuple[int, Value]], sequence: int, flags: int = 0) -> bytes:
    """Return a message of hwsim's family."""
    payload = netlink.GENERIC_HEADER.pack(command, 1, 0) + build(values)
    size = netlink.HEADER.size + len(payload)
    return netlink.HEADER.pack(size, family, netlink.REQUEST | flags, sequence, 0) + payload
