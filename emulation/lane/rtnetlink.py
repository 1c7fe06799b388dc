# SPDX-License-Identifier: BSD-3-Clause
"""rtnetlink: links, addresses, routes, neighbours and qdiscs, as far as a node needs them.

Names in capitals are those of include/uapi/linux/rtnetlink.h, if_link.h, if_addr.h, neighbour.h, pkt_sched.h.
"""

from __future__ import annotations

import errno
import socket
import struct

from emulation.lane.netlink import CREATE, DUMP, EXCLUSIVE, NESTED, REPLACE, Netlink, NetlinkError, build, number, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.netlink import Attributes, Value

RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_SETLINK, RTM_NEWADDR, RTM_DELADDR = 16, 17, 18, 19, 20, 21
RTM_NEWROUTE, RTM_DELROUTE, RTM_GETROUTE, RTM_NEWNEIGH = 24, 25, 26, 28
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC, RTM_NEWTCLASS = 36, 37, 38, 40
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_LINKINFO = 1, 3, 4, 5, 10, 18
IFLA_INFO_KIND, IFLA_INFO_DATA, IFLA_NET_NS_FD, IFLA_NUM_TX_QUEUES, IFLA_GSO_MAX_SEGS = 1, 2, 28, 31, 40
IFLA_BR_STP_STATE, IFLA_BR_MCAST_SNOOPING, VETH_INFO_PEER = 5, 23, 1
IFA_ADDRESS, IFA_LOCAL = 1, 2
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_METRICS = 1, 4, 5, 6, 8
NDA_DST, NDA_LLADDR = 1, 2
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7

# struct ifinfomsg, ifaddrmsg, rtmsg, ndmsg, tcmsg
LINK, ADDRESS = struct.Struct("=BxHiII"), struct.Struct("=BBBBI")
ROUTE, NEIGHBOUR = struct.Struct("=BBBBBBBBI"), struct.Struct("=BxxxiHBB")
QDISC, ROOT = struct.Struct("=BxxxiIII"), 0xFFFFFFFF
RTAX_LOCK = 1
METRICS = {"window": 3, "cwnd": 7, "advmss": 8, "initcwnd": 11, "rto_min": 13, "initrwnd": 14, "quickack": 15}  # RTAX_*
UP, PERMANENT, MAIN_TABLE, BY_ADMINISTRATOR, UNIVERSE, ON_LINK, UNICAST = 1, 0x80, 254, 4, 0, 253, 1
ANY_SCOPE = 255  # RT_SCOPE_NOWHERE: any scope, when a route is deleted


def ip_address(text: str) -> tuple[int, bytes]:
    """Return (address family, bytes) of an IPv4 or IPv6 address. Raises NetlinkError if it is not valid."""
    family = socket.AF_INET6 if ":" in text else socket.AF_INET
    try:
        return family, socket.inet_pton(family, text)
    except OSError:
        raise NetlinkError(errno.EINVAL, f"not an IP address: {text}") from None


def hardware_address(text: str) -> bytes:
    """Return the six bytes of an address such as 02:00:00:00:00:01. Raises NetlinkError if it is not valid."""
    try:
        address = bytes.fromhex(text.replace(":", ""))
    except ValueError:
        address = b""
    if len(address) != 6:
        raise NetlinkError(errno.EINVAL, f"not a hardware address: {text}")
    return address


class Route(Netlink):
    """The links, addresses, routes, neighbours and qdiscs of the namespace in which it was opened.

    Methods raise NetlinkError if the kernel refuses.
    """

    def __init__(self) -> None:
        super().__init__(socket.NETLINK_ROUTE)

    def index(self, name: str) -> int:
        payload = LINK.pack(0, 0, 0, 0, 0) + build([(IFLA_IFNAME, name)])
        return int(LINK.unpack_from(self.request(RTM_GETLINK, payload, what=f"link {name}")[0])[2])

    def new_link(
        self, name: str, kind: str, below: int | None, values: list[tuple[int, Value]], queues: int = 1
    ) -> None:
        """Make a link of a kind, optionally above another, or with several queues to send; `values` are the kind's own
        (IFLA_INFO_DATA)."""
        info: list[tuple[int, Value]] = [(IFLA_INFO_KIND, kind), (IFLA_INFO_DATA, values)]
        over: list[tuple[int, Value]] = [] if below is None else [(IFLA_LINK, below)]
        over += [(IFLA_NUM_TX_QUEUES, queues)] if queues > 1 else []
        payload = LINK.pack(0, 0, 0, 0, 0) + build([(IFLA_IFNAME, name), *over, (IFLA_LINKINFO, info)])
        self.request(RTM_NEWLINK, payload, CREATE | EXCLUSIVE, f"link {name}")

    def new_wire(self, name: str, peer: str) -> None:
        """Make a pair of veth links."""
        end = LINK.pack(0, 0, 0, 0, 0) + build([(IFLA_IFNAME, peer)])
        self.new_link(name, "veth", None, [(VETH_INFO_PEER, end)])

    def delete_link(self, index: int) -> None:
        self.request(RTM_DELLINK, LINK.pack(0, 0, index, 0, 0), what=f"link {index}")

    def set_link(
        self, index: int, *, up: bool | None = None, name: str | None = None, mtu: int | None = None,
        address: bytes | None = None, master: int | None = None, namespace: int | None = None,
        gso_max_segs: int | None = None,
    ) -> None:  # fmt: skip
        """Change a link: switch it `up` or down, rename it, set its MTU or hardware address, or put it under a master.
        It can also move to the namespace of a file descriptor. `gso_max_segs` limits the segments of a GSO packet."""
        change, flags = (0, 0) if up is None else (UP, UP * up)
        wanted: tuple[tuple[int, Value | None], ...] = (
            *((IFLA_IFNAME, name), (IFLA_MTU, mtu), (IFLA_ADDRESS, address)),
            *((IFLA_MASTER, master), (IFLA_NET_NS_FD, namespace), (IFLA_GSO_MAX_SEGS, gso_max_segs)),
        )
        values: list[tuple[int, Value]] = [(kind, value) for kind, value in wanted if value is not None]
        payload = LINK.pack(0, 0, index, flags, change) + build(values)
        self.request(RTM_SETLINK, payload, what=f"link {name or index}")

    def add_address(self, index: int, address: str) -> None:
        """Add an address such as 10.0.0.1/24 to a link."""
        text, _, prefix = address.partition("/")
        family, ip = ip_address(text)
        head = ADDRESS.pack(family, int(prefix or len(ip) * 8), 0, UNIVERSE, index)
        payload = head + build([(IFA_LOCAL, ip), (IFA_ADDRESS, ip)])
        self.request(RTM_NEWADDR, payload, CREATE | EXCLUSIVE, f"address {address}")

    def delete_address(self, index: int, address: str) -> None:
        text, _, prefix = address.partition("/")
        family, ip = ip_address(text)
        head = ADDRESS.pack(family, int(prefix or len(ip) * 8), 0, UNIVERSE, index)
        self.request(RTM_DELADDR, head + build([(IFA_LOCAL, ip)]), what=f"address {address}")

    def add_route(
        self, index: int, to: str, via: str | None = None, metrics: dict[str, int] | None = None, metric: int = 0
    ) -> None:
        """Add a route to an address or prefix, through a gateway, or (`via` is None) directly on the link.

        `metrics` has names of METRICS, in the kernel's units: segments, bytes, and ms for rto_min. `metric` is the
        route's cost: of two routes to one destination, the kernel uses the one with the lower cost.
        """
        text, _, prefix = to.partition("/")
        family, ip = ip_address(text)
        values: list[tuple[int, Value]] = [(RTA_DST, ip), (RTA_OIF, index)]
        if via is not None:
            values.append((RTA_GATEWAY, ip_address(via)[1]))
        if metric:
            values.append((RTA_PRIORITY, metric))
        if metrics:
            nested: list[tuple[int, Value]] = [(METRICS[name], value) for name, value in metrics.items()]
            if "rto_min" in metrics:  # TCP uses it only if it is locked: tcp_rto_min() in include/net/tcp.h
                nested.append((RTAX_LOCK, 1 << METRICS["rto_min"]))
            values.append((RTA_METRICS, nested))
        scope = ON_LINK if via is None else UNIVERSE
        head = ROUTE.pack(family, int(prefix or len(ip) * 8), 0, 0, MAIN_TABLE, BY_ADMINISTRATOR, scope, UNICAST, 0)
        self.request(RTM_NEWROUTE, head + build(values), CREATE | EXCLUSIVE, f"route to {to}")

    def delete_route(self, to: str) -> None:
        """Delete the route of lowest cost to an address. Raises NetlinkError (ESRCH) if there is none."""
        family, ip = ip_address(to)
        head = ROUTE.pack(family, len(ip) * 8, 0, 0, 0, 0, ANY_SCOPE, 0, 0)
        self.request(RTM_DELROUTE, head + build([(RTA_DST, ip)]), what=f"route to {to}")

    def route(self, to: str) -> Attributes:
        """Return the route that a packet to this address takes."""
        family, ip = ip_address(to)
        head = ROUTE.pack(family, len(ip) * 8, 0, 0, 0, 0, 0, 0, 0)
        answer = self.request(RTM_GETROUTE, head + build([(RTA_DST, ip)]), what=f"route to {to}")
        return parse(answer[0][ROUTE.size :])

    def gateway(self, to: str) -> str:
        """Return the next hop of a packet to this address: the gateway of its route, or the address itself."""
        gateway = self.route(to).get(RTA_GATEWAY)
        return (
            to
            if gateway is None
            else socket.inet_ntop(socket.AF_INET6 if len(gateway) > 4 else socket.AF_INET, gateway)
        )

    def route_metrics(self, to: str) -> dict[str, int]:
        """Return the metrics of the route that a packet to this address takes."""
        found = parse(self.route(to).get(RTA_METRICS, b""))
        return {name: number(found[kind]) for name, kind in METRICS.items() if kind in found}

    def add_neighbour(self, index: int, ip: str, address: bytes) -> None:
        """Add a permanent neighbour, replacing any other entry: no ARP is sent for it."""
        family, packed = ip_address(ip)
        payload = NEIGHBOUR.pack(family, index, PERMANENT, 0, 0) + build([(NDA_DST, packed), (NDA_LLADDR, address)])
        self.request(RTM_NEWNEIGH, payload, CREATE | REPLACE, f"neighbour {ip}")

    def replace_qdisc(
        self, index: int, kind: str, options: bytes | None = None, parent: int = ROOT, handle: int = 0
    ) -> None:
        """Install a qdisc as a link's root, or as a qdisc's child; change it if it exists."""
        values: list[tuple[int, Value]] = [(TCA_KIND, kind)]
        if options is not None:
            values.append((TCA_OPTIONS | NESTED, options))
        payload = QDISC.pack(socket.AF_UNSPEC, index, handle, parent, 0) + build(values)
        self.request(RTM_NEWQDISC, payload, CREATE | REPLACE, f"qdisc {kind}")

    def add_class(self, index: int, kind: str, options: bytes, parent: int, handle: int) -> None:
        """Add a class to a qdisc, its parent."""
        payload = QDISC.pack(socket.AF_UNSPEC, index, handle, parent, 0)
        payload += build([(TCA_KIND, kind), (TCA_OPTIONS | NESTED, options)])
        self.request(RTM_NEWTCLASS, payload, CREATE, f"class of {kind}")

    def delete_qdisc(self, index: int) -> None:
        """Restore a link's default root qdisc. Raises NetlinkError if it has no other."""
        self.request(RTM_DELQDISC, QDISC.pack(socket.AF_UNSPEC, index, 0, ROOT, 0), what="qdisc")

    def qdiscs(self) -> list[tuple[int, int, dict[int, bytes]]]:
        """Return (link, parent, attributes TCA_*) of all qdiscs, with their options and statistics."""
        answers = self.request(RTM_GETQDISC, QDISC.pack(socket.AF_UNSPEC, 0, 0, 0, 0), DUMP, "qdiscs")
        heads = [QDISC.unpack_from(answer) for answer in answers]
        return [
            (index, parent, parse(answer[QDISC.size :]))
            for (_, index, _, parent, _), answer in zip(heads, answers, strict=True)
        ]

    def qdisc(self, index: int, below: int = ROOT) -> dict[int, bytes]:
        """Return the attributes of a link's root qdisc, or of a qdisc's child; empty if there is none."""
        return next((found for link, parent, found in self.qdiscs() if (link, parent) == (index, below)), {})
