# SPDX-License-Identifier: BSD-3-Clause
"""What a qdisc needs before it carries packets: options and classes.

Most need nothing. If the kernel refuses one without options, `find` tries what the user gave, what the kernel's own
qdisc takes whose name is in this one's (a copy is called `mychoke`), one option alone, what others of the kernel's own
take, and a structure of numbers. Classes likewise. A filter spreads packets over two classes by a bit of the port.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import struct
from typing import NamedTuple

from emulation.lane.netlink import CREATE, DUMP, EXCLUSIVE, NetlinkError, build
from emulation.lane.rtnetlink import QDISC, ROOT, TCA_KIND, TCA_OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from emulation.lane.netlink import Value

RATE = struct.Struct("=BBHhHI")  # struct tc_ratespec
WORD = struct.Struct("=I")
NUMBERS, WIDTHS = range(1, 21), (4, 1, 2, 8)  # of options: few qdiscs have more, and most are u32
VALUES = (0, 1, 2, 3, 4, 10, 100, 255, 1000, 2**16 - 1, 10**6, 2**31 - 1, 2**32 - 1, 2**63)
MOST_WORDS, WORDS = 16, (0, 1, 3, 100, 10_000)  # of a structure; its first word: the rest is 0
LONG = 100  # bytes: longer ones are tables
HANDLE = 0x30000  # of a qdisc with classes
CLASSES = 2
RTM_DELTCLASS, RTM_GETTCLASS, RTM_NEWTFILTER, RTM_DELTFILTER, ETH_P_ALL = 41, 42, 44, 45, 3
TCA_U32_CLASSID, TCA_U32_SEL, TC_U32_TERMINAL, TCA_MATCHALL_CLASSID, NESTED = 1, 5, 1, 1, 0x8000
PORT_BIT, AFTER_IPV4 = 1 << 16, 20  # of the sender's port, in the first word after an IPv4 header


class Setup(NamedTuple):
    """What a qdisc is made with: a structure, attributes after it, and the options of its classes. A shaper sends at
    a rate (bytes/s). Some take more options `then`, by changes, and others at any time: its `commands`. One that is
    `timed` takes only packets with a sending time."""

    structure: bytes = b""
    attributes: tuple[tuple[int, Value], ...] = ()
    classes: tuple[bytes, ...] = ()
    rate: int = 0
    then: tuple[bytes, ...] = ()
    commands: tuple[bytes, ...] = ()
    timed: bool = False

    def options(self, more: Iterable[tuple[int, Value]] = ()) -> bytes:
        """Return the options, with others added or in their place."""
        return self.structure + build((dict(self.attributes) | dict(more)).items())

    def needs_options(self) -> bool:
        return bool(self.structure or self.attributes)

    def places(self) -> list[int]:
        """Return where the words of its options are, except those of long tables."""
        found, at = list(range(0, len(self.structure) - WORD.size + 1, WORD.size)), len(self.structure)
        for attribute in self.attributes:
            end = at + len(build([attribute]))
            found += range(at + WORD.size, end, WORD.size) if end - at <= LONG else ()
            at = end
        return found


def rate(bytes_per_s: int) -> bytes:
    return RATE.pack(0, 1, 0, 0, 0, bytes_per_s)


def bucket(bytes_per_s: int, limit: int = 60_000, burst: int = 4000) -> Setup:
    """Return the setup of a token bucket: its rate, and limit and burst in bytes."""
    parameters = rate(bytes_per_s) + bytes(RATE.size) + struct.pack("=III", limit, 0, 0)
    return Setup(attributes=((1, parameters), (6, burst)), rate=bytes_per_s)


def red(limit: int, least: int, most: int) -> Setup:
    """Return the setup of RED and its like: limit and thresholds in bytes or packets. Commands set flags: ECN, that the
    hard limit drops, that thresholds adapt, and that nothing without ECN is dropped early."""
    first, *others = (
        ((1, struct.pack("=IIIBBBB", limit, least, most, 2, 12, 10, flags)), (2, bytes(256)), (3, 1 << log))
        for flags, log in ((0, 27), (1, 30), (1, 31), (3, 31), (4, 31), (5, 30), (9, 31))
    )
    return Setup(attributes=first, commands=tuple(map(build, others)))


def command_of_sfq(flags: int) -> bytes:
    """Return sfq's options with RED in each queue: of few packets, and of short ones."""
    shape = struct.pack("=IiIIIII", 1514, 1, 60, 16, 20, 12, flags & 1)
    return shape + struct.pack("=IIIBBBBI24x", 20_000, 1000, 4000, 2, 12, 10, flags, 1 << 31)


def command_of_netem(*attributes: tuple[int, Value], delay_us: int = 1000, twice: float = 0.0) -> bytes:
    """Return netem's options, with the probability that a packet comes twice."""
    return struct.pack("=6I", delay_us, 1000, 0, 0, int(twice * (2**32 - 1)), 100) + build(attributes)


PART, MOST = 2**30, 2**32 - 1  # probabilities
COMMANDS_OF_NETEM = (
    command_of_netem((1, struct.pack("=3I", PART, PART, PART)), twice=0.3),
    command_of_netem((3, struct.pack("=2I", PART, PART))),
    command_of_netem((4, struct.pack("=2I", PART, 0))),
    command_of_netem((5, build([(1, struct.pack("=5I", PART, PART, PART, PART, PART))]))),
    command_of_netem((5, build([(2, struct.pack("=4I", PART, PART, MOST - PART, PART))]))),
    command_of_netem((6, struct.pack("=IiIi", 100_000, 20, 100, 5))),
    command_of_netem((12, struct.pack("=qqiiqq", 1_000_000, 20_000_000, 3, 2000, 0, 0))),
    command_of_netem((3, struct.pack("=2I", PART, 0)), (7, 1), delay_us=50_000),
)


def virtual_queue(number: int, priority: int, least: int, most: int) -> bytes:
    """Return gred's options of a queue: its thresholds in bytes. Queues of one priority share an average."""
    parameters = struct.pack("=4I24x4B8x", 60_000, least, most, number, 2, 12, 10, priority)
    return build([(1, parameters), (2, bytes(256)), (4, 1 << 27)])


def queues_of_gred(count: int) -> list[tuple[int, Value]]:
    return [(3, struct.pack("=IIBBH", count, 0, 1, 0, 0))]


def command_of_plug(action: int, limit: int = 200_000) -> bytes:
    return struct.pack("=iI", action, limit)


# Rates are above that of the workout's radio, in bytes/s. The order of values is that of linux/pkt_sched.h.
FAST, ETHERNET = 500_000, 1_250_000
SHARE = rate(FAST // CLASSES)
CLOCK_TAI = 11
PRIOMAP = bytes((1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1))
KERNELS: Mapping[str, Setup] = {
    "cbs": Setup(
        attributes=((1, struct.pack("=B3x4i", 0, 1000, -1000, FAST // 125, (FAST - ETHERNET) // 125)),), rate=FAST
    ),
    "choke": red(100, 5, 15),
    "drr": Setup(classes=(b"",) * CLASSES),
    "etf": Setup(attributes=((1, struct.pack("=iiI", 300_000, CLOCK_TAI, 4)),), timed=True),
    "ets": Setup(attributes=((1, b"\3"), (2, b"\1"))),
    "gred": Setup(
        attributes=(*queues_of_gred(2), (5, 60_000)),
        then=(virtual_queue(0, 2, 3000, 15_000), virtual_queue(1, 2, 3000, 15_000)),
        commands=(build(queues_of_gred(1)), build(queues_of_gred(3)), virtual_queue(0, 1, 2000, 8000),
                  virtual_queue(1, 2, 1500, 20_000), virtual_queue(0, 2, 3000, 15_000)),
    ),
    "hfsc": Setup(
        struct.pack("=H", 1),
        classes=(build([(1, struct.pack("=III", 0, 0, FAST // 50)), (2, struct.pack("=III", 0, 0, FAST))]),) * CLASSES,
    ),
    "htb": Setup(
        attributes=((2, struct.pack("=5I", 3, 10, 1, 0, 0)),), rate=FAST,
        classes=(build([(1, SHARE + SHARE + struct.pack("=5I", 400_000, 400_000, 0, 0, 0))]),) * CLASSES,
    ),
    "multiq": Setup(bytes(4)),
    "netem": Setup(
        struct.pack("=6I", 0, 1000, 0, 0, 0, 0), ((10, struct.pack("=q", 2_000_000)),), commands=COMMANDS_OF_NETEM
    ),
    "plug": Setup(then=(command_of_plug(2),), commands=tuple(map(command_of_plug, (0, 1, 2, 3)))),
    "prio": Setup(struct.pack("=i16s", 3, PRIOMAP)),
    "red": red(60_000, 3000, 15_000),
    "sfq": Setup(command_of_sfq(0)[:20], commands=tuple(map(command_of_sfq, (0, 1, 3, 9)))),
    "tbf": bucket(FAST),
}  # fmt: skip
NOTHING = Setup()
FOUND: dict[str, Setup] = {}  # by the qdisc's name


def of(kind: str) -> Setup:
    return FOUND.get(kind, NOTHING)


def find(node: Any, kind: str, given: bytes = b"") -> Setup:
    """Find out what a qdisc needs, and remember it. `given` are the user's options. Raises NetlinkError, the first of
    all, if nothing is accepted."""
    refused = None
    for setup in candidates(kind, given):
        try:
            remake(node, kind, setup)
        except NetlinkError as error:
            refused = refused or error
            if error.errno == errno.ENOENT:  # no qdisc has this name; each attempt would start modprobe
                break
            continue
        FOUND[kind] = setup
        return setup
    raise refused or AssertionError(kind)


def candidates(kind: str, given: bytes) -> Iterator[Setup]:
    """Yield setups to try, in order."""
    if given:
        yield Setup(given)
        return
    alike = sorted((name for name in KERNELS if name in kind), key=len, reverse=True)
    yield from map(KERNELS.__getitem__, alike)
    yield NOTHING
    for number in NUMBERS:
        for width in WIDTHS:
            for value in (value for value in VALUES if value < 1 << 8 * width):
                yield Setup(attributes=((number, value.to_bytes(width, "little")),))
    yield from (setup for name, setup in KERNELS.items() if kind and name not in alike)
    for words in range(1, MOST_WORDS + 1):
        for first in WORDS:
            yield Setup(WORD.pack(first) + bytes(WORD.size * (words - 1)))


def remake(node: Any, kind: str, setup: Setup, parent: int = ROOT, handle: int = 0) -> None:
    """Put the qdisc anew, with all that it needs. Raises NetlinkError if the kernel refuses."""
    route, index = node.route, node.radio.index
    handle = HANDLE if setup.classes else handle
    if setup.needs_options() or setup.classes:
        route.replace_qdisc(index, "pfifo", None, parent)
    route.replace_qdisc(index, kind, setup.options() if setup.needs_options() else None, parent, handle)
    add_classes(node, kind, setup)
    for options in setup.then:
        route.replace_qdisc(index, kind, options, parent, handle)


def add_classes(node: Any, kind: str, setup: Setup) -> None:
    """Give a new qdisc its classes. Raises NetlinkError if the kernel refuses."""
    for number, options in enumerate(setup.classes, 1):
        node.route.add_class(node.radio.index, kind, options, HANDLE, HANDLE + number)
    if setup.classes:
        spread(node)


def spread(node: Any) -> None:
    """Send packets from odd ports to the second class of the qdisc, by the first filter; all others to the first."""
    key = struct.pack("=BBBxHHhh4s", TC_U32_TERMINAL, 0, 1, 0, 0, 0, 0, bytes(4))
    key += struct.pack("!II", PORT_BIT, PORT_BIT) + struct.pack("=ii", AFTER_IPV4, 0)
    with contextlib.suppress(NetlinkError):  # they are there, or the qdisc takes none
        add_filter(node, 2, "matchall", [(TCA_MATCHALL_CLASSID, HANDLE + 1)])
        add_filter(node, 1, "u32", [(TCA_U32_CLASSID, HANDLE + 2), (TCA_U32_SEL, key)])


def add_filter(node: Any, priority: int, kind: str, values: list[tuple[int, Value]]) -> None:
    info = priority << 16 | socket.htons(ETH_P_ALL)
    payload = QDISC.pack(socket.AF_UNSPEC, node.radio.index, 0, HANDLE, info)
    payload += build([(TCA_KIND, kind), (TCA_OPTIONS | NESTED, build(values))])
    node.route.request(RTM_NEWTFILTER, payload, CREATE | EXCLUSIVE, f"filter of {kind}")


def show_classes(node: Any) -> None:
    """Let the qdiscs of a link describe their classes."""
    payload = QDISC.pack(socket.AF_UNSPEC, node.radio.index, 0, 0, 0)
    node.route.request(RTM_GETTCLASS, payload, DUMP, "classes")


def delete_class(node: Any, number: int) -> None:
    """Delete a class, and what sends packets to it. Raises NetlinkError if the kernel refuses."""
    index, priority = node.radio.index, CLASSES + 1 - number
    if priority > 0:
        info = priority << 16 | socket.htons(ETH_P_ALL)
        with contextlib.suppress(NetlinkError):  # there is none
            node.route.request(RTM_DELTFILTER, QDISC.pack(socket.AF_UNSPEC, index, 0, HANDLE, info), what="filter")
    node.route.request(RTM_DELTCLASS, QDISC.pack(socket.AF_UNSPEC, index, HANDLE + number, HANDLE, 0), what="class")


def find_classes(node: Any, kind: str) -> bool:
    """Find out what classes a qdisc takes, if it has none; remember it. Return whether there is something."""
    for options in (b"", *(one.options() for one in candidates("", b"") if one.attributes)):
        with contextlib.suppress(NetlinkError):
            setup = of(kind)._replace(classes=(options,) * CLASSES)
            remake(node, kind, setup)
            FOUND[kind] = setup
            return True
    return False
