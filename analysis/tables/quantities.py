# SPDX-License-Identifier: BSD-3-Clause
"""The quantities of runs that tables show: path, label, and what is meant in a sentence, which the report shows where
one points at a row; and rules by paths."""

import re
from collections.abc import Mapping

from analysis.results.result import APART, ROWS, counted

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
# Of frames: collisions and frames that were given up, by kind. In `result.counted`'s form.
_COUNTED = re.compile(rf"({'|'.join(sorted(COUNTED, key=len, reverse=True))})_({'|'.join(KINDS)})")

_STUDIED = {
    "in_flight.data": (
        "DATA in flight, mean",
        "TCP segments with data on the path, from the source's queue on, averaged over time",
    ),
    "in_flight.ack": ("ACK in flight, mean", "TCP acknowledgements on the path, averaged over time"),
    "in_flight.total": ("segments in flight, mean", "all TCP segments on the path, averaged over time"),
    "queue_drops": ("queue drops", "frames dropped because a station's queue was full"),
    "goodput_segments": ("goodput, segments", "distinct full segments that reached the application"),
    "goodput_kbps": ("goodput, kb/s", "distinct payload that reached the application, over time"),
}
_OF_RUNS = {
    "col.same_slot": ("collided in one slot", "frames that collided because their senders began in the same slot"),
    "retransmits": ("TCP retransmissions", "segments that TCP sent again"),
}
_OF_ROUTING = {
    "routing.frames": ("control packets sent", "packets of the routing protocol, of all stations"),
    "routing.bytes": ("control, bytes", "the bytes of these packets"),
    "routing.airtime_s": ("control, airtime, s", "the time that these packets occupied the air"),
    "routing.drops": ("packets dropped by routing", "data packets that the routing protocol could not deliver"),
    "routing.links_lost": ("links lost", "how often a station found a neighbour gone"),
    "routing.searches": ("route requests begun", "how often a station searched for a route"),
}
_OF_AGGREGATES = {
    "aggregates.ppdus": ("PPDUs with an MCS", "transmissions in modes of 802.11n and later"),
    "aggregates.mpdus": ("MPDUs in them", "the frames in these, at each attempt"),
    "aggregates.size": ("MPDUs in one, mean", "how many frames these carried on average"),
    "aggregates.block_acks": ("block ACKs", "answers that acknowledge several frames"),
    "aggregates.requests": ("block-ACK requests", "frames that ask for such an answer, after an MPDU was given up"),
    "retries.short": (
        "attempts that failed, without RTS",
        "MPDUs sent, but not acknowledged, and RTSs without an answer",
    ),
    "retries.long": ("attempts that failed, after RTS", "MPDUs sent after an RTS, but not acknowledged"),
}
# For each access category, if EDCA is on.
OF_CATEGORY = {
    "acked": "frames acknowledged",
    "airtime_s": "airtime, s",
    "given_up": "frames given up",
    "dropped": "queue drops",
    "collisions": "collided inside",
}


def _labels(rows: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    return {path: label for path, (label, _) in rows.items()}


QUANTITIES = {
    **{f"{of}.{row}": counted(of, row) for of in ("col", "col.any", "fail") for row in (*ROWS, "total")},
    **_labels(_STUDIED),
}
# Further quantities of runs, outside of studies.
OF_RUNS = QUANTITIES | _labels(_OF_RUNS) | {f"{of}.{row}": counted(of, row) for of in ("col", "fail") for row in APART}
OF_ROUTING = _labels(_OF_ROUTING)
OF_AGGREGATES = _labels(_OF_AGGREGATES)  # with 802.11n and later
MEANINGS = dict(pair for rows in (_STUDIED, _OF_RUNS, _OF_ROUTING, _OF_AGGREGATES) for pair in rows.values())

PARTS = re.compile(rf"(col|col\.any|fail)\.({'|'.join((*ROWS, *APART))})|in_flight\..*")  # not shown if all zero
# Quantities that grow with the duration of a run.
COUNTS = re.compile(
    r"(col|fail|retries|routing|categories)\..*|aggregates\.(ppdus|mpdus|block_acks|requests)|(goodput_segments|queue_drops|retransmits|responses_spoilt)|flows\.\d+\.(delivered_bytes"
    r"|goodput_segments|retransmits|tcp\.(rtos|fast_retransmits|retransmissions_begun|(slow_start|congestion_avoidance"
    r"|recovery|rto)_s)|route\.(found|changed|lost|changes|without_s|breaks|recovered|rto_without_s)|datagrams\.(sent|arrived"
    r"|duplicates|reordered|late)|transactions\.(begun|completed|failed|unfinished|bytes))"
)
# Quantities that only our air counts.
OF_AIR = re.compile(r"(col|fail|retries|categories|energy)\..*|queue_drops|responses_spoilt")
# A rule follows these rows.
SECTIONS = ("col.total", "col.any.total", "fail.total", "in_flight.total", "queue_drops", "retransmits")


def meaning(label: str) -> str:
    """What a row of this label counts; empty if nothing is known of it."""
    if label.startswith("goodput against "):
        return "the relative change of goodput"
    if found := _COUNTED.fullmatch(label):
        return f"{KINDS[found[2]]} {COUNTED[found[1]]}"
    return MEANINGS.get(label, "")
