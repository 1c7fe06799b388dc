# SPDX-License-Identifier: BSD-3-Clause
"""Wires whose ends have the queues of Mininet's TCIntf, with their handles: htb 5: plays the rate, and netem 10:, below
it, the delay, the losses and max_queue_size. Scripts read and change these by tc.

Names are as in include/uapi/linux/pkt_sched.h.
"""

from __future__ import annotations

import contextlib
import struct
from typing import Any

from emulation.lane.interfaces.wired import Interface
from emulation.lane.links import wired
from emulation.lane.netlink import NetlinkError, build
from emulation.lane.rtnetlink import ROOT

HTB, CLASS, NETEM = 0x5 << 16, 0x5 << 16 | 1, 0x10 << 16
TCA_HTB_PARMS, TCA_HTB_INIT, TCA_HTB_RATE64, TCA_HTB_CEIL64 = 1, 2, 6, 7
GLOBAL = struct.pack("=5I", 3, 10, 1, 0, 0)  # tc_htb_glob: version, rate2quantum, the default class
RATE, OPTIONS = struct.Struct("=BBHhHI"), struct.Struct("=5I")  # tc_ratespec; the rest of tc_htb_opt
ETHERNET, BURST, ONE = 1, 15_000, 1600  # its link layer; what may leave at once, in bytes, above the rate and at it
TICK_NS, MOST = 64, 0xFFFFFFFF


class Link(wired.Link):
    """A wire with these queues."""

    def take(self, interface: Interface) -> None:  # type: ignore[override]
        interface.parent = shape(interface, self.plan)
        interface.switch(on=not self.plan.get("spare"))
        if interface.node.join_bridge:
            interface.node.join_bridge(interface)


def shape(interface: Any, plan: dict[str, Any]) -> int:
    """Give an end the queues of a plan, also while the network runs. Return the last one's handle. Raises OSError."""
    route, index, parent = interface.node.route, interface.index, ROOT
    with contextlib.suppress(NetlinkError):  # it has the default one
        route.delete_qdisc(index)
    if plan["rate_bps"]:
        route.replace_qdisc(index, "htb", build([(TCA_HTB_INIT, GLOBAL)]), handle=HTB)
        route.add_class(index, "htb", of_class(plan["rate_bps"] // 8), HTB, CLASS)
        parent = CLASS
    if plan["delay_us"] or plan["loss_percent"] or plan["queue"] != wired.QUEUE:
        route.replace_qdisc(index, "netem", wired.netem_options(plan), parent, NETEM)
        parent = NETEM | 1
    return parent


def of_class(rate: int) -> bytes:
    """Return TCA_OPTIONS of a class with this rate, in bytes per second."""
    spec = RATE.pack(0, ETHERNET, 0, 0, 0, min(rate, MOST))
    ticks = [min(size * 10**9 // rate // TICK_NS, MOST) for size in (BURST, ONE)]
    parms = spec + spec + OPTIONS.pack(*ticks, 0, 0, 0)
    exact = struct.pack("=Q", rate)
    return build([(TCA_HTB_PARMS, parms), (TCA_HTB_RATE64, exact), (TCA_HTB_CEIL64, exact)])
