# SPDX-License-Identifier: BSD-3-Clause
"""sock_diag: the TCP connections of the namespace that this thread is in, of any program.

Source: include/uapi/linux/inet_diag.h.
"""

from __future__ import annotations

import socket
import struct

from emulation.lane.netlink import DUMP, Netlink, parse, text
from traffic import tcp_info

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
INET_DIAG_INFO, INET_DIAG_CONG = 2, 4
REQUEST = struct.Struct("=BBBxI48x")  # struct inet_diag_req_v2: family, protocol, extensions, states, no addresses
ANSWER_SIZE, PORTS = 72, struct.Struct("!4xHH")  # struct inet_diag_msg, and the ports in it
OPEN, ALL = 1 << 1 | 0xF70, 0xFFFFFFFF  # bit masks of states: ESTABLISHED and the closing ones; all


def connections(port: int) -> list[dict[str, Any]]:
    """Return TCP_INFO and `congestion` of all established IPv4 connections from or to a port."""
    return [
        {**tcp_info.parse(found[INET_DIAG_INFO]), "congestion": text(found[INET_DIAG_CONG])}
        for ports, found in _dump(OPEN)
        if port in ports and INET_DIAG_INFO in found
    ]


def congestion_controls() -> list[str]:
    """Return the congestion control of each IPv4 connection, in any state; empty if it has none."""
    return [text(found.get(INET_DIAG_CONG, b"")) for _, found in _dump(ALL)]


def _dump(states: int) -> list[tuple[tuple[int, int], dict[int, bytes]]]:
    """Return (ports, attributes) of the connections in these states."""
    wanted = 1 << INET_DIAG_INFO - 1 | 1 << INET_DIAG_CONG - 1
    request = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, wanted, states)
    with Netlink(NETLINK_SOCK_DIAG) as diag:
        answers = diag.request(SOCK_DIAG_BY_FAMILY, request, DUMP, "sock_diag")
    return [(PORTS.unpack_from(answer), parse(answer[ANSWER_SIZE:])) for answer in answers]
