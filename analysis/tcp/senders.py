# SPDX-License-Identifier: BSD-3-Clause
"""TCP senders over time, from `tcp.trace`: window, threshold, round-trip time, segments in flight, and phases.

The tap writes a record whenever something wakes a sender, with the values before the kernel acts on it
(docs/records.md, section 8). So the values of a record held since the previous record: a flow is a step function, read
backwards. Changes during an event, such as a state or a retransmission, take no time and drop out. Times are integers
(ns), so the phases divide a flow's time to the nanosecond.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.traces.columns import begins, one_of, records_of, spans
from analysis.traces.trace import Array, record
from emulation.files import compressed
from emulation.files.foreign import LONGEST_NS, Damaged, reading

if TYPE_CHECKING:
    from analysis.results.summaries import TcpSummary

RECORD = record("""
    size:u2 80
    event:u1
    ca_state:u1
    sport:u2 in the host's order
    dport:u2
    time_ns:i8
    sent_ns:i8 when the socket last sent a segment
    cwnd:u4
    ssthresh:u4 0x7fffffff: none yet
    srtt_us:u4
    rto_us:u4
    packets_out:u4
    sacked_out:u4
    lost_out:u4
    retrans_out:u4
    una:u4
    nxt:u4
    total_retrans:u4
    backoff:u4
    saddr:u4 bytes in network order; IPv6: 0
    daddr:u4
""")
ENDS = ["saddr", "sport", "daddr", "dport"]
NO_SSTHRESH = 0x7FFFFFFF
DIP_NS = 10_000_000_000  # ns: goodput is examined for dips over this time
Ends = tuple[str, int, str, int]  # the source's address and port, the destination's


class Event(IntEnum):
    """Events: what woke a sender (ACK, TIMER), what it then did (STATE, RETRANSMIT), and its end."""

    ACK = 1  # tcp_probe: a segment arrived while data was outstanding
    STATE = 2  # tcp_cong_state_set: `ca_state` is the new state
    RETRANSMIT = 3  # tcp_retransmit_skb: one or more segments, which `total_retrans` counts
    CLOSE = 4  # tcp_destroy_sock
    TIMER = 5  # timer_expire_entry: retransmission, loss probe, reordering or window probe


class State(IntEnum):
    """The kernel's `tcp_ca_state`."""

    OPEN = 0
    DISORDER = 1
    CWR = 2
    RECOVERY = 3
    LOSS = 4


class Phase(IntEnum):
    SLOW_START = 0  # cwnd < ssthresh
    CONGESTION_AVOIDANCE = 1
    RECOVERY = 2  # in Recovery or CWR
    RTO = 3  # nothing happens until the retransmission timer expires


@dataclass(frozen=True)
class Flow:
    """A flow over time: value i holds from `time_ns[i]` to `time_ns[i + 1]`, in ns since the run's start."""

    time_ns: Array
    cwnd: Array  # segments
    ssthresh: Array  # segments; NO_SSTHRESH: none yet
    srtt_us: Array  # 0: not measured yet
    in_flight: Array  # segments, as the kernel counts them
    phase: Array
    rtos_ns: Array  # expiries of the retransmission timer
    fast_retransmits_ns: Array  # starts of fast recoveries
    stall_ns: tuple[int, int]  # start and end of the longest time without a new acknowledgment
    dip: float | None  # the slowest ten seconds relative to the mean; None for a flow shorter than twenty

    def mean(self, values: Array, where: Array | bool = True) -> float | None:
        """Return the mean over time, weighted by how long each value held; None if no time is selected."""
        held = np.diff(self.time_ns) * where
        return float(values.astype(float) @ held / held.sum()) if held.any() else None

    def seconds(self, phase: Phase) -> float:
        return int(np.diff(self.time_ns)[self.phase == phase].sum()) / 1e9

    def spans(self, phase: Phase) -> Array:
        """Return the spans of a phase: rows of start and end, seconds since the run's start."""
        return spans(self.time_ns, self.phase == phase) / 1e9

    def summary(self) -> "TcpSummary":
        from analysis.results.summaries import TcpSummary  # imported late: drawing does not need it

        srtt_us = self.mean(self.srtt_us, self.srtt_us > 0)
        return TcpSummary(
            rtos=self.rtos_ns.size,
            fast_retransmits=self.fast_retransmits_ns.size,
            slow_start_s=self.seconds(Phase.SLOW_START),
            congestion_avoidance_s=self.seconds(Phase.CONGESTION_AVOIDANCE),
            recovery_s=self.seconds(Phase.RECOVERY),
            rto_s=self.seconds(Phase.RTO),
            cwnd_mean=self.mean(self.cwnd) or 0.0,
            cwnd_max=int(self.cwnd.max(initial=0)),
            srtt_ms=None if srtt_us is None else srtt_us / 1000,
            in_flight_mean=self.mean(self.in_flight) or 0.0,
            stall_s=(self.stall_ns[1] - self.stall_ns[0]) / 1e9,
            stall_at_s=self.stall_ns[0] / 1e9,
            dip=self.dip,
        )


def flows(path: Path, plan: Mapping[str, Any], lane: Mapping[str, Any]) -> dict[str, Flow]:
    """Return the flows of a run by name, each from its start until it finished or stopped, or the run ended. The sender
    is the end that sent most. Flows that never sent are omitted, and flows with a connection for each transaction.
    `plan` and `lane` are as in docs/interfaces.md, sections 1 and 2. Raises Damaged if records were lost or are
    malformed, OSError if the file cannot be read."""
    if lost := lane["recorders"]["tcp_tap"]["lost_records"]:
        raise Damaged(f"the TCP trace lost {lost} records: its reader fell behind")
    connections = read(path)
    ip = {node["name"]: _ip(node["interfaces"]) for node in plan["nodes"]}
    of_lane = {application["name"]: application for application in lane["applications"]}
    found = {}
    for planned in plan["applications"]:
        source, destination, port = ip[planned["source"]], ip[planned["destination"]], planned["port"]
        lasted, ends = of_lane[planned["name"]], (source, destination, port)
        mine = [r for (a, p, b, q), r in connections.items() if ends in ((a, b, q), (b, a, p))]
        if not mine or lasted.get("datagrams") or planned.get("connection") == "new":
            continue
        start_ns = lane["started_ns"] + round(planned["start_s"] * 1e9)
        finished = lasted["finished_s"] is not None
        stop_s = planned.get("stop_s") or math.inf
        read_ns = round(min(lane["started_ns"] + stop_s * 1e9, lane["stopped_ns"]))  # when its tcp_info was read
        stop_ns = start_ns + round(lasted["finished_s"] * 1e9) if finished else read_ns
        records = with_last(max(mine, key=_sent), lasted["tcp_info"].get("sender", {}), read_ns)
        found[planned["name"]] = follow(records, lane["started_ns"], start_ns, stop_ns)
    return found


def read(path: Path) -> dict[Ends, Array]:
    """Return the records in a file, compressed or not, by connection, each in order of time. Raises Damaged if
    malformed, OSError if unreadable."""
    with reading(path):
        return parse(compressed.read(compressed.kept(path)))


def parse(data: bytes | bytearray) -> dict[Ends, Array]:
    """Return the records of these bytes, by connection, in order of time. Raises Damaged if they are malformed."""
    records = records_of(data, RECORD, "the TCP trace", lambda of: (
        (~one_of(of["event"], Event), "an unknown event"),
        (of["ca_state"] > max(State), "an unknown state"),
        ((of["time_ns"] > LONGEST_NS) | (of["sent_ns"] > LONGEST_NS), "an impossible time"),
        (np.diff(of["time_ns"], prepend=0) < 0, "a record that is older than the one before"),
    ))  # fmt: skip
    ends, of = np.unique(records[ENDS], return_inverse=True)
    return {
        (_address(a), int(p), _address(b), int(q)): records[of == number] for number, (a, p, b, q) in enumerate(ends)
    }


def with_last(records: Array, tcp_info: Mapping[str, int], now_ns: int) -> Array:
    """Append a record to a connection's records for `now_ns`, when its `tcp_info` (`traffic.tcp_info`) was read. If
    that is empty, because the connection no longer existed, the last values still hold."""
    last = records[-1:].copy()
    last["event"], last["time_ns"] = Event.CLOSE, max(now_ns, int(last["time_ns"][0]))
    names = {"cwnd": "snd_cwnd", "ssthresh": "snd_ssthresh", "srtt_us": "rtt", "packets_out": "unacked",
             "sacked_out": "sacked", "lost_out": "lost", "retrans_out": "retrans", "ca_state": "ca_state"}  # fmt: skip
    for ours, theirs in names.items():
        if tcp_info:
            last[ours] = tcp_info[theirs]
    return np.concatenate([records, last])


def follow(records: Array, zero_ns: int, start_ns: int, stop_ns: int) -> Flow:
    """Return a connection's flow from `start_ns` to `stop_ns` in the trace's time; the result's times count from
    `zero_ns`. The last record must not be before the stop."""
    time, event = records["time_ns"], records["event"]
    rto = (event == Event.STATE) & (records["ca_state"] == State.LOSS)
    recovery = (event == Event.STATE) & (records["ca_state"] == State.RECOVERY)
    # The wait for an expiry begins with the last arrival or transmission; the expiry of its own timer is neither.
    alive = np.maximum.accumulate(np.where(event == Event.TIMER, start_ns, time))
    waiting = np.maximum(np.append(start_ns, alive)[:-1], records["sent_ns"])[rto].clip(max=time[rto])
    edges = np.sort(np.concatenate([time, waiting, [start_ns, stop_ns]]).clip(start_ns, stop_ns))
    edges = edges[begins(edges)]  # np.unique would load numpy.ma
    holds = np.searchsorted(time, edges[1:])
    new = event == Event.STATE  # this event changed these two
    state = np.where(new, np.append(State.OPEN, records["ca_state"])[:-1], records["ca_state"])[holds]
    ssthresh = np.where(new, np.append(NO_SSTHRESH, records["ssthresh"])[:-1], records["ssthresh"])[holds]
    cwnd = records["cwnd"][holds]
    phase = np.where(cwnd < ssthresh, Phase.SLOW_START, Phase.CONGESTION_AVOIDANCE)
    phase[(state == State.RECOVERY) | (state == State.CWR)] = Phase.RECOVERY
    expiry = np.append(time[rto], np.iinfo(np.int64).max)
    phase[np.append(waiting, stop_ns)[np.searchsorted(expiry, edges[1:])] < edges[1:]] = Phase.RTO
    out, sacked, lost, again = (
        records[name][holds].astype(np.int64) for name in ("packets_out", "sacked_out", "lost_out", "retrans_out")
    )
    within = (time >= start_ns) & (time <= stop_ns)
    return Flow(
        edges - zero_ns, cwnd, ssthresh, records["srtt_us"][holds], out - sacked - lost + again, phase,
        time[rto & within] - zero_ns, time[recovery & within] - zero_ns, stall(records, start_ns, stop_ns, zero_ns),
        dip(records, start_ns, stop_ns),
    )  # fmt: skip


def stall(records: Array, start_ns: int, stop_ns: int, zero_ns: int) -> tuple[int, int]:
    """Return the start and end of the longest time without a new acknowledgment, the first of several. A record
    shows the result of the record before it."""
    advanced = records["time_ns"][:-1][np.diff(records["una"]) != 0]
    edges = np.concatenate([[start_ns], advanced.astype(np.int64), [stop_ns]]).clip(start_ns, stop_ns)
    longest = int(np.diff(edges).argmax())
    return int(edges[longest]) - zero_ns, int(edges[longest + 1]) - zero_ns


def dip(records: Array, start_ns: int, stop_ns: int) -> float | None:
    """Return the data acknowledged in the slowest of the flow's whole ten-second intervals, relative to their mean.
    None if there are fewer than two, or nothing was acknowledged."""
    brought = np.diff(records["una"])  # by the record before; modulo 2^32, as sequence numbers are
    of = (records["time_ns"][:-1] - start_ns) // DIP_NS
    whole = (stop_ns - start_ns) // DIP_NS
    within = (of >= 0) & (of < whole)
    amounts = np.bincount(of[within].astype(np.int64), brought[within], minlength=whole)
    return float(amounts.min() / amounts.mean()) if whole > 1 and amounts.any() else None


def _ip(interfaces: Sequence[Mapping[str, Any]]) -> str:
    """Return a node's address, that of its first interface; empty if it has none."""
    return str(interfaces[0].get("ip") or "").partition("/")[0] if interfaces else ""


def _address(word: int) -> str:
    return str(IPv4Address(int(word).to_bytes(4, "little")))  # the bytes are in network order


def _sent(records: Array) -> int:
    """Return the number of bytes that a connection sent."""
    return (int(records["nxt"][-1]) - int(records["una"][0])) % 2**32
