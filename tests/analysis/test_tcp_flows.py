# SPDX-License-Identifier: BSD-3-Clause
"""TCP flows from their trace: numbers by hand, phases that share the time exactly, and every byte checked."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from analysis.results.result import TcpSummary
from analysis.tcp import senders
from analysis.tcp.senders import NO_SSTHRESH, RECORD, Event, Flow, Phase, State
from analysis.traces.trace import Array
from emulation.files.foreign import Damaged

MS = 1_000_000
ENDS = {"saddr": 0x0100000A, "sport": 40000, "daddr": 0x0500000A, "dport": 5001}
ZERO, START, STOP = 1000 * MS, 1100 * MS, 2100 * MS


def record(event: Event, time_ms: int, **values: int) -> Array:
    """Return a record, of a flow's start by default; times in ms since the run's start."""
    new = np.zeros(1, RECORD)
    given = {
        "size": RECORD.itemsize, "event": event, "cwnd": 10, "ssthresh": NO_SSTHRESH, "packets_out": 10,
        **ENDS, **values, "time_ns": ZERO + time_ms * MS, "sent_ns": ZERO + values.pop("sent_ms", 0) * MS,
    }  # fmt: skip
    for name, value in given.items():
        if name != "sent_ms":
            new[name] = value
    return new


def follow(*records: Array, stop_ns: int = STOP) -> Flow:
    return senders.follow(np.concatenate(records), ZERO, START, stop_ns)


def steps(flow: Flow, values: Array) -> list[tuple[int, int]]:
    """Return when each value ends (ms since the run's start), and the value."""
    return [(int(end) // MS, int(value)) for end, value in zip(flow.time_ns[1:], values, strict=True)]


def test_a_value_holds_since_the_record_before() -> None:
    """And up to the stop the one after it; an in-flight count is the kernel's."""
    flow = follow(
        record(Event.ACK, 200, cwnd=10, srtt_us=0, packets_out=10),
        record(Event.ACK, 500, cwnd=11, srtt_us=90_000, packets_out=11, sacked_out=3, lost_out=2, retrans_out=1),
        record(Event.ACK, 1500, cwnd=20, srtt_us=60_000, packets_out=4),
    )
    assert flow.time_ns.tolist() == [100 * MS, 200 * MS, 500 * MS, 1100 * MS]
    assert flow.cwnd.tolist() == [10, 11, 20]
    assert flow.in_flight.tolist() == [10, 7, 4]
    assert flow.summary() == TcpSummary(
        rtos=0, fast_retransmits=0, slow_start_s=1.0, congestion_avoidance_s=0.0, recovery_s=0.0, rto_s=0.0,
        cwnd_mean=16.3, cwnd_max=20, srtt_ms=70.0, in_flight_mean=5.5,
        stall_s=1.0, stall_at_s=0.1,
    )  # fmt: skip


def test_a_stall_is_from_what_was_acknowledged_last_to_what_is_next() -> None:
    flow = follow(
        record(Event.ACK, 200, una=1),
        record(Event.ACK, 300, una=1001),
        record(Event.TIMER, 700, una=2001),  # by the ACK at 300
        record(Event.ACK, 800, una=2001),
        record(Event.ACK, 900, una=3001),
        record(Event.ACK, 1500, una=4001),
    )
    assert flow.stall_ns == (300 * MS, 800 * MS)


def test_a_dip_is_the_slowest_ten_seconds_beside_the_mean() -> None:
    """Across a wrap of sequence numbers; what is left of the last ten seconds does not count."""
    records = [
        record(Event.ACK, 5_000, una=2**32 - 1000),
        record(Event.ACK, 15_000, una=3000),  # 4000 by the ACK at 5 s
        record(Event.ACK, 25_000, una=5000),  # 2000 by that at 15 s
        record(Event.ACK, 31_000, una=11_000),  # 6000 by that at 25 s
        record(Event.ACK, 32_000, una=99_000),
    ]
    assert follow(*records, stop_ns=START + 31_500 * MS).dip == 0.5
    assert follow(*records, stop_ns=START + 19_900 * MS).dip is None


def test_phases_by_hand() -> None:
    """Slow start, a fast recovery that ends in two expiries, slow start again, and congestion avoidance."""
    half = {"ssthresh": 5, "cwnd": 7}
    lost = {"ssthresh": 5, "cwnd": 1}
    flow = follow(
        record(Event.ACK, 300, cwnd=10),
        record(Event.STATE, 300, cwnd=10, ssthresh=5, ca_state=State.RECOVERY),
        record(Event.RETRANSMIT, 300, cwnd=7, ssthresh=5, ca_state=State.RECOVERY),
        record(Event.ACK, 400, **half, ca_state=State.RECOVERY),
        record(Event.TIMER, 600, **half, ca_state=State.RECOVERY, sent_ms=420),
        record(Event.STATE, 600, **lost, ca_state=State.LOSS, sent_ms=420),
        record(Event.RETRANSMIT, 600, **lost, ca_state=State.LOSS, sent_ms=600),
        record(Event.TIMER, 900, **lost, ca_state=State.LOSS, sent_ms=600),
        record(Event.STATE, 900, **lost, ca_state=State.LOSS, sent_ms=600),
        record(Event.RETRANSMIT, 900, **lost, ca_state=State.LOSS, sent_ms=900),
        record(Event.ACK, 950, **lost, ca_state=State.LOSS),
        record(Event.STATE, 950, **lost, ca_state=State.OPEN),
        record(Event.ACK, 1000, cwnd=5, ssthresh=5),
        record(Event.ACK, 1200, cwnd=6, ssthresh=5),
    )
    ss, ca, recovery, rto = Phase
    assert steps(flow, flow.phase) == [
        (300, ss), (400, recovery), (420, recovery), (600, rto), (900, rto), (950, ss), (1000, ca), (1100, ca)
    ]  # fmt: skip
    assert (flow.rtos_ns // MS).tolist() == [600, 900]
    assert (flow.fast_retransmits_ns // MS).tolist() == [300]
    assert [flow.seconds(phase) for phase in Phase] == [0.25, 0.15, 0.12, 0.48]
    assert flow.spans(ss).tolist() == [[0.1, 0.3], [0.9, 0.95]] and flow.spans(rto).tolist() == [[0.42, 0.9]]


def test_a_timer_that_is_not_the_retransmission_timer_is_no_rto() -> None:
    """A loss probe: the segment that it sends shows activity, its timer does not."""
    probe = follow(
        record(Event.ACK, 200, cwnd=4, ssthresh=4),
        record(Event.TIMER, 300, cwnd=4, ssthresh=4, sent_ms=200),
        record(Event.ACK, 1200, cwnd=4, ssthresh=4, sent_ms=300),
    )
    assert probe.rtos_ns.size == 0 and probe.seconds(Phase.RTO) == 0
    expiry = follow(
        record(Event.ACK, 200, cwnd=4, ssthresh=4),
        record(Event.TIMER, 300, cwnd=4, ssthresh=4, sent_ms=250),  # sends nothing
        record(Event.TIMER, 700, cwnd=4, ssthresh=4, sent_ms=250),
        record(Event.STATE, 700, cwnd=1, ssthresh=2, ca_state=State.LOSS, sent_ms=250),
        record(Event.ACK, 1200, cwnd=1, ssthresh=2, ca_state=State.LOSS),
    )
    assert expiry.seconds(Phase.RTO) == 0.45


def test_a_local_drop_halves_the_threshold_from_then_on() -> None:
    """CWR without a segment before it: the time until then was still slow start."""
    flow = follow(
        record(Event.ACK, 200),
        record(Event.STATE, 700, ca_state=State.CWR, ssthresh=5),
        record(Event.ACK, 1200, ca_state=State.CWR, cwnd=5, ssthresh=5),
    )
    assert steps(flow, flow.phase) == [(200, Phase.SLOW_START), (700, Phase.SLOW_START), (1100, Phase.RECOVERY)]
    assert flow.ssthresh.tolist() == [NO_SSTHRESH, NO_SSTHRESH, 5]


def test_the_first_segment_may_be_lost() -> None:
    """The SYN's timer: nothing came before, so the wait began when it was sent."""
    syn = {"cwnd": 10, "packets_out": 1, "sent_ms": 110}
    flow = follow(
        record(Event.TIMER, 1000, **syn),
        record(Event.STATE, 1000, **{**syn, "cwnd": 1}, ssthresh=5, ca_state=State.LOSS),
        record(Event.ACK, 1300, cwnd=2, ssthresh=5),
    )
    assert steps(flow, flow.phase) == [(110, Phase.SLOW_START), (1000, Phase.RTO), (1100, Phase.SLOW_START)]


def test_a_flow_that_had_no_time() -> None:
    flow = follow(record(Event.ACK, 300), stop_ns=START)
    assert (flow.summary().cwnd_max, flow.summary().cwnd_mean, flow.summary().srtt_ms) == (0, 0.0, None)


times = st.integers(0, 1200)
values = st.fixed_dictionaries(
    {"cwnd": st.integers(1, 50), "ssthresh": st.integers(1, 50), "ca_state": st.sampled_from(State),
     "sent_ms": st.integers(0, 1300), "packets_out": st.integers(0, 9), "srtt_us": st.integers(0, 9)}
)  # fmt: skip


@given(st.lists(st.tuples(times, st.sampled_from(Event), values), min_size=1), times)
@examples(500)
def test_phases_share_the_time_exactly(drawn: list[tuple[int, Event, dict[str, int]]], stop_ms: int) -> None:
    """Whatever a sender went through: no gap, no overlap, and at most as many waits as expiries."""
    records = [record(event, time, **v) for time, event, v in sorted(drawn, key=lambda each: each[0])]
    stop_ns = max(START, ZERO + stop_ms * MS)
    records.append(record(Event.CLOSE, 1200))
    flow = follow(*records, stop_ns=stop_ns)
    assert (flow.time_ns[0], flow.time_ns[-1]) == (START - ZERO, stop_ns - ZERO)
    assert (np.diff(flow.time_ns) > 0).all()
    assert sum(round(flow.seconds(phase) * 1e9) for phase in Phase) == stop_ns - START
    waits = np.flatnonzero(np.diff((flow.phase == Phase.RTO).astype(int), prepend=0) == 1).size
    ends = flow.time_ns[1:][(flow.phase == Phase.RTO) & (np.append(flow.phase, -1)[1:] != Phase.RTO)]
    expiries = {r["time_ns"][0] - ZERO for r in records if r["event"] == Event.STATE and r["ca_state"] == State.LOSS}
    assert waits == ends.size and set(ends) <= expiries | {stop_ns - ZERO}


def a_run(
    tmp_path: Path, *records: Array, finished_s: float | None = None, planned: dict[str, Any] | None = None,
    **tcp_info: int,
) -> dict[str, Flow]:  # fmt: skip
    path = tmp_path / "tcp.trace"
    path.write_bytes(b"".join(r.tobytes() for r in records))
    plan: dict[str, Any] = {
        "nodes": [
            {"name": name, "interfaces": [{"kind": "radio", "address": "", "ip": ip}]}
            for name, ip in (("sta1", "10.0.0.1/24"), ("sta5", "10.0.0.5/24"))
        ],
        "applications": [
            {"name": "flow1", "source": "sta1", "destination": "sta5", "port": 5001, "start_s": 0.1, **(planned or {})},
            {"name": "flow2", "source": "sta5", "destination": "sta1", "port": 5002, "start_s": 0.0},
        ],
    }
    outcome = {"finished_s": finished_s, "tcp_info": {"sender": tcp_info, "receiver": {}}}
    lane = {
        "started_ns": ZERO, "stopped_ns": STOP, "recorders": {"tcp_tap": {"lost_records": 0}},
        "applications": [{"name": name, **outcome} for name in ("flow1", "flow2")],
    }  # fmt: skip
    return senders.flows(path, plan, lane)


INFO = {"snd_cwnd": 3, "snd_ssthresh": 2, "rtt": 5, "unacked": 2, "sacked": 1, "lost": 1, "retrans": 1, "ca_state": 1}


def test_the_flows_of_a_run(tmp_path: Path) -> None:
    """By the plan's ends, of several connections the one that sent most; TCP_INFO has the last values; a flow without
    records is left out."""
    control = record(Event.ACK, 200, sport=39999, cwnd=99, una=0, nxt=37)
    data = record(Event.ACK, 300, una=2**32 - 1000, nxt=99_000)  # over the top of the sequence numbers
    other = record(Event.ACK, 400, sport=5001, dport=40000, cwnd=77, una=0, nxt=10**6)
    (flow,) = (found := a_run(tmp_path, control, data, other, **INFO)).values()
    assert list(found) == ["flow1"]
    assert steps(flow, flow.cwnd) == [(300, 10), (1100, 3)]
    assert flow.ssthresh[-1] == 2 and flow.srtt_us[-1] == 5 and flow.in_flight[-1] == 1


def test_a_flow_ends_when_it_finished_and_a_closed_connection_keeps_its_values(tmp_path: Path) -> None:
    flow = a_run(tmp_path, record(Event.ACK, 300), record(Event.CLOSE, 500, cwnd=12), finished_s=0.6)["flow1"]
    assert steps(flow, flow.cwnd) == [(300, 10), (500, 12), (700, 12)]


def test_the_end_that_sent_most_is_the_sender(tmp_path: Path) -> None:
    """Of questions and answers over one connection; with a connection for each there are no values over time."""
    asks = record(Event.ACK, 300, cwnd=5, una=0, nxt=200)
    back = {"saddr": ENDS["daddr"], "sport": ENDS["dport"], "daddr": ENDS["saddr"], "dport": ENDS["sport"]}
    answers = record(Event.ACK, 400, **back, cwnd=8, una=0, nxt=9000)
    (flow,) = a_run(tmp_path, asks, answers, **INFO | {"snd_cwnd": 8}).values()
    assert set(flow.cwnd.tolist()) == {8}
    assert a_run(tmp_path, asks, answers, planned={"connection": "new"}) == {}


def test_a_flow_ends_when_it_stopped(tmp_path: Path) -> None:
    """When its TCP_INFO was read, too."""
    (flow,) = a_run(tmp_path, record(Event.ACK, 300, cwnd=5), planned={"stop_s": 0.8}, **INFO).values()
    assert (flow.time_ns[-1], flow.cwnd.tolist()) == (800 * MS, [5, 3])


def test_connections_keep_their_records_in_order() -> None:
    mixed = [record(Event.ACK, t, sport=40000 + t % 2, una=t) for t in range(6)]
    connections = senders.parse(b"".join(r.tobytes() for r in mixed))
    assert {ends: r["una"].tolist() for ends, r in connections.items()} == {
        ("10.0.0.1", 40000, "10.0.0.5", 5001): [0, 2, 4], ("10.0.0.1", 40001, "10.0.0.5", 5001): [1, 3, 5]
    }  # fmt: skip


RAW = record(Event.ACK, 200).tobytes() + record(Event.STATE, 300, ca_state=4).tobytes()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (RAW[:100], "truncated: at byte 80: 20 bytes are left"),
        (RAW[:80] + b"\x48" + RAW[81:], "corrupt: at byte 80: a record that does not have 80 bytes"),
        (RAW[:2] + b"\0" + RAW[3:], "corrupt: at byte 0: an unknown event"),
        (RAW[:83] + b"\5" + RAW[84:], "corrupt: at byte 80: an unknown state"),
        (RAW[80:] + RAW[:80], "corrupt: at byte 80: a record that is older"),
    ],
)
def test_says_what_is_wrong_where(data: bytes, says: str) -> None:
    with pytest.raises(Damaged, match=says):
        senders.parse(data)


def test_lost_records_are_not_passed_over(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="lost 7 records"):
        senders.flows(tmp_path, {}, {"recorders": {"tcp_tap": {"lost_records": 7}}})


@given(st.binary(max_size=400) | st.builds(lambda at, value: RAW[:at] + value + RAW[at + 1 :],
                                           st.integers(0, 159), st.binary(min_size=1, max_size=1)))  # fmt: skip
@examples(500)
def test_no_byte_does_harm(data: bytes) -> None:
    """A trace or a Damaged, and a trace can be followed."""
    try:
        connections = senders.parse(data)
    except Damaged as error:
        assert "byte" in str(error)
        return
    for records in connections.values():
        senders.follow(senders.with_last(records, {}, STOP), ZERO, START, STOP).summary()
