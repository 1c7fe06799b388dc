# SPDX-License-Identifier: BSD-3-Clause
"""netem, the kernel's qdisc that delays and loses packets, as a node is told of it: the little of it that is used.

The kernel's words are in include/uapi/linux/pkt_sched.h. `struct tc_netem_qopt` counts delays in ticks of 64 ns, so
they are told by the attributes that came later.
"""

from __future__ import annotations

import struct

from emulation.lane.netlink import build, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS, RATE = struct.Struct("=6I"), struct.Struct("=IiIi")  # latency, limit (packets), loss, gap, duplicate, jitter
LIMIT, CERTAIN = 1000, 0xFFFFFFFF  # of packets; of a probability
TCA_NETEM_RATE = 6
ATTRIBUTES = {"latency_ns": 10, "jitter_ns": 11}  # TCA_NETEM_LATENCY64, JITTER64


def pack(options: Mapping[str, int], limit: int = LIMIT, lost: float = 0.0, rate_bps: int = 0) -> bytes:
    """TCA_OPTIONS: how long packets are delayed, and how much more or less; how many may wait, which share of them is
    lost, and how fast they leave (0: at once)."""
    values = [(ATTRIBUTES[name], struct.pack("=q", value)) for name, value in options.items()]
    if rate_bps:
        values.append((TCA_NETEM_RATE, RATE.pack(rate_bps // 8, 0, 0, 0)))
    return OPTIONS.pack(0, limit, round(lost * CERTAIN), 0, 0, 0) + build(values)


def unpack(data: bytes) -> dict[str, int]:
    """Delay and jitter, from what the kernel says."""
    found = parse(data[OPTIONS.size :])
    return {name: struct.unpack("=q", found[number])[0] for name, number in ATTRIBUTES.items()}
