# SPDX-License-Identifier: BSD-3-Clause
"""An end of a wire: one of a pair of veth interfaces, in two nodes.

The end that opens first makes both, in the first namespace, and moves one of them to its node. The other stays there
until its node takes it. If one end is removed, the kernel removes the other.
"""

import contextlib
import errno

from emulation.lane import node
from emulation.lane.netlink import NetlinkError
from emulation.lane.rtnetlink import Route, hardware_address

GSO_MOST = 65_535  # GSO_MAX_SEGS of <linux/netdevice.h>


class Interface(node.Interface):
    """An end of a wire."""

    @classmethod
    def common(cls) -> Route:
        """Return a socket in the namespace in which wires are made."""
        return Route()

    def open(self, common: Route) -> None:
        ends = [self.plan["link"] + end for end in "ab"]
        found = next((end for end in ends if _is_there(common, end)), None)
        if found is None:
            common.new_wire(*ends)
            found = ends[0]
        common.set_link(common.index(found), namespace=self.node.namespace)
        self.index = self.node.route.index(found)
        address = hardware_address(self.plan["address"])
        # No GSO: otherwise TCP would send 64 kB as one packet, which counts as one in every queue on the path.
        self.node.route.set_link(self.index, name=self.name, address=address, gso_max_segs=1)

    def combine(self, on: bool) -> None:
        if not self.plan["qdisc"]:
            self.node.route.set_link(self.index, gso_max_segs=GSO_MOST if on else 1)

    def close(self) -> None:
        if self.index and not self.node.apart:  # no namespace ends with its node
            with contextlib.suppress(NetlinkError):  # the other end was removed
                self.node.route.delete_link(self.index)
            self.index = 0


def _is_there(route: Route, name: str) -> bool:
    try:
        return bool(route.index(name))
    except NetlinkError as error:
        if error.errno != errno.ENODEV:
            raise
        return False
