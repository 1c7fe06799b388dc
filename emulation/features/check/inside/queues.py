# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines under test: as a link's root, and as the child of a token bucket, which peeks and builds a
backlog.

Only the qdisc's name is known, so its options are discovered. What it accepts of all numbers, widths and values that
options may have is used to change it later.
"""

from __future__ import annotations

import contextlib
import socket
import struct

from emulation.features.check.inside.crowd import CLOSED_PORT
from emulation.features.check.inside.job import reason
from emulation.lane.netlink import NetlinkError, build, text
from emulation.lane.rtnetlink import ROOT, TCA_KIND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.features.check.inside.job import Job
    from emulation.features.check.inside.playground import Playground
    from emulation.lane.node import Node

TCA_TBF_PARMS, TCA_TBF_BURST = 1, 6
RATE = struct.Struct("=BBHhHI")  # struct tc_ratespec
OWN_HANDLE, CHILD = 0x10000, 0x10001
NUMBERS, WIDTHS = range(1, 21), (4, 1, 2, 8)  # of options: few qdiscs have more, and most are u32
VALUES = (0, 1, 2, 3, 4, 10, 100, 255, 1000, 2**16 - 1, 10**6, 2**31 - 1, 2**32 - 1, 2**63)
MOST_CHANGED = 4  # options at once
CHANGES, CHANGES_S = 60, 12.0
SLOW, FLOOD, FEW, BETWEEN_S = 10_000, 150, 10, 0.1  # bytes/s of the bucket; datagrams: more than a queue holds, less
SMALL_LIMITS = (1, 2, 3)  # what may be the limit of a queue
PRIO = struct.pack("=i16s", 3, bytes(16))  # struct tc_prio_qopt: all to the first band
PRIO_HANDLE, BAND = 0x20000, 0x20001


class Queues:
    """The qdisc `kind` at all nodes; `kind` is None if there is none, or if it needs options."""

    def __init__(self, kind: str | None, playground: Playground, job: Job) -> None:
        self.kind, self.playground, self.job = kind, playground, job
        self.accepted: dict[int, list[bytes]] = {}  # by the option's number

    def put_everywhere(self) -> None:
        try:
            for node in self.playground.nodes if self.kind else ():
                put(node, self.kind or "")
        except NetlinkError as error:
            self.give_up(str(error.strerror))

    def give_up(self, why: str) -> None:
        self.remove_everywhere()
        self.job.note(f"{why}; so it was loaded, but not used")
        self.kind = None

    def remove_everywhere(self) -> None:
        for node in self.playground.nodes if self.kind else ():
            put(node, "pfifo")

    def qdiscs(self) -> None:
        """Change, inspect, overload and remove the qdiscs, while they hold packets."""
        self.find_options(self.playground.nodes[-1])
        self.set_small_limits(self.playground.nodes[-1])
        self.playground.at_random_times(CHANGES, CHANGES_S, self.change)
        self.put_everywhere()

    def find_options(self, node: Node) -> None:
        """Find out which options the qdisc accepts."""
        for number in NUMBERS:
            for width in WIDTHS:
                values = [value.to_bytes(8, "little")[:width] for value in VALUES if value < 1 << 8 * width]
                if accepted := [value for value in values if self.accepts(node, [(number, value)])]:
                    self.accepted[number] = accepted
                    break
        self.job.results["options"] = {number: len(values) for number, values in self.accepted.items()}

    def accepts(self, node: Node, options: Sequence[tuple[int, bytes]], parent: int = ROOT) -> bool:
        described = " ".join(f"{number}={value.hex()}" for number, value in options)
        what = f"qdisc {self.kind} at {node.name} with {described}"
        return self.job.attempt(what, lambda: put(node, self.kind or "", build(options), parent))

    def set_small_limits(self, node: Node) -> None:
        """Change each option that may be a limit to a small value while there is a backlog, as the child of a bucket
        and of prio."""
        for number, values in self.accepted.items():
            small = [value for value in values if int.from_bytes(value, "little") in SMALL_LIMITS]
            what = f"qdisc {self.kind} with a backlog at {node.name}"
            if small and self.job.attempt(what, lambda: put_behind_prio(node, self.kind or "", SLOW)):
                self.flood(node)
                self.accepts(node, [(number, self.playground.random.choice(small))], BAND)
                self.flood(node, FEW)
                self.playground.run(BETWEEN_S)

    def change(self) -> None:
        random, kind = self.playground.random, self.kind or ""
        node = random.choice(self.playground.nodes)
        numbers = random.sample(list(self.accepted), min(random.randint(1, MOST_CHANGED), len(self.accepted)))
        options = [(number, random.choice(self.accepted[number])) for number in numbers]
        action = random.choice(("options", "anew", "behind a token bucket", "removed"))
        what = f"qdisc {kind} at {node.name} {action}"
        if action == "options":
            self.accepts(node, options)
        elif action == "anew":
            self.job.attempt(what, lambda: put(node, "pfifo"))
            self.accepts(node, options)
        elif action == "removed":
            self.job.attempt(what, lambda: remove(node))
        else:
            self.job.attempt(what, lambda: put_behind_bucket(node, kind, SLOW))
        self.flood(node)
        kinds(node)

    def renew(self, node: Node) -> None:
        """Remove it and put it again, if possible."""
        self.job.attempt(f"qdisc {self.kind} at {node.name} anew", lambda: put(node, "pfifo"))
        self.accepts(node, [])

    def flood(self, node: Node, count: int = FLOOD) -> None:
        """Send datagrams at once."""
        others = [other for other in self.playground.nodes if other is not node]
        ip = self.playground.random.choice(others).IP()
        with node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            try:
                for _ in range(count):
                    udp.sendto(bytes(10), (ip, CLOSED_PORT))
            except OSError as error:  # no buffers, no route
                self.job.say(f"flood at {node.name}: {reason(error)}")


def put(node: Node, kind: str, options: bytes | None = None, parent: int = ROOT, handle: int = 0) -> None:
    """Make a qdisc the root of a node's link, or a child; change it if it is there already.

    Raises NetlinkError if the kernel refuses.
    """
    node.route.replace_qdisc(node.radio.index, kind, options, parent, handle)


def put_behind_bucket(node: Node, kind: str, bytes_per_s: int, options: bytes | None = None, handle: int = 0) -> None:
    """Put a token bucket as the root, and the qdisc as its child, which then has a backlog and is peeked at. The root
    may be the default qdisc, which cannot be removed."""
    rate = RATE.pack(0, 1, 0, 0, 0, bytes_per_s)
    parameters = rate + bytes(RATE.size) + struct.pack("=III", 1 << 16, 0, 0)
    with contextlib.suppress(NetlinkError):
        remove(node)
    put(node, "tbf", build([(TCA_TBF_PARMS, parameters), (TCA_TBF_BURST, 4000)]), handle=OWN_HANDLE)
    put(node, kind, options, CHILD, handle)


def put_behind_prio(node: Node, kind: str, bytes_per_s: int) -> None:
    """Put it behind a token bucket, as a child of prio, which peeks at it, too."""
    put_behind_bucket(node, "prio", bytes_per_s, PRIO, PRIO_HANDLE)
    put(node, kind, parent=BAND)


def remove(node: Node) -> None:
    """Give a node's link its default root qdisc. Raises NetlinkError if it has it already."""
    node.route.delete_qdisc(node.radio.index)


def kinds(node: Node) -> list[str]:
    """Return the qdiscs of a node; the dump also makes each report its options and statistics."""
    return [text(found[TCA_KIND]) for _, _, found in node.route.qdiscs()]
