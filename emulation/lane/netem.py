# SPDX-License-Identifier: BSD-3-Clause
"""The options of netem, the kernel's qdisc that delays and drops packets, as far as nodes use them.

Names are as in include/uapi/linux/pkt_sched.h. `struct tc_netem_qopt` has delays in ticks of 64 ns, so the newer
attributes in nanoseconds are used.
"""

from __future__ import annotations

import struct

from emulation.lane.netlink import build, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS, RATE = struct.Struct("=6I"), struct.Struct("=IiIi")  # latency, limit (packets), loss, gap, duplicate, jitter
LIMIT, CERTAIN = 1000, 0xFFFFFFFF  # in packets; a probability of 1
TCA_NETEM_RATE = 6
ATTRIBUTES = {"latency_ns": 10, "jitter_ns": 11}  # TCA_NETEM_LATENCY64, JITTER64

UNLIMITED = build([(TCA_NETEM_RATE, RATE.pack(0, 0, 0, 0))])


def pack(options: Mapping[str, int], limit: int = LIMIT, lost: float = 0.0, rate_bps: int = 0) -> bytes:
    """Return TCA_OPTIONS: delay and jitter (ns), limit (packets), loss (fraction), and rate (bit/s; 0: unlimited)."""
    values = [(ATTRIBUTES[name], struct.pack("=q", value)) for name, value in options.items()]
    if rate_bps:
        values.append((TCA_NETEM_RATE, RATE.pack(rate_bps // 8, 0, 0, 0)))
    return OPTIONS.pack(0, limit, round(lost * CERTAIN), 0, 0, 0) + build(values)


def unpack(data: bytes) -> dict[str, int]:
    """Return delay and jitter from the kernel's TCA_OPTIONS."""
    found = parse(data[OPTIONS.size :])
    return {name: struct.unpack("=q", found[number])[0] for name, number in ATTRIBUTES.items()}
