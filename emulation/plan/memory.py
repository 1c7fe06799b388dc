# SPDX-License-Identifier: BSD-3-Clause
"""How much memory a network takes: of the lane that it is played in, and of what its kernel lets TCP have.

A lane has 512 MB, of which it uses what it touches, and a larger network more; a kernel for small code has no room for
more than MOST_MB (kernel/speed/short-code.patch). All nodes share what one kernel lets TCP have, 23 MB of these 512,
after which senders wait; on machines of their own they would not, so it is let have what all buffers take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulation.plan.nodes import link_class

USUAL_MB, STEP_MB, MOST_MB = 512, 128, 1472
FILLED = 0.85  # of a lane's memory, at most, by what follows
# Measured (docs/validity.md): the kernel and its program; a node with its radio; whom a radio knows; for each two the
# numbers of the plan and of the air.
BASE_MB, NODE_MB, PEER_MB, PAIR_MB = 40, 1.0, 0.02, 0.0002
MOST_PEERS = 128  # of a radio: IEEE80211_IBSS_MAX_STA_ENTRIES, and that of OCB (net/mac80211)
PAGE = 4096
USUAL_TCP = 5880  # pages: what 512 MB let TCP have without a care
LARGEST_BUFFER = 4 << 20  # bytes: what the kernel lets a buffer grow to that nobody has set


def plan_memory(
    nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], reached: NDArray[np.bool_], moving: bool,
    applications: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:  # fmt: skip
    """docs/interfaces.md, section 1, `memory`; None: what a lane has without being asked is enough. `reached` is who
    receives whom, in the order of the nodes with radios; who moves may come to everybody."""
    buffers = [buffer_bytes(flow) for flow in applications if flow["congestion"]]
    needed = BASE_MB + NODE_MB * len(nodes) + PEER_MB * peers(nodes, links, reached, moving)
    needed += PAIR_MB * len(reached) ** 2 + sum(buffers) / 2**20
    lane_mb = USUAL_MB
    if needed > FILLED * USUAL_MB:
        lane_mb = min(math.ceil(needed / FILLED / STEP_MB) * STEP_MB, MOST_MB)
    # Twice, as what is lost is both at the sender and behind the gap at the receiver.
    tcp = min(2 * sum(buffers), lane_mb << 19) // PAGE
    if lane_mb == USUAL_MB and tcp <= USUAL_TCP:
        return None
    return {
        "needed_mb": math.ceil(needed),
        "lane_mb": lane_mb,
        "tcp_pages": [tcp, tcp * 4 // 3, tcp * 2] if tcp > USUAL_TCP else None,
    }


def buffer_bytes(flow: Mapping[str, Any]) -> int:
    """What waits at a sender at most: the kernel doubles what it is told, for what a segment takes besides its data."""
    return 2 * min(flow["send_buffer"] or LARGEST_BUFFER, LARGEST_BUFFER)


def peers(
    nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], reached: NDArray[np.bool_], moving: bool
) -> int:
    """How many stations all radios know, at most: whom they receive; of an access point's link each its access point,
    and that one it."""
    over_ap = {link["name"] for link in links if link_class(link["kind"]).over_ap}
    found, radios = 0, (node for node in nodes if any(each["kind"] == "radio" for each in node["interfaces"]))
    for row, node in zip(reached, radios, strict=True):
        within = min(len(reached) - 1 if moving else int(row.sum()), MOST_PEERS)
        for interface in node["interfaces"]:
            if interface["kind"] == "radio":
                found += 2 if interface["link"] in over_ap else within
    return found
