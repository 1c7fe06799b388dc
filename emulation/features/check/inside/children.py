# SPDX-License-Identifier: BSD-3-Clause
"""A qdisc with classes: what is below it drops, replaces and segments packets, and its classes go.

Once a child has a packet, its parent may not touch it: some children free a packet that they accept. A class may be
deleted while it has packets, and its qdisc must forget it. It may also get classes of its own while its packets wait.
"""

from __future__ import annotations

import contextlib
import socket
import struct
from functools import partial

from emulation.features.check.inside import setups
from emulation.features.check.inside.devices import Loopback
from emulation.features.check.inside.queues import SLOW, put, put_behind_bucket
from emulation.lane import netem
from emulation.lane.netlink import build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from emulation.features.check.inside.queues import Queues
    from emulation.lane.node import Node

HANDLE, FIRST = setups.HANDLE, 1  # of the qdisc; of its first class, or child
FEW, MANY, BETWEEN_S = 10, 300, 0.1  # datagrams, or packets: more than pass at once
LIMIT, LOST, RATE = 2, 0.3, 1_000_000  # packets; as a probability; bytes/s
TCA_FQ_CODEL_LIMIT, TCA_CAKE_BASE_RATE64 = 2, 2
SHORT = 1000  # bytes: a longer packet is segmented
LOSING, TURNS, SIZES = 0x50000, 4, (100, 2 * SHORT, 2 * SHORT)  # a handle; what comes at once, and how often
ADDRESS = "127.0.9.9", 7200
# Two drop what they get or hold, one loses some and tells nobody, and two segment packets, and free the original.
CHILDREN = {
    "pfifo": struct.pack("=I", LIMIT),
    "fq_codel": build([(TCA_FQ_CODEL_LIMIT, LIMIT)]),
    "netem": netem.pack({}, lost=LOST),
    "cake": build([(TCA_CAKE_BASE_RATE64, struct.pack("=Q", RATE))]),
    "tbf": setups.bucket(RATE, burst=SHORT).options(),
}


def use_children(queues: Queues, node: Node) -> None:
    """Give the qdisc under test other children, and delete its classes while they hold packets."""
    kind, job, playground = queues.kind or "", queues.job, queues.playground
    backlog = partial(job.attempt, f"qdisc {kind} with a backlog at {node.name}")
    for child, options in CHILDREN.items():
        if not backlog(partial(put_behind_bucket, node, kind, SLOW, None, HANDLE)):
            return
        if job.attempt(f"{child} below it", partial(put, node, child, options, HANDLE + FIRST)):
            queues.flood(node, long=True)
            playground.run(BETWEEN_S)
    job.attempt("a child that is empty when it is asked for its packets", partial(lose, queues, Loopback(node)))
    for number in range(len(setups.of(kind).classes)):
        backlog(partial(put_behind_bucket, node, kind, SLOW, None, HANDLE))
        queues.flood(node)
        job.attempt(f"delete class {number + 1} of {kind}", partial(setups.delete_class, node, number + 1))
        queues.flood(node, FEW)
        playground.run(BETWEEN_S)


def put_losing(node: Any, parent: int = HANDLE + FIRST) -> None:
    """Put a child that has packets, and none any more once it is asked for the next one: it hands long packets to a
    queue that has no room for them. Raises NetlinkError if the kernel refuses."""
    put(node, "netem", netem.pack({}), parent, LOSING)
    put(node, "bfifo", struct.pack("=I", SHORT), LOSING + 1)


def lose(queues: Queues, node: Any) -> None:
    """Have a child that loses what it holds, and delete its class. Raises NetlinkError if the kernel refuses."""
    put(node, "pfifo")
    put_behind_bucket(node, queues.kind or "", SLOW, None, HANDLE)
    put_losing(node)
    for _ in range(TURNS):
        send(node, FIRST)
        queues.playground.run(BETWEEN_S)
    if setups.of(queues.kind or "").classes:
        setups.delete_class(node, FIRST)
    send(node, FIRST + 1)
    queues.playground.run(BETWEEN_S)
    put(node, "pfifo")


def send(node: Any, number: int) -> None:
    """Send datagrams of some sizes to a class."""
    with node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:  # fmt: skip
        receiver.bind(ADDRESS)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, HANDLE + number)
        for size in SIZES:
            with contextlib.suppress(OSError):  # it is dropped at once
                sender.sendto(bytes(size), ADDRESS)


def use_grandchildren(queues: Queues, node: Node) -> None:
    """Give each class one of its own while its packets wait for its turn, and delete both."""
    loopback: Any = Loopback(node)
    kind, job = queues.kind or "", queues.job
    classes, grandchild = setups.of(kind).classes, HANDLE + len(setups.of(kind).classes) + 1
    for number, options in enumerate(classes, 1):
        job.attempt(f"qdisc {kind} at {loopback.name}", partial(put, loopback, kind))
        queues.packets.send(loopback, MANY)
        add = partial(node.route.add_class, loopback.radio.index, kind, options, HANDLE + number, grandchild)
        job.attempt(f"class below class {number}", add)
        for which in (len(classes) + 1, number):
            queues.packets.send(loopback, FEW)
            job.attempt(f"delete class {which} of {kind}", partial(setups.delete_class, loopback, which))
        queues.packets.send(loopback, MANY)
        queues.playground.run(BETWEEN_S)
    if classes:
        put(loopback, "pfifo")
