# SPDX-License-Identifier: BSD-3-Clause
"""A medium below mac80211_hwsim, through its netlink interface: frames come in, receptions and reports go out.

wmediumd uses this interface, and any kernel with hwsim has it; our own air uses virtio. The constants are those of
include/linux/mac80211_hwsim.h. `emulation.features.wmediumd.inside.model` decides.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct
import time

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
    from typing import Self

    from emulation.features.wmediumd.inside.api import Client
    from emulation.features.wmediumd.inside.arguments import Say
    from emulation.features.wmediumd.inside.capture import Capture
    from emulation.features.wmediumd.inside.control import Reply
    from emulation.features.wmediumd.inside.model import Errors
    from emulation.features.wmediumd.inside.stations import Stations
    from emulation.lane.netlink import Value
    from traffic.loop import Loop

FAMILY = "MAC80211_HWSIM"
REGISTER, FRAME, TX_INFO_FRAME = 1, 2, 3
A_RECEIVER, A_TRANSMITTER, A_FRAME, A_FLAGS = 1, 2, 3, 4
A_RX_RATE, A_SIGNAL, A_TX_INFO, A_COOKIE, A_FREQ = 5, 6, 7, 8, 19
STAGES = 4
MESSAGE_SIZE = 1 << 14  # bytes; a message has one frame
BUFFER_SIZE = 1 << 15  # bytes of the socket's buffer, as libnl sets it; hwsim drops a frame that it has no room for
ACK_FRAME = b"\xd4\x00\x00\x00"  # followed by the receiver's address
DEBUG = 7  # as in syslog


class Edge:
    """The medium of this namespace's radios, until the end of the block. Raises OSError if it cannot be set up."""

    def __init__(
        self, loop: Loop, stations: Stations, errors: Errors, seed: int, say: Say, capture: Capture | None = None
    ) -> None:
        self.loop, self.stations, self.say = loop, stations, say
        self.medium = Medium(stations, errors, seed, time.monotonic_ns())
        self.capture = capture
        self.radios: dict[bytes, bytes] = {}  # hwsim's names of the stations that have sent, by their addresses
        self.clients: list[Client] = []  # of the API socket
        self.owners: dict[bytes, Client | None] = {}  # of the stations that have sent; None: the kernel
        self.armed_ns = 0

    def __enter__(self) -> Self:
        self.netlink = Generic()
        try:
            self.netlink.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_SIZE)
            self.family = self._family()
            self._register()
        except BaseException:
            self.netlink.close()
            raise
        self.loop.watch(self.netlink.socket.fileno(), select.EPOLLIN, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.forget(self.netlink.socket.fileno())
        self.netlink.close()  # hwsim's radios then have no medium

    def on_change(self, done: Reply) -> None:
        """Do nothing: a client's change holds from the next frame on."""

    def _family(self) -> int:
        try:
            return self.netlink.family(FAMILY)[0]
        except NetlinkError as error:
            if error.errno != errno.ENOENT:
                raise
            raise NetlinkError(error.errno, "mac80211_hwsim is not loaded: modprobe mac80211_hwsim") from None

    def _register(self) -> None:
        """Register as the medium; frames may come before the answer."""
        self._send(REGISTER, [], netlink.ACK)
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

    def register(self, client: Client) -> None:
        self.clients.append(client)

    def unregister(self, client: Client) -> None:
        if client in self.clients:
            self.clients.remove(client)
        self.owners = {address: owner for address, owner in self.owners.items() if owner is not client}

    def _send(
        self, command: int, values: list[tuple[int, Value]], flags: int = 0, client: Client | None = None
    ) -> None:
        payload = netlink.GENERIC_HEADER.pack(command, 1, 0) + build(values)
        self.netlink.sequence += 1
        size, flags = netlink.HEADER.size + len(payload), netlink.REQUEST | flags
        header = netlink.HEADER.pack(size, self.family, flags, self.netlink.sequence, 0)
        if client:
            client.send(header + payload)
        else:
            self.netlink.socket.send(header + payload)

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
        self._arm()

    def _handle(self, kind: int, body: bytes) -> None:
        if kind == self.family:
            self.take(body, None)

    def take(self, body: bytes, client: Client | None) -> None:
        """Accept a frame, from the kernel or a client, which is then its station's owner."""
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
        self.medium.take(time.monotonic_ns(), radio, frame, freq, number(values[A_FLAGS]), rates, values[A_COOKIE])
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
        for one in self.medium.due(time.monotonic_ns()):
            if isinstance(one, Delivery):
                self._deliver(one)
            else:
                self._report(one)
                if self.capture:
                    self._capture(self.capture, one)
        self._arm()

    def _deliver(self, one: Delivery) -> None:
        """Deliver a frame. A station that has not sent yet is named by its address or by its second one, as hwsim makes
        it: one of the two exists."""
        known, rates = self.radios.get(one.to), len(RATES) - (CCK if one.freq > 5000 else 0)
        values: list[tuple[int, Value]] = [
            (A_FRAME, one.frame), (A_RX_RATE, min(one.rate, rates - 1)),
            (A_SIGNAL, one.signal_dbm & 0xFFFFFFFF), (A_FREQ, one.freq),
        ]  # fmt: skip
        owner = self.owners.get(one.to)
        for client in [*self.clients]:
            if client.all_frames or client is owner or not known:
                self._send(FRAME, [(A_RECEIVER, known or one.to), *values], client=client)
        if owner:
            return
        for receiver in (known,) if known else (one.to, bytes([one.to[0] | SECOND]) + one.to[1:]):
            self._send(FRAME, [(A_RECEIVER, receiver), *values])

    def _capture(self, capture: Capture, one: Report) -> None:
        base = CCK if one.freq > 5000 else 0
        rate = RATES[min(base + max(one.rates[0][0], 0), len(RATES) - 1)]
        capture.write(one.begins_ns, one.frame, one.freq, rate)
        if one.flags & STAT_ACK and not one.frame[4] & 1:
            duration = airtime_us(ACK_BYTES, RATES[base]) * US
            capture.write(one.ends_ns - duration, ACK_FRAME + one.frame[10:16], one.freq, RATES[base])

    def _report(self, one: Report) -> None:
        rates = b"".join(struct.pack("=bB", *pair) for pair in one.rates)
        self._send(TX_INFO_FRAME, [
            (A_TRANSMITTER, one.radio), (A_FLAGS, one.flags), (A_SIGNAL, one.signal_dbm & 0xFFFFFFFF),
            (A_TX_INFO, rates), (A_COOKIE, one.cookie),
        ], client=self.owners.get(one.frame[10:16]))  # fmt: skip
