# SPDX-License-Identifier: BSD-3-Clause
"""What the distribution system does when a station moves from one access point to another.

The kernel of the new access point sends a layer-2 update in the station's name: an LLC XID frame to all (IEEE 802.2,
5.4.1.2.2), as IEEE 802.11F has it. Bridges learn from it where the station is. But an access point that still has the
station would send frames of its other clients into its own cell. So it drops a station whose update comes in at another
port, as hostapd did while it supported 802.11F.

Open vSwitch counts the packets of its cached flows twice a second, and learns from them as if they had just come: so it
forgets the update if the station sent through its old access point shortly before. Such an access point's switch gets
the update a second time.

A separate process waits for these frames, as they may come while no measurement runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import struct
import time

from emulation.lane import syscalls
from emulation.lane.interfaces.radio import IFINDEX, MAC
from emulation.lane.netlink import Generic, NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.lane.network import Network

    # the socket of a port of an access point; nl80211 there; the radios at its other ports that are access points;
    # the names of its switch of Open vSwitch and of the port, if the port is an access point
    Port = tuple[socket.socket, Generic, list[int], list[str]]

DEL_STATION = 20  # of nl80211
ETH_P_ALL, SOL_PACKET = 3, 263  # linux/if_ether.h, linux/socket.h
ATTACH_FILTER, IGNORE_OUTGOING = 26, 23  # asm-generic/socket.h, linux/if_packet.h
AGAIN_NS = 600_000_000  # after an update; Open vSwitch counts at least each 500 ms
SOURCE = slice(6, 12)  # of an Ethernet frame
# Classic BPF (linux/filter.h): a frame of length 6, with DSAP 0, SSAP 1 (a response), and control field XID.
HALF, BYTE, AND, EQUAL, RETURN = 0x28, 0x30, 0x54, 0x15, 0x06
INSTRUCTION, PROGRAM = struct.Struct("=HBBI"), struct.Struct("@HP")
FILTER = (
    (HALF, 0, 0, 12), (EQUAL, 0, 6, 6), (HALF, 0, 0, 14), (EQUAL, 0, 4, 1),
    (BYTE, 0, 0, 16), (AND, 0, 0, 0xEF), (EQUAL, 0, 1, 0xAF), (RETURN, 0, 0, 64), (RETURN, 0, 0, 0),
)  # fmt: skip


class Distribution:
    """The process that serves all access points of a network; there is none if a station cannot change."""

    def __init__(self, net: Network) -> None:
        self.child = 0
        aps = [each for each in net.interfaces() if net.link_of(each).is_ap(each)]
        if len(aps) > 1:
            with contextlib.ExitStack() as sockets:
                ports: list[Port] = []
                for node in dict.fromkeys(ap.node for ap in aps if ap.node.join_bridge):
                    with node:
                        nl80211 = sockets.enter_context(Generic())
                        for port in node.interfaces:
                            others = [one.index for one in aps if one.node is node and one is not port]
                            names = [node.switch.name, port.name] if node.switch and port in aps else []
                            ports.append((sockets.enter_context(update_socket(port.name)), nl80211, others, names))
                self.child = os.fork()
                if self.child == 0:
                    serve(ports)

    def close(self) -> None:
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = 0


def update_socket(port: str) -> socket.socket:
    """Return a socket that receives the layer-2 updates that come in at an interface of this namespace."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 0)
    code = ctypes.create_string_buffer(b"".join(INSTRUCTION.pack(*each) for each in FILTER))
    made.setsockopt(socket.SOL_SOCKET, ATTACH_FILTER, PROGRAM.pack(len(FILTER), ctypes.addressof(code)))
    made.setsockopt(SOL_PACKET, IGNORE_OUTGOING, 1)
    made.bind((port, ETH_P_ALL))
    return made


def serve(ports: Sequence[Port]) -> None:
    """Drop stations that are elsewhere, until this process is killed. It keeps none of its parent's other files: some
    of them hold radios."""
    try:
        syscalls.die_with_parent(signal.SIGKILL)
        os.setpgid(0, 0)  # an interrupt at a prompt does not reach it
        last = -1
        for descriptor in sorted({each.fileno() for one, nl80211, *_ in ports for each in (one, nl80211.socket)}):
            os.closerange(last + 1, descriptor)
            last = descriptor
        os.closerange(last + 1, os.sysconf("SC_OPEN_MAX"))
        poll, by_descriptor = select.poll(), {port[0].fileno(): port for port in ports}
        for descriptor in by_descriptor:
            poll.register(descriptor, select.POLLIN)
        updates: list[tuple[int, list[str], bytes]] = []  # when to repeat them, and where
        while True:
            wait = max(updates[0][0] - time.monotonic_ns(), 0) / 1e6 if updates else None
            for descriptor, _ in poll.poll(wait):
                port_socket, nl80211, others, names = by_descriptor[descriptor]
                with contextlib.suppress(BlockingIOError):
                    while frame := port_socket.recv(64):
                        drop(frame, nl80211, others)
                        if names:
                            updates.append((time.monotonic_ns() + AGAIN_NS, names, frame))
            while updates and updates[0][0] <= time.monotonic_ns():
                repeat(*updates.pop(0)[1:])
    finally:
        os._exit(1)


def drop(frame: bytes, nl80211: Generic, others: Sequence[int]) -> None:
    """Drop the station of an update from the access points at the other ports. The kernel informs hostapd;
    nothing is sent to the station, which would not receive it."""
    for index in others:
        with contextlib.suppress(NetlinkError):  # the station is not there, or the access point is off
            nl80211.command("nl80211", DEL_STATION, [(IFINDEX, index), (MAC, frame[SOURCE])])


def repeat(names: Sequence[str], frame: bytes) -> None:
    """Let a switch take an update as if it had come in again."""
    from subprocess import DEVNULL, run

    from emulation.lane.ovs import ENVIRONMENT, VERSIONS

    switch, port = names
    packet = f'in_port="{port}",packet={frame.hex()},actions=table'
    command = ["ovs-ofctl", "-O", VERSIONS, "packet-out", switch, packet]
    run(command, env={**os.environ, **ENVIRONMENT}, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
