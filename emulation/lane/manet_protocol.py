# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the netlink family that controls routing interfaces. generate.py writes this file from
emulation/manet/manet.yaml."""

FAMILY = "manet"

KINDS = ("data", "rreq", "rrep", "rerr", "ack", "hello", "tc", "update")
REASONS = (
    "DONE", "NO_ROUTE", "LINK_BROKEN", "PURGED", "QUEUE_FULL", "BUFFER_FULL", "BUFFER_TIMEOUT", "TTL_EXPIRED",
    "DUPLICATE", "MALFORMED", "NOT_OURS", "RATE_LIMITED", "TOO_LONG", "NO_NEIGHBOUR", "UNSENT", "NO_MEMORY", "GONE",
)  # fmt: skip
EVENTS = (
    "found", "changed", "lost_route", "repaired", "salvaged", "buffered", "released", "dropped", "search",
    "search_failed", "link_lost", "link_found", "sent_control", "got_control",
)  # fmt: skip
ENTRY_KINDS = ("route", "source_route", "link", "neighbour", "pending")


class Command:
    """Numbers of commands."""

    (
        DEVICE, SET, ROUTE, PARAMETERS, ENTRIES,
    ) = range(1, 6)  # fmt: skip


class Attribute:
    """Numbers of attributes."""

    (
        PAD, IFINDEX, PROTOCOL, ADDRESS, RUNNING, PARAMETER, VALUE, LEAST, MOST, WHAT, SENT, SENT_BYTES, GOT, FORWARDED,
        DELIVERED, ACKED, LOST, DROPPED, DROPPED_CONTROL, EVENTS, ENTRY_KIND, TO, VIA, FROM, HOPS, VALID, STATE,
        SEQUENCE, UNTIL_NS, MAC, WAITING, PATH,
    ) = range(1, 33)  # fmt: skip
