# SPDX-License-Identifier: BSD-3-Clause
"""The columns of the tables that `export` writes. docs/columns.md is made from this file.

Tables are tidy: a row is one thing, a column one quantity, and its name ends with its unit. A number without a unit is
a count or a ratio. The first columns of each table identify the run, so one table has all runs of a folder.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Type(StrEnum):
    """Type of a column's values. Values that may be missing are so in pandas (NA, NaN), in Parquet and in CSV."""

    NAME = "name"  # one of a few
    TEXT = "text"
    INTEGER = "integer"
    OPTIONAL = "integer, or missing"
    NUMBER = "number"  # or missing
    FLAG = "true or false"


@dataclass(frozen=True)
class Column:
    """A column. `path`: for tables made from results, the place of the value, by default the column's name."""

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
PAGE = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Columns of the tables

The tables of [`./dcflab export`](data.md) and `dcflab.load`, made from `emulation/features/export/schema.py`:

    ./dcflab python -c "from emulation.features.export.schema import page; print(page(), end='')" > docs/columns.md

`runs` and `flows` also have a column `option_NAME` for each option in which the runs of a folder differ.
All tables begin with:
"""

KEYS = (
    Column("run", NAME, "its subfolder of the run folder, `full-1`"),
    Column("case", NAME, "its row in a study's tables; empty if there are none"),
    Column("variant", NAME, "its column there; empty if there are none"),
    Column("seed", INTEGER, "its seed"),
)
FLOW = Column("flow", NAME, "the flow's name, `flow1`")
ROWS = {
    "data": "TCP segments with payload", "ack": "pure TCP ACKs", "udp": "datagrams", "other": "other data",
    "encrypted": "encrypted frames", "routing": "routing packets",
    "management": "management frames", "mac_ack": "ACKs of the MAC",
}  # fmt: skip


def rows(counter: str, text: str) -> list[Column]:
    """Return the columns with the numbers of frames of each kind, in `counter`."""
    names = (name for name in ROWS if (counter, name) != ("fail", "mac_ack"))
    return [
        Column(f"{counter.replace('.', '_')}_{name}", INTEGER, text.format(ROWS[name]), f"{counter}.{name}")
        for name in names
    ]


SPAN = (
    Column("time_ns", INTEGER, "start of the row, since the run's start"),
    Column("until_ns", INTEGER, "end of the row, where the flow's next row begins"),
)

RUNS = Table("runs", "One row for each run.", (
    *KEYS,
    Column("air_s", NUMBER, "time measured"),
    Column("goodput_kbps", NUMBER, "payload delivered to applications, of all flows, over the time in which any of "
           "them ran"),
    Column("goodput_segments", INTEGER, "the same in whole segments"),
    Column("retransmits", INTEGER, "of TCP, all flows"),
    Column("col_rtscts", INTEGER, "RTSs and CTSs that collided at the addressed station, with others' frames or its "
           "own: `collision` and `own_tx` in `frames`", "col.rtscts"),
    *rows("col", "the same of {}"),
    Column("col_total", INTEGER, "RTSs, CTSs and all data; without routing, management and ACKs of the MAC",
           "col.total"),
    Column("col_any_rtscts", INTEGER, "RTSs and CTSs that collided at any station within reception range",
           "col.any.rtscts"),
    *rows("col.any", "the same of {}"),
    Column("col_any_total", INTEGER, "RTSs, CTSs and all data", "col.any.total"),
    Column("fail_rtscts", INTEGER, "RTS procedures that the MAC gave up", "fail.rtscts"),
    *rows("fail", "{} that the MAC gave up. Without a CTS `frames` has only their RTSs, whose purpose is not visible"),
    Column("fail_total", INTEGER, "RTS procedures and all data", "fail.total"),
    Column("queue_drops", INTEGER, "frames that a full queue dropped"),
    Column("short_retries", INTEGER, "of the MAC: RTSs, and frames without RTS", "retries.short"),
    Column("long_retries", INTEGER, "of the MAC: frames after their RTS", "retries.long"),
    Column("in_flight_data_segments", NUMBER, "segments with payload in flight, mean over time; missing without a "
           "trace, and with encryption", "in_flight.data"),
    Column("in_flight_ack_segments", NUMBER, "pure ACKs in flight", "in_flight.ack"),
    Column("in_flight_segments", NUMBER, "both", "in_flight.total"),
    Column("energy_j", NUMBER, "of all radios ([studies.md](studies.md) has the powers)", "energy.joules"),
    Column("routing_protocol", NAME, "the routing protocol; missing without one", "routing.protocol"),
    Column("routing_frames", OPTIONAL, "its control packets that were given to radios", "routing.frames"),
    Column("routing_airtime_s", NUMBER, "their airtime", "routing.airtime_s"),
    Column("routing_drops", OPTIONAL, "data packets that routing dropped; missing if the protocol does not report them",
           "routing.drops"),
    Column("trace", TEXT, "path of the air's pcapng in the run folder; missing without one"),
))  # fmt: skip

OPTIONS = Table("options", "One row for each run and option.", (
    *KEYS,
    Column("option", NAME, "its flat name, as on the command line, `rts`"),
    Column("value", TEXT, "as JSON, `\"full\"`"),
))  # fmt: skip

FLOWS = Table("flows", "One row for each flow of a run.", (
    *KEYS,
    Column("flow", NAME, "its name, `flow1`", "name"),
    Column("kind", NAME, "the kind of application: `bulk`, `voice`, `web` …"),
    Column("source", NAME, "the sending station"),
    Column("destination", NAME, "the receiving station"),
    Column("congestion_control", NAME, "of its TCP; missing without TCP", "congestion"),
    Column("outcome", NAME, "`ran`, `finished`, `not due`, `never started`, `fell silent`, `died`"),
    Column("why", TEXT, "of the last three: the reason"),
    Column("hops", OPTIONAL, "of its planned route; missing without one"),
    Column("delivered_bytes", INTEGER, "payload delivered to the application"),
    Column("goodput_segments", INTEGER, "the same in whole segments"),
    Column("goodput_kbps", NUMBER, "over the time in which it ran"),
    Column("share", NUMBER, "of what all flows of the run delivered, 0 to 1"),
    Column("retransmits", INTEGER, "TCP's"),
    Column("finished_s", NUMBER, "when all data had arrived, since its start; missing for an unlimited flow"),
    Column("last_s", NUMBER, "when the last data arrived, since its start"),
    Column("timeouts", OPTIONAL, "expiries of the retransmission timer. This and the rest of TCP: missing without a "
           "trace of TCP", "tcp.rtos"),
    Column("fast_retransmits", OPTIONAL, "fast recoveries that began", "tcp.fast_retransmits"),
    Column("slow_start_s", NUMBER, "time in slow start", "tcp.slow_start_s"),
    Column("congestion_avoidance_s", NUMBER, "in congestion avoidance", "tcp.congestion_avoidance_s"),
    Column("recovery_s", NUMBER, "in fast recovery and the kernel's CWR", "tcp.recovery_s"),
    Column("rto_s", NUMBER, "waiting for the retransmission timer", "tcp.rto_s"),
    Column("cwnd_mean_segments", NUMBER, "congestion window, mean over time", "tcp.cwnd_mean"),
    Column("cwnd_max_segments", OPTIONAL, "the largest", "tcp.cwnd_max"),
    Column("srtt_ms", NUMBER, "smoothed round-trip time, mean over time", "tcp.srtt_ms"),
    Column("in_flight_mean_segments", NUMBER, "by the kernel's count, mean over time", "tcp.in_flight_mean"),
    Column("stall_s", NUMBER, "the longest time without a new acknowledgment", "tcp.stall_s"),
    Column("stall_at_s", NUMBER, "when that began, since the run's start", "tcp.stall_at_s"),
    Column("dip", NUMBER, "what was acknowledged in the slowest ten seconds, relative to the mean", "tcp.dip"),
    Column("datagrams_sent", OPTIONAL, "this and the next eleven: missing for a flow without datagrams",
           "datagrams.sent"),
    Column("datagrams_arrived", OPTIONAL, "each once", "datagrams.arrived"),
    Column("lost_percent", NUMBER, "of those sent", "datagrams.lost_percent"),
    Column("duplicates", OPTIONAL, "that arrived twice", "datagrams.duplicates"),
    Column("reordered", OPTIONAL, "that arrived after a later one", "datagrams.reordered"),
    Column("delay_mean_ms", NUMBER, "from one application to the other", "datagrams.delay_ms.mean"),
    Column("delay_p50_ms", NUMBER, "the median", "datagrams.delay_ms.p50"),
    Column("delay_p95_ms", NUMBER, "the 95th percentile", "datagrams.delay_ms.p95"),
    Column("delay_p99_ms", NUMBER, "the 99th", "datagrams.delay_ms.p99"),
    Column("delay_max_ms", NUMBER, "the largest", "datagrams.delay_ms.max"),
    Column("jitter_ms", NUMBER, "as of RFC 3550", "datagrams.jitter_ms"),
    Column("mos", NUMBER, "mean opinion score of voice, 1 to 5", "datagrams.mos"),
    Column("transactions_begun", OPTIONAL, "requests that were sent. This and the next five: missing for a flow "
           "without transactions", "transactions.begun"),
    Column("transactions_completed", OPTIONAL, "complete responses", "transactions.completed"),
    Column("transactions_failed", OPTIONAL, "failed transactions", "transactions.failed"),
    Column("transaction_mean_s", NUMBER, "from the request to the end of the response", "transactions.seconds.mean"),
    Column("transaction_p50_s", NUMBER, "the median", "transactions.seconds.p50"),
    Column("transaction_p95_s", NUMBER, "the 95th percentile", "transactions.seconds.p95"),
    Column("routes_found", OPTIONAL, "how often its source found a route. This and the rest: missing without a routing "
           "protocol", "route.found"),
    Column("routes_changed", OPTIONAL, "how often it changed", "route.changed"),
    Column("routes_lost", OPTIONAL, "how often it was lost", "route.lost"),
    Column("without_route_s", NUMBER, "time without a route", "route.without_s"),
    Column("route_mean_hops", NUMBER, "its routes' length, mean over time", "route.length_mean"),
    Column("path_mean_hops", NUMBER, "hops that segments took, seen on the air", "route.hops_mean"),
    Column("breaks", OPTIONAL, "how often the path broke", "route.breaks"),
    Column("recovered", OPTIONAL, "how often there was a path again", "route.recovered"),
    Column("recovery_mean_s", NUMBER, "time until then, mean", "route.recovery_mean_s"),
    Column("recovery_max_s", NUMBER, "the longest", "route.recovery_max_s"),
))  # fmt: skip

SAMPLES = Table("samples", "One row for each flow and `sample_s` (one second by default).", (
    *KEYS,
    FLOW,
    Column("time_s", NUMBER, "since the run's start"),
    Column("delivered_bytes", OPTIONAL, "so far"),
    Column("goodput_kbps", NUMBER, "since the flow's previous row, or its start"),
    Column("srtt_ms", NUMBER, "smoothed round-trip time, now"),
    Column("cwnd_segments", OPTIONAL, "congestion window, now", "cwnd"),
    Column("retransmits", OPTIONAL, "so far"),
    Column("datagrams_sent", OPTIONAL, "so far", "sent"),
    Column("datagrams_arrived", OPTIONAL, "so far", "arrived"),
    Column("delay_ms", NUMBER, "mean of the datagrams that arrived since the previous row"),
    Column("jitter_ms", NUMBER, "as of RFC 3550, now"),
))  # fmt: skip

FRAMES = Table("frames", "One row for each transmission, in order of time.", (
    *KEYS,
    Column("frame", INTEGER, "its number in the run's `air.pcapng.gz`, as Wireshark shows it, from 1"),
    Column("time_ns", INTEGER, "its start, since the run's start"),
    Column("duration_ns", INTEGER, "its duration; of an aggregate the whole"),
    Column("ppdu_frame", INTEGER, "the first frame of its PPDU; itself if it is not in an aggregate"),
    Column("kind", NAME, "`rts`, `cts`, `ack` (the MAC's), `tcp_data`, `tcp_ack`, `routing`, `management`, `other`, "
           "`encrypted`, `udp`"),
    Column("sender", NAME, "the sending station; missing if unknown"),
    Column("receiver", NAME, "the addressed station; missing: a group"),
    Column("outcome", NAME, "at its receiver: `ok`, `collision`, `own_tx` (it was sending itself; a collision "
           "in `runs`), `noise`, `below_threshold`; missing for a group"),
    Column("culprit", NAME, "the station whose transmission corrupted it, if one did"),
    Column("culprit_frame", OPTIONAL, "the number of that transmission"),
    Column("attempt", OPTIONAL, "number of this RTS, or of this sending of the frame, from 1; missing for answers"),
    Column("previous_frame", OPTIONAL, "the previous attempt at the same frame; for a CTS or ACK, what it answers"),
    Column("given_up", NAME, "the limit, if its frame was given up after this: `rts_limit`, `short_limit`, "
           "`long_limit`, `stages`"),
    Column("queued_ns", OPTIONAL, "time since the kernel gave the frame to its station; missing for answers"),
    Column("contended_ns", OPTIONAL, "time that its station contended for it; missing: it did not, as for answers"),
    Column("length_bytes", INTEGER, "of the frame, with its FCS"),
    Column("rate_kbps", INTEGER, "its rate"),
    Column("mcs", OPTIONAL, "for each number of streams; missing at a legacy rate"),
    Column("freq_mhz", INTEGER, "of the channel"),
    Column("retry", FLAG, "the Retry bit"),
    Column("duration_field_us", INTEGER, "time for which it sets the NAV; 0 if the field means something else"),
    Column("sequence", OPTIONAL, "sequence number of the MAC; missing for control frames"),
    Column("category", NAME, "of EDCA: `VO`, `VI`, `BE`, `BK`; missing without EDCA, and for answers"),
    Column("flow", NAME, "the flow whose packet it carries, requests (RTS) or answers"),
    Column("backward", FLAG, "whether its packet goes from the flow's destination to its source, like an ACK"),
    Column("payload_bytes", OPTIONAL, "of TCP or UDP, of a flow's packet. This and the rest: missing for other frames"),
    Column("tcp_seq_bytes", OPTIONAL, "sequence number of TCP, from the connection's first"),
    Column("tcp_ack_bytes", OPTIONAL, "acknowledgment number, likewise"),
    Column("tcp_flags", NAME, "first letters of FIN, SYN, RST, PSH, ACK, URG: `SA`, `A`, `PA`"),
))  # fmt: skip

TCP = Table("tcp", "State of a flow's sender: one row until something changes.", (
    *KEYS,
    FLOW,
    *SPAN,
    Column("cwnd_segments", INTEGER, "congestion window"),
    Column("ssthresh_segments", OPTIONAL, "slow-start threshold; missing: none yet"),
    Column("srtt_us", OPTIONAL, "smoothed round-trip time; missing: not measured yet"),
    Column("in_flight_segments", INTEGER, "by the kernel's count"),
    Column("phase", NAME, "`slow_start`, `congestion_avoidance`, `recovery`, or `rto` (waiting for the "
           "retransmission timer)"),
))  # fmt: skip

ROUTES = Table("routes", "The route that a flow's source knew, with a routing protocol: one row until it changes.", (
    *KEYS,
    FLOW,
    *SPAN,
    Column("has_route", FLAG, "whether there was one"),
    Column("hops", OPTIONAL, "its length; missing: none, or unknown"),
))  # fmt: skip

TABLES: Mapping[str, Table] = {
    table.name: table for table in (RUNS, OPTIONS, FLOWS, SAMPLES, FRAMES, TCP, ROUTES)
}  # fmt: skip


def markdown(columns: Iterable[Column]) -> str:
    rows = [f"| `{column.name}` | {column.type} | {column.text} |" for column in columns]
    return "\n".join(["| column | type | |", "|---|---|---|", *rows]) + "\n"


def page() -> str:
    """Return docs/columns.md: the columns of all tables, and those of each."""
    parts = [PAGE, markdown(KEYS)]
    for table in TABLES.values():
        parts.append(f"## {table.name}\n\n{table.text}\n\n{markdown(table.columns[len(KEYS) :])}")
    return "\n".join(parts)
