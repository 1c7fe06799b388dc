# SPDX-License-Identifier: BSD-3-Clause
"""The tables that runs are exported as, column by column; docs/data.md has the same for people.

Tidy: a row is one thing, a column one quantity, and a name ends with its unit; a number without one is a count, or a
ratio. Every table begins with what run a row is of, so that all of a folder's runs, of whatever study or sweep, are one
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Type(StrEnum):
    """What a column's values are. Where one may be missing it is so in pandas (NA, NaN), in Parquet and in CSV."""

    NAME = "name"  # one of a few
    TEXT = "text"
    INTEGER = "integer"
    OPTIONAL = "integer, or missing"
    NUMBER = "number"  # or missing
    FLAG = "true or false"


@dataclass(frozen=True)
class Column:
    """`path`: of tables that are read off results, where there, if not by the column's own name."""

    name: str
    type: Type
    text: str
    path: str = ""


@dataclass(frozen=True)
class Table:
    name: str
    text: str
    columns: tuple[Column, ...]


NAME, TEXT, INTEGER, OPTIONAL, NUMBER, FLAG = Type
OPTION = "option_"

KEYS = (
    Column("run", NAME, "its subfolder of the run folder, `full-1`"),
    Column("case", NAME, "its row in a study's tables; empty where there are none"),
    Column("variant", NAME, "its column there; empty where there are none"),
    Column("seed", INTEGER, "its seed"),
)
FLOW = Column("flow", NAME, "the flow's name, `flow1`")
ROWS = {
    "data": "TCP segments with payload", "ack": "pure TCP ACKs", "udp": "datagrams", "other": "other data",
    "encrypted": "frames of which encryption hides what they are", "routing": "frames of routing protocols",
    "management": "the MAC's management", "mac_ack": "the MAC's ACKs",
}  # fmt: skip


def rows(of: str, text: str) -> list[Column]:
    """The numbers of frames of each kind, in `of`."""
    called = {row: said for row, said in ROWS.items() if (of, row) != ("fail", "mac_ack")}
    return [
        Column(f"{of}_{row}".replace(".", "_"), INTEGER, text.format(said), f"{of}.{row}")
        for row, said in called.items()
    ]


SPAN = (
    Column("time_ns", INTEGER, "from when on, since the run's start"),
    Column("until_ns", INTEGER, "until when; there the next row of the flow begins"),
)

RUNS = Table("runs", "a row for each run", (
    *KEYS,
    Column("air_s", NUMBER, "how long was measured"),
    Column("goodput_kbps", NUMBER, "payload that applications got, of all flows, over the time in which any of them "
           "ran"),
    Column("goodput_segments", INTEGER, "the same in whole segments"),
    Column("retransmits", INTEGER, "TCP's, of all flows"),
    Column("col_rtscts", INTEGER, "RTSs and CTSs that collided at the station that they were for, with others' frames "
           "or its own: `collision` and `own_tx` in `frames`", "col.rtscts"),
    *rows("col", "the same of {}"),
    Column("col_total", INTEGER, "of RTSs, CTSs and all data; routing, management and the MAC's ACKs are in no total",
           "col.total"),
    Column("col_any_rtscts", INTEGER, "RTSs and CTSs that collided at any station within reception range",
           "col.any.rtscts"),
    *rows("col.any", "the same of {}"),
    Column("col_any_total", INTEGER, "of RTSs, CTSs and all data", "col.any.total"),
    Column("fail_rtscts", INTEGER, "RTS procedures that were given up", "fail.rtscts"),
    *rows("fail", "{} that the MAC gave up, also for want of a CTS: then `frames` has their RTSs only, of which nobody "
          "sees what they ask for"),
    Column("fail_total", INTEGER, "of RTS procedures and all data", "fail.total"),
    Column("queue_drops", INTEGER, "frames that a full queue refused"),
    Column("short_retries", INTEGER, "the MAC's, of RTSs and of frames without one", "retries.short"),
    Column("long_retries", INTEGER, "the MAC's, of frames after their RTS", "retries.long"),
    Column("in_flight_data_segments", NUMBER, "segments with payload on the way, mean over time; missing without a "
           "trace, and where frames are encrypted", "in_flight.data"),
    Column("in_flight_ack_segments", NUMBER, "pure ACKs on the way", "in_flight.ack"),
    Column("in_flight_segments", NUMBER, "both", "in_flight.total"),
    Column("energy_j", NUMBER, "of all radios ([studies.md](studies.md) says at which power)", "energy.joules"),
    Column("routing_protocol", NAME, "which ran; missing without one", "routing.protocol"),
    Column("routing_frames", OPTIONAL, "its control packets that were handed to radios", "routing.frames"),
    Column("routing_airtime_s", NUMBER, "how long the air was theirs", "routing.airtime_s"),
    Column("routing_drops", OPTIONAL, "the users' packets that routing dropped; missing where a protocol tells of none",
           "routing.drops"),
    Column("trace", TEXT, "the air's pcapng, by its path in the run folder; missing without one"),
))  # fmt: skip

OPTIONS = Table("options", "a row for each run and option", (
    *KEYS,
    Column("option", NAME, "its flat name, as on the command line, `rts`"),
    Column("value", TEXT, "as JSON, `\"full\"`"),
))  # fmt: skip

FLOWS = Table("flows", "a row for each flow of a run", (
    *KEYS,
    Column("flow", NAME, "its name, `flow1`", "name"),
    Column("kind", NAME, "what application it is: `bulk`, `voice`, `web` …"),
    Column("source", NAME, "the station that sends"),
    Column("destination", NAME, "the station that it sends to"),
    Column("congestion_control", NAME, "its TCP's; missing where there is none", "congestion"),
    Column("outcome", NAME, "`ran`, `finished`, `not due`, `never started`, `fell silent`, `died`"),
    Column("why", TEXT, "of the last three, why"),
    Column("hops", OPTIONAL, "of its planned route; missing where none was planned"),
    Column("delivered_bytes", INTEGER, "payload that the application got"),
    Column("goodput_segments", INTEGER, "the same in whole segments"),
    Column("goodput_kbps", NUMBER, "over the time in which it ran"),
    Column("share", NUMBER, "of what all flows of the run delivered, 0 to 1"),
    Column("retransmits", INTEGER, "TCP's"),
    Column("finished_s", NUMBER, "when all of it had arrived, since its start; missing of a flow without end"),
    Column("last_s", NUMBER, "when the last of it arrived, since its start"),
    Column("timeouts", OPTIONAL, "expiries of the retransmission timer. This and the rest of TCP: missing without a "
           "trace of it", "tcp.rtos"),
    Column("fast_retransmits", OPTIONAL, "fast recoveries that began", "tcp.fast_retransmits"),
    Column("slow_start_s", NUMBER, "time in slow start", "tcp.slow_start_s"),
    Column("congestion_avoidance_s", NUMBER, "in congestion avoidance", "tcp.congestion_avoidance_s"),
    Column("recovery_s", NUMBER, "in fast recovery, and the kernel's CWR", "tcp.recovery_s"),
    Column("rto_s", NUMBER, "waiting for the retransmission timer", "tcp.rto_s"),
    Column("cwnd_mean_segments", NUMBER, "congestion window, mean over time", "tcp.cwnd_mean"),
    Column("cwnd_max_segments", OPTIONAL, "the largest", "tcp.cwnd_max"),
    Column("srtt_ms", NUMBER, "smoothed round-trip time, mean over time", "tcp.srtt_ms"),
    Column("in_flight_mean_segments", NUMBER, "by the kernel's count, mean over time", "tcp.in_flight_mean"),
    Column("stall_s", NUMBER, "the longest time for which nothing new was acknowledged", "tcp.stall_s"),
    Column("stall_at_s", NUMBER, "when that began, since the run's start", "tcp.stall_at_s"),
    Column("dip", NUMBER, "what the slowest ten seconds brought, relative to the mean", "tcp.dip"),
    Column("datagrams_sent", OPTIONAL, "this and the next eleven: missing of a flow without datagrams",
           "datagrams.sent"),
    Column("datagrams_arrived", OPTIONAL, "each once", "datagrams.arrived"),
    Column("lost_percent", NUMBER, "of those sent", "datagrams.lost_percent"),
    Column("duplicates", OPTIONAL, "that came twice", "datagrams.duplicates"),
    Column("reordered", OPTIONAL, "that came after a later one", "datagrams.reordered"),
    Column("delay_mean_ms", NUMBER, "from one application to the other", "datagrams.delay_ms.mean"),
    Column("delay_p50_ms", NUMBER, "the median", "datagrams.delay_ms.p50"),
    Column("delay_p95_ms", NUMBER, "the 95th percentile", "datagrams.delay_ms.p95"),
    Column("delay_p99_ms", NUMBER, "the 99th", "datagrams.delay_ms.p99"),
    Column("delay_max_ms", NUMBER, "the largest", "datagrams.delay_ms.max"),
    Column("jitter_ms", NUMBER, "as of RFC 3550", "datagrams.jitter_ms"),
    Column("mos", NUMBER, "mean opinion score of voice, 1 to 5", "datagrams.mos"),
    Column("transactions_begun", OPTIONAL, "questions that were asked. This and the next five: missing of a flow "
           "without transactions", "transactions.begun"),
    Column("transactions_completed", OPTIONAL, "answers that came, whole", "transactions.completed"),
    Column("transactions_failed", OPTIONAL, "that failed", "transactions.failed"),
    Column("transaction_mean_s", NUMBER, "from the question to the end of the answer", "transactions.seconds.mean"),
    Column("transaction_p50_s", NUMBER, "the median", "transactions.seconds.p50"),
    Column("transaction_p95_s", NUMBER, "the 95th percentile", "transactions.seconds.p95"),
    Column("routes_found", OPTIONAL, "how often its source found a route. This and the rest: missing without a routing "
           "protocol", "route.found"),
    Column("routes_changed", OPTIONAL, "changed it", "route.changed"),
    Column("routes_lost", OPTIONAL, "lost it", "route.lost"),
    Column("without_route_s", NUMBER, "for how long it had none", "route.without_s"),
    Column("route_mean_hops", NUMBER, "its routes' length, mean over time", "route.length_mean"),
    Column("path_mean_hops", NUMBER, "over how many hops segments came, seen on the air", "route.hops_mean"),
    Column("breaks", OPTIONAL, "how often the way broke", "route.breaks"),
    Column("recovered", OPTIONAL, "how often there was one again", "route.recovered"),
    Column("recovery_mean_s", NUMBER, "after how long", "route.recovery_mean_s"),
    Column("recovery_max_s", NUMBER, "the longest", "route.recovery_max_s"),
))  # fmt: skip

SAMPLES = Table("samples", "a row for each flow and `sample_s`, a second unless said otherwise", (
    *KEYS,
    FLOW,
    Column("time_s", NUMBER, "when, since the run's start"),
    Column("delivered_bytes", OPTIONAL, "so far"),
    Column("goodput_kbps", NUMBER, "since the flow's row before, or its start"),
    Column("srtt_ms", NUMBER, "smoothed round-trip time, now"),
    Column("cwnd_segments", OPTIONAL, "congestion window, now", "cwnd"),
    Column("retransmits", OPTIONAL, "so far"),
    Column("datagrams_sent", OPTIONAL, "so far", "sent"),
    Column("datagrams_arrived", OPTIONAL, "so far", "arrived"),
    Column("delay_ms", NUMBER, "of datagrams that arrived since the row before, their mean"),
    Column("jitter_ms", NUMBER, "as of RFC 3550, now"),
))  # fmt: skip

FRAMES = Table("frames", "a row for each transmission, in order of time", (
    *KEYS,
    Column("frame", INTEGER, "its number in the run's `air.pcapng.gz`, as Wireshark shows it, from 1"),
    Column("time_ns", INTEGER, "when it began, since the run's start"),
    Column("duration_ns", INTEGER, "how long it took"),
    Column("kind", NAME, "`rts`, `cts`, `ack` (the MAC's), `tcp_data`, `tcp_ack`, `routing`, `management`, `other`, "
           "`encrypted`, `udp`"),
    Column("sender", NAME, "the station that sent it; missing where nobody knows"),
    Column("receiver", NAME, "the station that it is for; missing: a group"),
    Column("outcome", NAME, "at its receiver: `ok`, `collision`, `own_tx` (it was sending itself, which `runs` "
           "count as a collision, too), `noise`, `below_threshold`; missing of a group's"),
    Column("culprit", NAME, "the station whose transmission spoilt it, where one did"),
    Column("culprit_frame", OPTIONAL, "the number of that transmission"),
    Column("attempt", OPTIONAL, "RTSs, or sendings of the frame itself, from 1; missing of answers"),
    Column("previous_frame", OPTIONAL, "the attempt before, at the same frame; of a CTS or ACK, what it answers"),
    Column("given_up", NAME, "the limit at which its frame was given up after this: `rts_limit`, `short_limit`, "
           "`long_limit`, `stages`; missing: it was not"),
    Column("queued_ns", OPTIONAL, "for how long its station had had the frame, since the kernel handed it over; "
           "missing of answers"),
    Column("contended_ns", OPTIONAL, "how long its station contended for it; missing: it did not, as for an answer"),
    Column("length_bytes", INTEGER, "of the frame, with its FCS"),
    Column("rate_kbps", INTEGER, "at which it was sent"),
    Column("freq_mhz", INTEGER, "of the channel"),
    Column("retry", FLAG, "the Retry bit"),
    Column("duration_field_us", INTEGER, "for how long it sets the NAV; 0 where the field says something else"),
    Column("sequence", OPTIONAL, "the MAC's sequence number; missing of control frames"),
    Column("category", NAME, "EDCA's: `VO`, `VI`, `BE`, `BK`; missing without EDCA, and of answers"),
    Column("flow", NAME, "the flow of which it carries something, or for which it asks or answers"),
    Column("backward", FLAG, "whether it carries something from the flow's destination to its source, as an ACK"),
    Column("payload_bytes", OPTIONAL, "of TCP or UDP, of a flow's packet. This and the rest: missing of other frames"),
    Column("tcp_seq_bytes", OPTIONAL, "TCP's sequence number, counted from the connection's first"),
    Column("tcp_ack_bytes", OPTIONAL, "its acknowledgement number, counted alike"),
    Column("tcp_flags", NAME, "first letters of FIN, SYN, RST, PSH, ACK, URG: `SA`, `A`, `PA`"),
))  # fmt: skip

TCP = Table("tcp", "what a flow's sender held for a while: a row until something changes", (
    *KEYS,
    FLOW,
    *SPAN,
    Column("cwnd_segments", INTEGER, "congestion window"),
    Column("ssthresh_segments", OPTIONAL, "slow-start threshold; missing: none yet"),
    Column("srtt_us", OPTIONAL, "smoothed round-trip time; missing: not measured yet"),
    Column("in_flight_segments", INTEGER, "by the kernel's count"),
    Column("phase", NAME, "`slow_start`, `congestion_avoidance`, `recovery`, or `rto`: nothing happens until the "
           "retransmission timer expires"),
))  # fmt: skip

ROUTES = Table("routes", "what a flow's source knew of the way for a while, of runs with a routing protocol", (
    *KEYS,
    FLOW,
    *SPAN,
    Column("has_route", FLAG, "whether it had one"),
    Column("hops", OPTIONAL, "how long it was; missing: there was none, or nobody said"),
))  # fmt: skip

TABLES: Mapping[str, Table] = {
    table.name: table for table in (RUNS, OPTIONS, FLOWS, SAMPLES, FRAMES, TCP, ROUTES)
}  # fmt: skip


def markdown(table: Table) -> str:
    """Its part of docs/data.md."""
    rows = [f"| `{column.name}` | {column.type} | {column.text} |" for column in table.columns]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows]) + "\n"
