# SPDX-License-Identifier: BSD-3-Clause
"""Sockets of a host, set up for a flow (docs/interfaces.md, section 1, `applications`).

A flow's window limit is the receiver's window clamp in Linux, which connections inherit from their listener. An offered
window is never taken back, so the limit must hold from the first offer. The kernel drops the clamp at the first full
segment, before the program reads it: it then knows how much memory a segment takes, and computes the clamp from the
receive buffer (`tcp_measure_rcv_mss` in net/ipv4/tcp_input.c). So from `accepted` until the program has read that
segment, the buffer is no larger than the limit; `keep_limit` sets both again.
"""

from __future__ import annotations

import select
import socket
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from traffic.host import Host
    from traffic.loop import Loop

ABORT = struct.pack("=ii", 1, 0)  # struct linger: closing resets the connection (socket(7), RFC 9293, 3.10.5)
MEMORY_NS = 50_000_000
BUFFERS = ((socket.SO_SNDBUF, "send_buffer"), (socket.SO_RCVBUF, "receive_buffer"))


def tcp(host: Host, plan: dict[str, Any]) -> socket.socket:
    """Return a TCP socket with the options that must be set before connecting or listening. Raises OSError if the
    kernel lacks the congestion control."""
    made = _made(host, plan, socket.SOCK_STREAM)
    set_congestion(made, plan["congestion"], plan["name"])
    if plan["mss"]:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["mss"])
    for option, size in BUFFERS:
        if plan[size]:
            made.setsockopt(socket.SOL_SOCKET, option, plan[size])
    if limit := window_limit(plan):
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, limit)
    return made


def window_limit(plan: dict[str, Any]) -> int:
    """Return how many bytes a receiver allows in flight; 0: any number."""
    return (plan.get("window_limit") or 0) * (plan["mss"] or 0)


def accepted(made: socket.socket, plan: dict[str, Any]) -> None:
    """Set up an accepted connection: hold its window limit until something has been read."""
    made.setblocking(False)
    if limit := window_limit(plan):
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, limit // 2)  # the kernel doubles it


def keep_limit(of: socket.socket, plan: dict[str, Any]) -> None:
    """Set the window limit again after a read."""
    if limit := window_limit(plan):
        of.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, plan["receive_buffer"])
        of.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, limit)


def udp(host: Host, plan: dict[str, Any]) -> socket.socket:
    return _made(host, plan, socket.SOCK_DGRAM)


def _made(host: Host, plan: dict[str, Any], kind: int) -> socket.socket:
    with host:
        made = socket.socket(socket.AF_INET, kind | socket.SOCK_NONBLOCK)
    if plan["tos"] is not None:
        made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, plan["tos"])
    return made


def wait_for_memory(loop: Loop, of: socket.socket, write: Callable[[], None]) -> None:
    """Write again later. A socket may be ready for writing and still take nothing: the kernel has no memory for more
    (`net.ipv4.tcp_mem`, shared by all hosts of a lane), but keeps reporting that it is ready. A sender that sleeps
    would wait too (`sk_stream_wait_memory` in net/core/stream.c)."""
    loop.forget(of.fileno())

    def again() -> None:
        if of.fileno() >= 0:  # else it was closed meanwhile
            loop.watch(of.fileno(), select.EPOLLOUT, write)

    loop.at(time.monotonic_ns() + MEMORY_NS, again)


def set_congestion(of: socket.socket, name: str, flow: str) -> None:
    """Set the congestion control of a flow's socket, at any time. Raises OSError if the kernel lacks it."""
    try:
        of.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except FileNotFoundError as error:
        raise OSError(error.errno, f"{flow}: no module registers the congestion control {name}") from None


def congestion(of: socket.socket) -> str:
    """Return the congestion control in use, read back."""
    return of.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def abort(of: socket.socket) -> None:
    """Close a socket so that unsent data is dropped and the port is free at once."""
    of.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
    of.close()
