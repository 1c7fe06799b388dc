# SPDX-License-Identifier: BSD-3-Clause
"""The other end of a TCP connection, played segment by segment against the lane's kernel.

A TUN device is the wire: what the kernel sends on it is read here, what is written here the kernel receives. So a test
says which segment arrives when, and sees what the kernel sends when, in virtual time, to the nanosecond: nothing
lies between. For use in a script that runs in a lane; standard library only.

    wire = Wire()
    flow = wire.connect("sca", mss=1000)              # the kernel opens a connection to us
    flow.write(50_000)
    print([segment.seq for segment in flow.heard()])  # what it has sent at once
    wire.wait(wire.now() + 20 * MS)                   # let 20 ms pass
    flow.send(ack=1000)                               # acknowledge its first 1000 bytes
    flow.send(ack=1000, options=flow.sack((2000, 3000)))
    segment = flow.expect("A", seq=2000)              # the next segment it sends, at segment.time_ns

    flow = wire.accept()                              # we open a connection to the kernel
    flow.send(seq=0, payload=bytes(1000))             # our first 1000 bytes
    print(flow.expect("A").ack)

Sequence numbers are relative: the first byte of data is 0, on both sides. Flags are letters: S, A, F, R, P, E, C, U.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import struct
import time
from collections import deque
from typing import NamedTuple

from emulation.lane.netlink import build as attributes
from emulation.lane.rtnetlink import MAIN_TABLE, ROUTE, Route
from traffic.loop import set_timer, timer

US, MS = 1000, 1_000_000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x1, 0x1000
IP, TCP = struct.Struct("!BBHHHBBH4s4s"), struct.Struct("!HHIIBBHHH")
FLAGS = "FSRPAUEC"  # bit 0 first
SO_SNDBUFFORCE = 32


class Segment(NamedTuple):
    """A TCP segment that the kernel has sent, and when. Numbers are relative if a flow returns it."""

    time_ns: int
    sport: int
    dport: int
    flags: str
    seq: int
    ack: int
    window: int
    options: bytes
    payload: bytes
    sack: tuple[tuple[int, int], ...] = ()


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def build(src: bytes, dst: bytes, sport: int, dport: int, flags: str, seq: int, ack: int, window: int,
          options: bytes, payload: bytes) -> bytes:  # fmt: skip
    """Return an IPv4 packet with a TCP segment."""
    options += b"\1" * (-len(options) % 4)
    bits = sum(1 << FLAGS.index(flag) for flag in flags)
    offset = (TCP.size + len(options)) // 4 << 4
    head = TCP.pack(sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, offset, bits, window, 0, 0) + options
    pseudo = src + dst + struct.pack("!BBH", 0, socket.IPPROTO_TCP, len(head) + len(payload))
    head = head[:16] + struct.pack("!H", checksum(pseudo + head + payload)) + head[18:]
    packet = IP.pack(0x45, 0, IP.size + len(head) + len(payload), 0, 0x4000, 64, socket.IPPROTO_TCP, 0, src, dst)
    return packet[:10] + struct.pack("!H", checksum(packet)) + packet[12:] + head + payload


def parse(packet: bytes, time_ns: int) -> Segment | None:
    """Return the TCP segment of an IPv4 packet; None if it has none."""
    if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
        return None
    tcp = packet[(packet[0] & 15) * 4 : struct.unpack_from("!H", packet, 2)[0]]
    sport, dport, seq, ack, offset, bits, window, _, _ = TCP.unpack_from(tcp)
    end = (offset >> 4) * 4
    flags = "".join(flag for bit, flag in enumerate(FLAGS) if bits >> bit & 1)
    return Segment(time_ns, sport, dport, flags, seq, ack, window, tcp[TCP.size : end], tcp[end:])


def options_of(data: bytes) -> dict[int, bytes]:
    """Return TCP options by kind."""
    found, at = {}, 0
    while at < len(data) and data[at]:
        if data[at] == 1:
            at += 1
            continue
        found[data[at]] = data[at + 2 : at + data[at + 1]]
        at += data[at + 1]
    return found


def sysctl(name: str, value: object) -> None:
    """Set a variable of this network namespace."""
    with open("/proc/sys/" + name.replace(".", "/"), "w") as file:
        file.write(str(value))


class Wire:
    """A TUN device. The kernel has the address `kernel` on it, we have `peer`."""

    def __init__(self, name: str = "wire0", kernel: str = "10.9.0.1", peer: str = "10.9.0.2") -> None:
        self.name, self.kernel, self.peer = name, kernel, peer
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
        self.timer = timer()
        self.flows: list[Flow] = []
        self.routes: set[str] = set()
        self.port = 40000
        with Route() as route:
            self.index = route.index(name)
            route.set_link(self.index, up=True)
            route.add_address(self.index, f"{kernel}/24")

    @staticmethod
    def now() -> int:
        return time.monotonic_ns()

    def send(self, dport: int, sport: int, flags: str, seq: int, ack: int, *, payload: bytes = b"",
             options: bytes = b"", window: int = 65535, peer: str | None = None) -> None:  # fmt: skip
        """Deliver a segment to the kernel's port `dport`, now. Numbers are absolute."""
        src, dst = socket.inet_aton(peer or self.peer), socket.inet_aton(self.kernel)
        os.write(self.tun, build(src, dst, sport, dport, flags, seq, ack, window, options, payload))

    def wait(self, until_ns: int, flow: Flow | None = None) -> None:
        """Let time pass, and pass what the kernel sends to its flow; until this time, or until `flow` has received
        something."""
        if until_ns > self.now():
            set_timer(self.timer, until_ns)
        ready = select.poll()
        ready.register(self.tun, select.POLLIN)
        ready.register(self.timer, select.POLLIN)
        while not (flow and flow.queue):
            self.collect()
            if until_ns <= self.now() or (flow and flow.queue):
                return
            ready.poll()

    def collect(self) -> None:
        """Read what the kernel has sent up to now."""
        while True:
            try:
                segment = parse(os.read(self.tun, 1 << 16), self.now())
            except BlockingIOError:
                return
            for flow in self.flows:
                if segment and (segment.sport, segment.dport) == (flow.kernel_port, flow.port):
                    flow.take(segment)

    def route(self, to: str, metric: int) -> None:
        """Give the kernel a route of this metric to an address through us; it replaces the previous one."""
        with Route() as route:
            if to in self.routes:
                head = ROUTE.pack(socket.AF_INET, 32, 0, 0, MAIN_TABLE, 0, 255, 0, 0)
                route.request(25, head + attributes([(1, socket.inet_aton(to))]), what=f"no route to {to}")
            route.add_route(self.index, to, self.peer, metric=metric)
            self.routes.add(to)

    def connect(self, congestion: str = "reno", *, mss: int = 1000, sack: bool = False, window: int = 65535,
                scale: int = 0, delay_ns: int = 0, family: int = socket.AF_INET,
                to: str | None = None) -> Flow:  # fmt: skip
        """Let the kernel open a connection to us, and answer it after `delay_ns`, which becomes its round-trip time.
        `mss`, `sack`, `window` and `scale` are what we announce. An AF_INET6 socket uses a v4-mapped address. We answer
        for the address `to`, if the kernel has a route there."""
        kernel = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        kernel.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        kernel.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 23)
        kernel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        kernel.bind(("" if family == socket.AF_INET else "::", 0))
        flow = self.flow(kernel, self.next_port(), kernel.getsockname()[1], scale)
        flow.peer = to or self.peer
        mapped = "" if family == socket.AF_INET else "::ffff:"
        kernel.connect_ex((mapped + flow.peer, flow.port))
        syn = flow.expect("S")
        flow.their_first = syn.seq + 1
        self.wait(self.now() + delay_ns)
        options = struct.pack("!BBH", 2, 4, mss) + (b"\4\2" if sack else b"") + (bytes((3, 3, scale)) if scale else b"")
        numbers = flow.our_first - 1, flow.their_first
        self.send(flow.kernel_port, flow.port, "SA", *numbers, options=options, peer=flow.peer)
        flow.expect("A")
        if window != 65535:
            flow.send(ack=0, window=window)
        return flow

    def accept(self, port: int = 5001, *, mss: int = 1000, sack: bool = False, scale: int = 0,
               congestion: str = "reno") -> Flow:  # fmt: skip
        """Open a connection to a port of the kernel's."""
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
            listener.bind((self.kernel, port))
            listener.listen(1)
            flow = self.flow(listener, self.next_port(), port, scale)
            options = struct.pack("!BBH", 2, 4, mss) + (b"\4\2" if sack else b"")
            options += bytes((3, 3, scale)) if scale else b""
            self.send(port, flow.port, "S", flow.our_first - 1, 0, options=options)
            flow.their_first = flow.expect("SA").seq + 1
            flow.send()
            flow.socket, _ = listener.accept()
        flow.socket.setblocking(False)
        return flow

    def next_port(self) -> int:
        self.port += 1
        return self.port

    def flow(self, kernel: socket.socket, port: int, kernel_port: int, scale: int) -> Flow:
        self.flows.append(Flow(self, kernel, port, kernel_port, scale))
        return self.flows[-1]


class Flow:
    """One connection: the kernel's `socket`, and our side of it."""

    def __init__(self, wire: Wire, kernel: socket.socket, port: int, kernel_port: int, scale: int) -> None:
        self.wire, self.socket, self.port, self.kernel_port, self.scale = wire, kernel, port, kernel_port, scale
        self.peer = wire.peer
        self.our_first, self.their_first = 1_000_001, 0  # sequence numbers of the first byte of data
        self.sent = self.acked = 0  # our next byte, and what we acknowledged of theirs
        self.queue: deque[Segment] = deque()
        self.ends: list[int] = [0]  # of their segments, retransmissions apart; the first is acknowledged

    def take(self, segment: Segment) -> None:
        """Queue what the kernel has sent, with relative numbers once we know its first."""
        if self.their_first:
            blocks = struct.iter_unpack("!II", options_of(segment.options).get(5, b""))
            segment = segment._replace(
                seq=(segment.seq - self.their_first + (1 << 31)) % (1 << 32) - (1 << 31),
                ack=(segment.ack - self.our_first + (1 << 31)) % (1 << 32) - (1 << 31),
                sack=tuple((left - self.our_first, right - self.our_first) for left, right in blocks),
            )
            end = segment.seq + len(segment.payload)
            if end > self.ends[-1]:
                self.ends.append(end)
        self.queue.append(segment)

    def acknowledge(self, segments: int = 1) -> None:
        """Acknowledge the kernel's next segments, this many; some may be shorter than the maximum."""
        self.wire.collect()
        del self.ends[:segments]
        self.send(ack=self.ends[0])

    def send(self, flags: str = "A", *, seq: int | None = None, ack: int | None = None, payload: bytes = b"",
             options: bytes = b"", window: int = 65535) -> None:  # fmt: skip
        """Deliver a segment to the kernel, now. By default `seq` and `ack` continue from before."""
        seq = self.sent if seq is None else seq
        self.acked = self.acked if ack is None else ack
        self.sent = max(self.sent, seq + len(payload) + ("F" in flags))
        numbers = self.our_first + seq, self.their_first + self.acked
        self.wire.send(self.kernel_port, self.port, flags, *numbers, payload=payload, options=options,
                       window=window >> self.scale, peer=self.peer)  # fmt: skip

    def sack(self, *blocks: tuple[int, int]) -> bytes:
        """Return the option that says which further bytes of the kernel's have arrived."""
        ends = [(end + self.their_first) & 0xFFFFFFFF for block in blocks for end in block]
        return b"\1\1" + struct.pack(f"!BB{len(ends)}I", 5, 2 + 4 * len(ends), *ends)

    def write(self, count: int) -> None:
        """Have the kernel's program write this many bytes, all of which fit into the socket."""
        taken = self.socket.send(bytes(count))
        assert taken == count, f"the socket took {taken} of {count} bytes"

    def heard(self) -> list[Segment]:
        """Return what the kernel has sent and the test has not taken."""
        self.wire.collect()
        taken = list(self.queue)
        self.queue.clear()
        return taken

    def expect(self, flags: str | None = None, *, until_ns: int | None = None, **fields: object) -> Segment:
        """Return the next segment that the kernel sends, within a minute or until this time; it must have these flags
        and fields. Raises AssertionError if none comes, or another."""
        self.wire.wait(self.wire.now() + 60_000 * MS if until_ns is None else until_ns, self)
        assert self.queue, f"the kernel sent nothing; expected {flags} {fields}"
        segment = self.queue.popleft()
        wanted = dict(fields) if flags is None else {"flags": flags, **fields}
        found = {name: getattr(segment, name) for name in wanted}
        assert found == wanted, f"expected {wanted}, the kernel sent {segment}"
        return segment

    def silent(self, until_ns: int) -> None:
        """Let time pass. Raises AssertionError if the kernel sends something."""
        self.wire.wait(until_ns, self)
        assert not self.queue, f"expected nothing, the kernel sent {self.queue[0]}"
