# SPDX-License-Identifier: BSD-3-Clause
"""Packets of routing protocols on the air, each once, by kind.

Sources: include/uapi/linux/batadv_packet.h; IEEE 802.11-2016, 9.4.2.1 (element IDs), 9.6.17.3. A packet of Babel
carries several messages (RFC 8966, 4.2), so all its packets are one kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.taps.aired import Aired
from analysis.traces.dissect import HEADER, Frames
from analysis.traces.trace import Array, Kind, Trace

RETRY = 0x08  # in the second octet
LLC, FCS = 8, 4
BATMAN = {0: "ogm", 1: "broadcast", 2: "coded", 3: "elp", 4: "ogm2", 5: "multicast", 0x43: "icmp", 0x44: "tvlv"}
HWMP = {130: "preq", 131: "prep", 132: "perr", 126: "rann"}
PORTS = {269: "manet", 654: "aodv", 698: "olsr", 6696: "babel"}


@dataclass(frozen=True)
class Control:
    """Times at which packets were first sent (ns of the lane), and their bytes without 802.11 and LLC headers, by
    kind."""

    time_ns: dict[str, Array]
    octets: dict[str, int]

    @classmethod
    def of_trace(cls, trace: Trace, which: Array | bool = True) -> "Control":
        """Return the control packets in the air's own records; `which` selects transmissions."""
        row = np.flatnonzero((trace.tx["kind"] == Kind.ROUTING) & which)
        tx = trace.tx[row]
        frames = Frames(trace.data, trace.frame[row], tx["caplen"].astype(np.int64))
        return cls._of(frames, tx["start_ns"], tx["length"].astype(np.int64))

    @classmethod
    def joined(cls, parts: Sequence["Control"]) -> "Control":
        kinds = sorted({kind for part in parts for kind in part.octets})
        none = np.zeros(0, np.int64)
        return cls({kind: np.concatenate([part.time_ns.get(kind, none) for part in parts]) for kind in kinds},
                   {kind: sum(part.octets.get(kind, 0) for part in parts) for kind in kinds})  # fmt: skip

    @classmethod
    def of_air(cls, air: Aired) -> "Control":
        """Return the control packets on the air."""
        row = np.flatnonzero(air.kind == Kind.ROUTING)
        return cls._of(air.frames.pick(row), air.start_ns[row], air.length[row])

    @classmethod
    def _of(cls, frames: Frames, time_ns: Array, length: Array) -> "Control":
        first = np.flatnonzero(frames.field(1) & RETRY == 0)
        frames, time_ns, length = frames.pick(first), time_ns[first], length[first]
        names, over = kinds(frames)
        each = {str(name): names == name for name in np.unique(names)}
        size = length - over - FCS
        return cls({name: time_ns[mine] for name, mine in each.items()},
                   {name: int(size[mine].sum()) for name, mine in each.items()})  # fmt: skip


def kinds(frames: Frames) -> tuple[Array, Array]:
    """Return the kind of each control packet, and the number of bytes before it."""
    action = frames.field(0) >> 2 & 3 == 0
    fc0, fc1 = frames.field(0), frames.field(1)
    at = np.where(fc1 & 3 == 3, HEADER + 6, HEADER)
    mesh = (fc0 & 0x80 != 0) & (frames.field(at + 1) & 1 != 0)
    at = at + np.where(fc0 & 0x80 != 0, 2, 0)
    at = np.where(action, HEADER, at + np.where(mesh, 6 + 6 * (frames.field(at) & 3), 0) + LLC)
    batman, v6 = frames.field(at - 2, 2) == 0x4305, frames.field(at) >> 4 == 6
    port = frames.field(at + np.where(v6, 40, (frames.field(at) & 15) * 4) + 2, 2)
    names = np.full(at.size, "other", dtype="<U16")
    for known, which, number in (
        (PORTS, ~action & ~batman, port),
        (BATMAN, ~action & batman, frames.field(at)),
        (HWMP, action, frames.field(HEADER + 2)),
    ):
        for value, name in known.items():
            names[which & (number == value)] = name
    return names, at
