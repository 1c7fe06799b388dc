# SPDX-License-Identifier: BSD-3-Clause
"""For scripts that run in a lane: a TUN device whose root qdisc is ackthin, and the packets that leave it, to the
microsecond. `NAMES` goes before a script's own lines; the lane must load `MODULE`."""

from __future__ import annotations

from collections.abc import Callable

Script = Callable[..., list[str]]
MODULE = "sch_ackthin"
NAMES = """
import contextlib, json, os, select, socket, struct, time
from emulation.lane import ackthin
from emulation.lane import syscalls
from emulation.lane.netlink import NetlinkError, parse as attributes
from emulation.lane.rtnetlink import Route
from traffic.loop import set_timer, timer

class Output:
    # a TUN device under ackthin, and what leaves it: told by the kernel, as reading the clock costs time in a lane
    def __init__(self, name="wire0", **options):
        sysctl("net.ipv6.conf.default.disable_ipv6", 1)  # the kernel itself keeps silent
        self.wire, self.route = Wire(name), Route()
        self.writer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        self.writer.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE: what is held is charged to it
        self.witness = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.htons(3))
        self.witness.bind((name, 3))
        self.witness.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        self.witness.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self.alarm = timer()
        self.set(**options)
        self.begin = (time.time_ns() // 10**9 + 1) * 10**9  # times count from there, in µs

    def set(self, **options):
        self.route.replace_qdisc(self.wire.index, "ackthin", ackthin.pack(options))

    def options(self):
        return ackthin.unpack(self.route.qdisc(self.wire.index)[2])

    def statistics(self):
        return ackthin.statistics(attributes(self.route.qdisc(self.wire.index)[7])[4])

    def wait(self, us):
        set_timer(self.alarm, self.begin + us * 1000 - AHEAD)
        select.select([self.alarm], [], [])

    def send(self, packet):
        kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
        self.writer.sendto(packet, (self.wire.name, kind))

    def left(self):
        # (µs, packet) of each that has left
        with contextlib.suppress(BlockingIOError):
            while True:
                os.read(self.wire.tun, 65536)  # make room
        found = []
        while True:
            try:
                packet, [(_, _, stamp)], _, address = self.witness.recvmsg(65536, 100)
            except BlockingIOError:
                return found
            seconds, ns = struct.unpack("qq", stamp)
            if address[2] == socket.PACKET_OUTGOING:
                found.append(((seconds * 10**9 + ns - self.begin) // 1000, packet))

    def play(self, schedule, until_us):
        for at, packet in schedule:
            self.wait(at)
            self.send(packet)
        self.wait(until_us)
        return self.left()

AHEAD = round((time.time_ns() - time.monotonic_ns()) / 1000) * 1000  # CLOCK_REALTIME, by which packets are stamped
"""
