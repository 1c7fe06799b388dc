# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines under test: as a link's root, and as the child of a token bucket, which peeks and falls behind.

Nothing is known of the qdisc but its name, so its options are found out: what it accepts of all numbers, widths and
values that options may have is what it is changed to then.
"""

from __future__ import annotations

import socket
import struct

from emulation.lane.check.crowd import DEAF_PORT
from emulation.lane.check.job import reason
from emulation.lane.netlink import CREATE, DUMP, NESTED, REPLACE, NetlinkError, build, parse
from emulation.lane.rtnetlink import QDISC, ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.lane.check.job import Job
    from emulation.lane.check.playground import Playground
    from emulation.lane.netlink import Value
    from emulation.lane.node import Station

NEW, DELETE, GET = 36, 37, 38  # RTM_*QDISC
KIND, OPTIONS = 1, 2  # TCA_*
TBF_PARAMETERS, TBF_BURST = 1, 6  # TCA_TBF_*
RATE = struct.Struct("=BBHhHI")  # struct tc_ratespec
OWN_HANDLE, CHILD = 0x10000, 0x10001
NUMBERS, WIDTHS = range(1, 21), (4, 1, 2, 8)  # of options: few qdiscs have more, and most are u32
VALUES = (0, 1, 2, 3, 4, 10, 100, 1000, 10**6, 2**31 - 1, 2**32 - 1, 2**63)
MOST_CHANGED = 4  # options at once
CHANGES, CHANGES_S = 60, 12.0
SLOW, FLOOD = 10_000, 150  # bytes/s of the bucket, and datagrams: more than a queue holds


class Queues:
    """The qdisc `kind` at all stations; `kind` is None if there is none, or none that comes without options."""

    def __init__(self, kind: str | None, playground: Playground, job: Job) -> None:
        self.kind, self.playground, self.job = kind, playground, job
        self.accepted: dict[int, list[bytes]] = {}  # by the option's number

    def put_everywhere(self) -> None:
        try:
            for station in self.playground.stations if self.kind else ():
                put(station, self.kind or "")
        except NetlinkError as error:
            self.job.note(f"{error.strerror}; so it was loaded, but not used")
            self.kind = None

    def remove_everywhere(self) -> None:
        for station in self.playground.stations if self.kind else ():
            put(station, "pfifo")

    def qdiscs(self) -> None:
        """Put, changed, looked at, overloaded and removed, with packets in it."""
        self.learn(self.playground.stations[-1])
        self.playground.some_time(CHANGES, CHANGES_S, self.change)
        self.put_everywhere()

    def learn(self, station: Station) -> None:
        """Find out what options the qdisc takes."""
        for number in NUMBERS:
            for width in WIDTHS:
                values = [value.to_bytes(8, "little")[:width] for value in VALUES if value < 1 << 8 * width]
                if accepted := [value for value in values if self.takes(station, [(number, value)])]:
                    self.accepted[number] = accepted
                    break
        self.job.seen["options"] = {number: len(values) for number, values in self.accepted.items()}

    def takes(self, station: Station, options: Sequence[tuple[int, bytes]]) -> bool:
        told = " ".join(f"{number}={value.hex()}" for number, value in options)
        what = f"qdisc {self.kind} at {station.name} with {told}"
        return self.job.try_to(what, lambda: put(station, self.kind or "", build(options)))

    def change(self) -> None:
        random, kind = self.playground.random, self.kind or ""
        station = random.choice(self.playground.stations)
        numbers = random.sample(list(self.accepted), min(random.randint(1, MOST_CHANGED), len(self.accepted)))
        options = [(number, random.choice(self.accepted[number])) for number in numbers]
        manner = random.choice(("options", "anew", "behind a token bucket", "removed"))
        what = f"qdisc {kind} at {station.name} {manner}"
        if manner == "options":
            self.takes(station, options)
        elif manner == "anew":
            self.job.try_to(what, lambda: put(station, "pfifo"))
            self.takes(station, options)
        elif manner == "removed":
            self.job.try_to(what, lambda: remove(station))
        else:
            self.job.try_to(what, lambda: put_behind_bucket(station, kind, SLOW))
        self.flood(station)
        kinds(station)

    def flood(self, station: Station) -> None:
        """More datagrams at once than a queue holds."""
        others = [other for other in self.playground.stations if other is not station]
        ip = self.playground.random.choice(others).IP()
        with station, socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as udp:
            try:
                for _ in range(FLOOD):
                    udp.sendto(bytes(10), (ip, DEAF_PORT))
            except OSError as error:  # no buffers, no route
                self.job.say(f"flood at {station.name}: {reason(error)}")


def put(station: Station, kind: str, options: bytes | None = None, parent: int = ROOT, handle: int = 0) -> None:
    """Make a qdisc the root of a station's link, or another's child; if it is that already: change it.

    Raises NetlinkError.
    """
    assert station.radio
    values: list[tuple[int, Value]] = [(KIND, kind)]
    if options is not None:
        values.append((OPTIONS | NESTED, options))
    payload = QDISC.pack(0, station.radio.index, handle, parent, 0) + build(values)
    station.route.request(NEW, payload, CREATE | REPLACE, f"qdisc {kind}")


def put_behind_bucket(station: Station, kind: str, bytes_per_s: int) -> None:
    """A token bucket as the root, and the qdisc as its child: now it has a backlog, and is peeked at."""
    rate = RATE.pack(0, 1, 0, 0, 0, bytes_per_s)
    parameters = rate + bytes(RATE.size) + struct.pack("=III", 1 << 16, 0, 0)
    remove(station)
    put(station, "tbf", build([(TBF_PARAMETERS, parameters), (TBF_BURST, 4000)]), handle=OWN_HANDLE)
    put(station, kind, parent=CHILD)


def remove(station: Station) -> None:
    """Give a station's link its own root qdisc back. Raises NetlinkError if it has no other."""
    assert station.radio
    station.route.request(DELETE, QDISC.pack(0, station.radio.index, 0, ROOT, 0), what="qdisc")


def kinds(station: Station) -> list[str]:
    """The qdiscs of a station; on the way, each tells its options and statistics."""
    answers = station.route.request(GET, QDISC.pack(0, 0, 0, 0, 0), DUMP, "qdiscs")
    return [parse(answer[QDISC.size :])[KIND].rstrip(b"\0").decode() for answer in answers]
