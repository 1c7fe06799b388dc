# SPDX-License-Identifier: BSD-3-Clause
"""What the rows of tables mean, in a sentence each: the report shows it where one points at a row. Rows are known by
their labels (`analysis.tables.table.QUANTITIES`)."""

import re

KINDS = {
    "RTS/CTS": "RTS and CTS frames", "DATA": "TCP segments with data", "ACK": "TCP segments without data",
    "UDP": "datagrams", "OTHER": "other data frames", "ENCRYPTED": "encrypted frames, whose content is hidden",
    "TOTAL": "RTS, CTS and all data frames", "ROUTING": "packets of the routing protocol",
    "MANAGEMENT": "management frames, as beacons", "MAC_ACK": "the MAC's acknowledgements",
}  # fmt: skip
COUNTED = {
    "COL": "lost at their addressed receiver because another transmission overlapped them",
    "COL_ANY": "lost the same way at any station within range, whoever they were for",
    "FAIL": "given up by the MAC after its last attempt; a failed RTS counts here and with its frame",
}
ROWS = {
    "goodput, segments": "distinct full segments that reached the application",
    "goodput, kb/s": "distinct payload that reached the application, over time",
    "queue drops": "frames dropped because a station's queue was full",
    "DATA in flight, mean": "TCP segments with data on the path, from the source's queue on, averaged over time",
    "ACK in flight, mean": "TCP acknowledgements on the path, averaged over time",
    "segments in flight, mean": "all TCP segments on the path, averaged over time",
    "collided in one slot": "frames that collided because their senders began in the same slot",
    "TCP retransmissions": "segments that TCP sent again",
    "PPDUs with an MCS": "transmissions in modes of 802.11n and later",
    "MPDUs in them": "the frames in these, at each attempt",
    "MPDUs in one, mean": "how many frames these carried on average",
    "block ACKs": "answers that acknowledge several frames",
    "block-ACK requests": "frames that ask for such an answer, after an MPDU was given up",
    "attempts that failed, without RTS": "MPDUs sent, but not acknowledged, and RTSs without an answer",
    "attempts that failed, after RTS": "MPDUs sent after an RTS, but not acknowledged",
    "control packets sent": "packets of the routing protocol, of all stations",
    "control, bytes": "the bytes of these packets",
    "control, airtime, s": "the time that these packets occupied the air",
    "packets dropped by routing": "data packets that the routing protocol could not deliver",
    "links lost": "how often a station found a neighbour gone",
    "route requests begun": "how often a station searched for a route",
}
COUNT = re.compile(rf"({'|'.join(sorted(COUNTED, key=len, reverse=True))})_({'|'.join(KINDS)})")


def meaning(label: str) -> str:
    """What a row of this label counts; empty if nothing is known of it."""
    if label.startswith("goodput against "):
        return "the relative change of goodput"
    if found := COUNT.fullmatch(label):
        return f"{KINDS[found[2]]} {COUNTED[found[1]]}"
    return ROWS.get(label, "")
