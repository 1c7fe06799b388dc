# SPDX-License-Identifier: BSD-3-Clause
"""netem, the kernel's qdisc that delays packets, as a node is told of it: the little of it that is used.

The kernel's words are in include/uapi/linux/pkt_sched.h. `struct tc_netem_qopt` counts delays in ticks of 64 ns, so
they are told by the attributes that came later.
"""

from __future__ import annotations

import struct

from emulation.lane.netlink import build, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS, LIMIT = struct.Struct("=6I"), 1000  # latency, limit (packets), loss, gap, duplicate, jitter
ATTRIBUTES = {"latency_ns": 10, "jitter_ns": 11}  # TCA_NETEM_LATENCY64, JITTER64


def pack(options: Mapping[str, int]) -> bytes:
    """TCA_OPTIONS: how long packets are delayed, and how much more or less."""
    return OPTIONS.pack(0, LIMIT, 0, 0, 0, 0) + build(
        (ATTRIBUTES[name], struct.pack("=q", value)) for name, value in options.items()
    )


def unpack(data: bytes) -> dict[str, int]:
    """The same, from what the kernel says."""
    found = parse(data[OPTIONS.size :])
    return {name: struct.unpack("=q", found[number])[0] for name, number in ATTRIBUTES.items()}
