# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a network: the lane's, and the limit of TCP in its kernel.

A lane has 512 MB, of which it uses only what it touches; a larger network gets more. A kernel for small code has no
room for more than MOST_MB (kernel/speed/short-code.patch). All nodes share the limit of one kernel's TCP, 23 MB of
these 512. When it is reached, senders wait. On separate machines they would not, so the limit is raised to hold all
buffers.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulation.plan.nodes import link_class

USUAL_MB, STEP_MB, MOST_MB = 512, 128, 1472
FILLED = 0.85  # part of a lane's memory that the sum below may use
# Measured (docs/validity.md): the kernel and its program; a node with its radio; a peer of a radio; a pair of nodes, in
# the plan and the air.
BASE_MB, NODE_MB, PEER_MB, PAIR_MB = 40, 1.0, 0.02, 0.0002
MOST_PEERS = 128  # of a radio: IEEE80211_IBSS_MAX_STA_ENTRIES, and OCB's limit (net/mac80211)
PAGE = 4096
USUAL_TCP = 5880  # pages: TCP's lower limit with 512 MB
LARGEST_BUFFER = 4 << 20  # bytes: the kernel's limit for a buffer that grows by itself


def plan_memory(
    nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], reached: NDArray[np.bool_], moving: bool,
    applications: Sequence[Mapping[str, Any]],
) -> dict[str, Any] | None:  # fmt: skip
    """Return `memory` of docs/interfaces.md, section 1; None if a lane's default is enough. `reached` has which nodes
    receive each other, in the order of the nodes with radios. Moving nodes may meet all others."""
    buffers = [buffer_bytes(flow) for flow in applications if flow["congestion"]]
    needed = BASE_MB + NODE_MB * len(nodes) + PEER_MB * peers(nodes, links, reached, moving)
    needed += PAIR_MB * len(reached) ** 2 + sum(buffers) / 2**20
    lane_mb = USUAL_MB
    if needed > FILLED * USUAL_MB:
        lane_mb = min(math.ceil(needed / FILLED / STEP_MB) * STEP_MB, MOST_MB)
    # Twice, as lost segments are in the sender's buffer, and those after the gap in the receiver's.
    tcp = min(2 * sum(buffers), lane_mb << 19) // PAGE
    if lane_mb == USUAL_MB and tcp <= USUAL_TCP:
        return None
    return {
        "needed_mb": math.ceil(needed),
        "lane_mb": lane_mb,
        "tcp_pages": [tcp, tcp * 4 // 3, tcp * 2] if tcp > USUAL_TCP else None,
    }


def buffer_bytes(flow: Mapping[str, Any]) -> int:
    """Return the largest send buffer in the kernel: twice the setting, as a segment takes more than its data."""
    return 2 * min(flow["send_buffer"] or LARGEST_BUFFER, LARGEST_BUFFER)


def peers(
    nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], reached: NDArray[np.bool_], moving: bool
) -> int:
    """Return the most peers that all radios have together: the stations they receive. On a link with access points,
    each station counts as a peer of its access point, and vice versa."""
    over_ap = {link["name"] for link in links if link_class(link["kind"]).over_ap}
    found, radios = 0, (node for node in nodes if any(each["kind"] == "radio" for each in node["interfaces"]))
    for row, node in zip(reached, radios, strict=True):
        within = min(len(reached) - 1 if moving else int(row.sum()), MOST_PEERS)
        for interface in node["interfaces"]:
            if interface["kind"] == "radio":
                found += 2 if interface["link"] in over_ap else within
    return found
