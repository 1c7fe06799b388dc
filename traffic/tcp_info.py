# SPDX-License-Identifier: BSD-3-Clause
"""TCP_INFO: what the kernel says of a connection (struct tcp_info, include/uapi/linux/tcp.h).

The same bytes come from getsockopt for one's own socket, and from sock_diag for a socket of any program in the
namespace; so bulk and iperf3 flows are measured alike. Times are in microseconds, save those named last_*, in ms.
"""

from __future__ import annotations

import socket
import struct

from emulation.lane import netlink
from emulation.lane.netlink import DUMP, Netlink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LAYOUT = (
    ("B", "state ca_state retransmits probes backoff options window_scales flags"),
    ("I", "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets"),
    ("I", "last_data_sent last_ack_sent last_data_recv last_ack_recv pmtu rcv_ssthresh rtt rttvar"),
    ("I", "snd_ssthresh snd_cwnd advmss reordering rcv_rtt rcv_space total_retrans"),
    ("Q", "pacing_rate max_pacing_rate bytes_acked bytes_received"),
    ("I", "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out"),
    ("Q", "delivery_rate busy_time rwnd_limited sndbuf_limited"),
    ("I", "delivered delivered_ce"),
    ("Q", "bytes_sent bytes_retrans"),
    ("I", "dsack_dups reord_seen rcv_ooopack snd_wnd"),
)
FORMAT = struct.Struct("=" + "".join(code * len(names.split()) for code, names in LAYOUT))
NAMES = [name for _, names in LAYOUT for name in names.split()]
SOCK_DIAG, SOCK_DIAG_BY_FAMILY, INFO, CONGESTION = 4, 20, 2, 4  # protocol, message, attributes
ESTABLISHED, CLOSING_STATES = 1 << 1, 0xF70
REQUEST, ANSWER = struct.Struct("=BBBxI48x"), struct.Struct("=BBBB2H16s16s")


def parse(data: bytes) -> dict[str, int]:
    """The fields of a struct tcp_info; those that this kernel does not have are 0."""
    return dict(zip(NAMES, FORMAT.unpack(data[: FORMAT.size].ljust(FORMAT.size, b"\0")), strict=True))


def of_socket(connection: socket.socket) -> dict[str, int]:
    """TCP_INFO of a connection of ours."""
    return parse(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, FORMAT.size))


def in_namespace(port: int) -> list[dict[str, Any]]:
    """TCP_INFO of all IPv4 connections from or to a port, in the namespace that this thread is in; and `congestion`."""
    wanted = 1 << INFO - 1 | 1 << CONGESTION - 1
    request = REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, wanted, ESTABLISHED | CLOSING_STATES)
    found: list[dict[str, Any]] = []
    with Netlink(SOCK_DIAG) as diag:
        for answer in diag.request(SOCK_DIAG_BY_FAMILY, request, DUMP, "sock_diag"):
            ports = struct.unpack_from("!HH", answer, 4)
            values = netlink.parse(answer[72:])
            if port in ports and INFO in values:
                congestion = values[CONGESTION].rstrip(b"\0").decode()
                found.append({**parse(values[INFO]), "congestion": congestion})
    return found
