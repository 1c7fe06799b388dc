# SPDX-License-Identifier: BSD-3-Clause
"""rtnetlink: links, addresses, routes and neighbours, the little of it that a station needs."""

from __future__ import annotations

import socket
import struct

from emulation.lane.netlink import CREATE, DUMP, EXCLUSIVE, NESTED, REPLACE, Netlink, NetlinkError, build, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.netlink import Value

LINK, ADDRESS = struct.Struct("=BxHiII"), struct.Struct("=BBBBI")
ROUTE, NEIGHBOUR = struct.Struct("=BBBBBBBBI"), struct.Struct("=BxxxiHBB")
METRICS = {"window": 3, "cwnd": 7, "advmss": 8, "initcwnd": 11, "rto_min": 13, "initrwnd": 14, "quickack": 15}
QDISC, ROOT = struct.Struct("=BxxxiIII"), 0xFFFFFFFF
UP, PERMANENT, MAIN_TABLE, BY_ADMINISTRATOR, UNIVERSE, ON_LINK, UNICAST = 1, 0x80, 254, 4, 0, 253, 1


def ip_address(text: str) -> tuple[int, bytes]:
    """(address family, bytes) of an IPv4 or IPv6 address. Raises NetlinkError if it is none."""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    try:
        return family, socket.inet_pton(family, text)
    except OSError:
        raise NetlinkError(22, f"not an IP address: {text}") from None


class Route(Netlink):
    """rtnetlink: links, addresses, routes, neighbours of the namespace it was opened in."""

    def __init__(self) -> None:
        super().__init__(socket.NETLINK_ROUTE)

    def index(self, name: str) -> int:
        """The interface index of a link."""
        answer = self.request(18, LINK.pack(0, 0, 0, 0, 0) + build([(3, name)]), what=f"link {name}")
        return int(LINK.unpack_from(answer[0])[2])

    def set_link(self, index: int, *, up: bool | None = None, name: str | None = None) -> None:
        """Switch a link up or down, rename it."""
        change, flags = (0, 0) if up is None else (UP, UP * up)
        values: list[tuple[int, Value]] = [] if name is None else [(3, name)]
        self.request(19, LINK.pack(0, 0, index, flags, change) + build(values), what=f"link {name or index}")

    def add_address(self, index: int, address: str) -> None:
        """Give a link an address, as 10.0.0.1/24."""
        text, _, prefix = address.partition("/")
        family, ip = ip_address(text)
        payload = ADDRESS.pack(family, int(prefix or len(ip) * 8), 0, UNIVERSE, index) + build([(2, ip), (1, ip)])
        self.request(20, payload, CREATE | EXCLUSIVE, f"address {address}")

    def add_route(
        self, index: int, to: str, via: str | None = None, metrics: dict[str, int] | None = None, metric: int = 0
    ) -> None:
        """Add a route to an address or prefix, through a gateway or (via None) on the link itself.

        `metrics` are those of METRICS, in the kernel's units: segments, bytes, and ms for rto_min. `metric` is the
        route's cost: of two routes to one place the kernel takes that of less.
        """
        text, _, prefix = to.partition("/")
        family, ip = ip_address(text)
        values: list[tuple[int, Value]] = [(1, ip), (4, index)]
        if via is not None:
            values.append((5, ip_address(via)[1]))
        if metric:
            values.append((6, metric))
        if metrics:
            values.append((8, [(METRICS[name], value) for name, value in metrics.items()]))
        scope = ON_LINK if via is None else UNIVERSE
        head = ROUTE.pack(family, int(prefix or len(ip) * 8), 0, 0, MAIN_TABLE, BY_ADMINISTRATOR, scope, UNICAST, 0)
        self.request(24, head + build(values), CREATE | EXCLUSIVE, f"route to {to}")

    def route_metrics(self, to: str) -> dict[str, int]:
        """The metrics of the route that a packet to this address takes."""
        family, ip = ip_address(to)
        head = ROUTE.pack(family, len(ip) * 8, 0, 0, 0, 0, 0, 0, 0)
        answer = self.request(26, head + build([(1, ip)]), what=f"route to {to}")
        found = parse(parse(answer[0][ROUTE.size :]).get(8, b""))
        return {name: int.from_bytes(found[kind], "little") for name, kind in METRICS.items() if kind in found}

    def replace_qdisc(self, index: int, kind: str, options: bytes) -> None:
        """Make a qdisc the root of a link, in place of the one there; of the same kind: change it."""
        values: list[tuple[int, Value]] = [(1, kind), *([(2 | NESTED, options)] if options else [])]
        head = QDISC.pack(socket.AF_UNSPEC, index, 0, ROOT, 0)
        self.request(36, head + build(values), CREATE | REPLACE, f"qdisc {kind}")

    def qdisc(self, index: int) -> dict[int, bytes]:
        """The attributes of a link's root qdisc (TCA_*: 1 kind, 2 options, 7 stats2)."""
        for answer in self.request(38, QDISC.pack(socket.AF_UNSPEC, index, 0, 0, 0), DUMP, "qdiscs"):
            if QDISC.unpack_from(answer)[1::2] == (index, ROOT):
                return parse(answer[QDISC.size :])
        return {}

    def add_neighbour(self, index: int, ip: str, address: bytes) -> None:
        """Enter a neighbour's link-layer address for good: no ARP is sent for it."""
        family, packed = ip_address(ip)
        head = NEIGHBOUR.pack(family, index, PERMANENT, 0, 0)
        self.request(28, head + build([(1, packed), (2, address)]), CREATE | EXCLUSIVE, f"neighbour {ip}")
