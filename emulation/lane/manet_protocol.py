# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the netlink family that controls routing interfaces. generate.py writes this file from
emulation/manet/manet.yaml."""

FAMILY = "manet"

KINDS = ("data", "rreq", "rrep", "rerr", "ack", "hello", "tc", "update")
REASONS = (
    "DONE",
    "NO_ROUTE",
    "LINK_BROKEN",
    "PURGED",
    "QUEUE_FULL",
    "BUFFER_FULL",
    "BUFFER_TIMEOUT",
    "TTL_EXPIRED",
    "DUPLICATE",
    "MALFORMED",
    "NOT_OURS",
    "RATE_LIMITED",
    "TOO_LONG",
    "NO_NEIGHBOUR",
    "UNSENT",
    "NO_MEMORY",
    "GONE",
)
EVENTS = (
    "found",
    "changed",
    "lost_route",
    "repaired",
    "salvaged",
    "buffered",
    "released",
    "dropped",
    "search",
    "search_failed",
    "link_lost",
    "link_found",
    "sent_control",
    "got_control",
)
ENTRY_KINDS = ("route", "source_route", "link", "neighbour", "pending")


class Command:
    """Numbers of commands."""

    DEVICE = 1
    SET = 2
    ROUTE = 3
    PARAMETERS = 4
    ENTRIES = 5


class Attribute:
    """Numbers of attributes."""

    PAD = 1
    IFINDEX = 2
    PROTOCOL = 3
    ADDRESS = 4
    RUNNING = 5
    PARAMETER = 6
    VALUE = 7
    LEAST = 8
    MOST = 9
    WHAT = 10
    SENT = 11
    SENT_BYTES = 12
    GOT = 13
    FORWARDED = 14
    DELIVERED = 15
    ACKED = 16
    LOST = 17
    DROPPED = 18
    DROPPED_CONTROL = 19
    EVENTS = 20
    ENTRY_KIND = 21
    TO = 22
    VIA = 23
    FROM = 24
    HOPS = 25
    VALID = 26
    STATE = 27
    SEQUENCE = 28
    UNTIL_NS = 29
    MAC = 30
    WAITING = 31
    PATH = 32
