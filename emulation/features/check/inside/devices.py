# SPDX-License-Identifier: BSD-3-Clause
"""Links for a qdisc under test beside the nodes' radios: a node's loopback, and links with several queues.

What such a link sends is lost. Some qdiscs need several queues; others need a link that the module itself brings,
which sends by others (teql).
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

from emulation.lane.netlink import NetlinkError
from emulation.lane.node import LOOPBACK
from emulation.lane.rtnetlink import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from emulation.lane.node import Node

QUEUES, NAMES = 4, ("many1", "many2")
NETWORKS = "172.31.255.1/12", "172.15.255.1/16"  # of the first link; the other one needs an address only
MASTERS = "198.18.0.1/15"


class Loopback:
    """The loopback of a node, as far as `queues` and `packets` use a node."""

    receives = True  # whether what it sends arrives

    def __init__(self, node: Node) -> None:
        self.node, self.name, self.route = node, f"{node.name}'s loopback", node.route
        self.radio = SimpleNamespace(index=LOOPBACK, name="lo")

    def __enter__(self) -> Self:
        self.node.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.node.__exit__()

    def address(self, number: int) -> str:
        """Return an address to which it leads, a new one for each number."""
        return f"127.{1 + number // 256}.{number % 256}.9"


class ManyQueues(Loopback):
    """A link with several queues. Raises NetlinkError if the kernel has none."""

    receives = False

    def __init__(self, node: Node, which: int = 0) -> None:
        super().__init__(node)
        name = NAMES[which]
        node.route.new_link(name, "dummy", None, [], queues=QUEUES)
        index = node.route.index(name)
        node.route.set_link(index, up=True)
        node.route.add_address(index, NETWORKS[which])
        self.name, self.radio = f"{node.name}'s {name}", SimpleNamespace(index=index, name=name)

    def address(self, number: int) -> str:
        return f"172.{16 + number // 256 % 15}.{number % 256}.9"


class Masters:
    """Links that a module brings. They send by those links that have its qdisc."""

    def __init__(self, node: Node, indexes: Iterable[int]) -> None:
        """Move them to a node. Raises NetlinkError if the kernel refuses."""
        self.node, self.indexes = node, list(self.moved(node, indexes))

    @staticmethod
    def moved(node: Node, indexes: Iterable[int]) -> Iterator[int]:
        with Route() as first:
            for index in indexes:
                first.set_link(index, namespace=node.namespace)
                node.route.add_address(index, MASTERS)
                yield index

    def switch_on(self) -> None:
        for index in self.indexes:
            with contextlib.suppress(NetlinkError):  # it has nothing to send by
                self.node.route.set_link(index, up=True)

    def address(self, number: int) -> str:
        return f"198.{18 + number // 256 % 2}.{number % 256}.9"
