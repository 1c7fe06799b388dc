# SPDX-License-Identifier: BSD-3-Clause
"""TCP_INFO: what the kernel reports of a connection (struct tcp_info, include/uapi/linux/tcp.h).

getsockopt returns these bytes for a process's own socket, sock_diag for a socket of any program, so flows of every kind
are measured alike. Times are in microseconds, except those named last_*, in ms.
"""

from __future__ import annotations

import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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


def parse(data: bytes) -> dict[str, int]:
    """Return the fields of a struct tcp_info; those that this kernel does not have are 0."""
    return dict(zip(NAMES, FORMAT.unpack(data[: FORMAT.size].ljust(FORMAT.size, b"\0")), strict=True))


def of_socket(connection: socket.socket) -> dict[str, int]:
    """Return TCP_INFO of our own connection."""
    return parse(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, FORMAT.size))


def silence(receiver: Mapping[str, int], now_s: float) -> dict[str, float | None]:
    """Return when a receiver last got data, and for how long nothing since, in seconds, from its TCP_INFO at `now_s`
    (empty: no connection). Both are None if nothing arrived."""
    if not receiver.get("bytes_received"):
        return {"last_s": None, "waiting_s": None}
    waiting_s = receiver["last_data_recv"] / 1000
    return {"last_s": round(now_s - waiting_s, 3), "waiting_s": waiting_s}
