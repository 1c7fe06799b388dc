# SPDX-License-Identifier: BSD-3-Clause
"""Queueing disciplines under test: as a link's root, and as the child of a token bucket, which peeks and falls behind.

Nothing is known of the qdisc but its name, so its options are drawn: what netlink and the qdisc refuse is refused.
"""

from __future__ import annotations

import struct

from emulation.netlink import CREATE, DUMP, NESTED, REPLACE, build, parse
from emulation.rtnetlink import QDISC, ROOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

    from emulation.netlink import Value
    from emulation.rtnetlink import Route

NEW, DELETE, GET = 36, 37, 38  # RTM_*QDISC
KIND, OPTIONS = 1, 2  # TCA_*
TBF_PARAMETERS, TBF_BURST = 1, 6  # TCA_TBF_*
RATE = struct.Struct("=BBHhHI")  # struct tc_ratespec
OWN_HANDLE, CHILD = 0x10000, 0x10001
LAST_OPTION = 20  # attributes of a qdisc are numbered from 1, and few have more


def put(route: Route, link: int, kind: str, options: bytes | None = None, parent: int = ROOT, handle: int = 0) -> None:
    """Make a qdisc the root of a link, or another's child; if it is that already: change it. Raises NetlinkError."""
    values: list[tuple[int, Value]] = [(KIND, kind)]
    if options is not None:
        values.append((OPTIONS | NESTED, options))
    payload = QDISC.pack(0, link, handle, parent, 0) + build(values)
    route.request(NEW, payload, CREATE | REPLACE, f"qdisc {kind}")


def put_behind_bucket(route: Route, link: int, kind: str, bytes_per_s: int) -> None:
    """A token bucket as the root, and the qdisc as its child: now it has a backlog, and is peeked at."""
    rate = RATE.pack(0, 1, 0, 0, 0, bytes_per_s)
    parameters = rate + bytes(RATE.size) + struct.pack("=III", 1 << 16, 0, 0)
    remove(route, link)
    put(route, link, "tbf", build([(TBF_PARAMETERS, parameters), (TBF_BURST, 4000)]), handle=OWN_HANDLE)
    put(route, link, kind, parent=CHILD)


def remove(route: Route, link: int) -> None:
    """Give a link its own root qdisc back. Raises NetlinkError if it has no other."""
    route.request(DELETE, QDISC.pack(0, link, 0, ROOT, 0), what="qdisc")


def kinds(route: Route) -> list[str]:
    """The qdiscs there are; on the way, each tells its options and statistics."""
    answers = route.request(GET, QDISC.pack(0, 0, 0, 0, 0), DUMP, "qdiscs")
    return [parse(answer[QDISC.size :])[KIND].rstrip(b"\0").decode() for answer in answers]


def some_options(random: Random) -> bytes:
    """Options that may make no sense: a few attributes of any number, width and value, the ends of the range often."""
    found: list[tuple[int, Value]] = []
    for _ in range(random.randint(1, 3)):
        width = random.choice((1, 2, 4, 4, 4, 8))
        largest = (1 << 8 * width) - 1
        value = random.choice((0, 1, random.randint(2, 20), random.randint(0, largest), largest >> 1, largest))
        found.append((random.randint(1, LAST_OPTION), min(value, largest).to_bytes(width, "little")))
    return build(found)
