# SPDX-License-Identifier: BSD-3-Clause
"""dcr in the kernel, packet by packet, in virtual time: when duplicate ACKs cause a retransmission, and which state
remains."""

from __future__ import annotations

import pytest
import scripted

pytestmark = pytest.mark.lane
lane = scripted.lane

DUPLICATES = """
def opened(control, sack=False):
    '''Ten segments are out, and the first ACK, which is no duplicate, has come. Returns it and its RTT in us.'''
    flow = wire.connect(control, delay_ns=50 * MS, sack=sack)
    flow.write(500_000)
    flow.send(ack=0)
    assert len(flow.heard()) == 10
    return flow, info(flow)["rtt"]

def duplicate(flow, at_ns, number, sack=False):
    '''A duplicate ACK at a time. Returns what the kernel sends at once.'''
    wire.wait(at_ns)
    assert not flow.queue, flow.queue
    flow.send(options=flow.sack((1000, 1000 + 1000 * number)) if sack else b"")
    return [segment.seq for segment in flow.heard()]
"""


@pytest.mark.parametrize("sack", [False, True])
@pytest.mark.parametrize("percent", [100, 40])
def test_fast_retransmit_at_the_first_duplicate_ack_after_the_delay(lane, percent, sack):
    """To 3 us: what reading the clock costs in the lane. Until then each duplicate ACK lets a new segment out."""
    early, before, after, counted, state = lane(
        DUPLICATES
        + f"""
sysctl("net.ipv4.tcp_sack", {int(sack)})
set("tcp_dcr", "delay_percent", {percent})
flow, rtt = opened("dcr", {sack})
start = wire.now() + 1 * MS
early = [duplicate(flow, start, 1, {sack})]
end = start + info(flow)["rtt"] * US * {percent} // 100  # a SACKed segment is a sample, too
early += [duplicate(flow, start + number * MS, number + 1, {sack}) for number in range(1, 5)]
before = duplicate(flow, end - 3 * US, 6, {sack})
after = duplicate(flow, end + 3 * US, 7, {sack})
print(json.dumps([early, before, after, counters("tcp_dcr", "dcr"), info(flow)]))
"""
    )
    assert early == [[10_000], [11_000], [12_000], [13_000], [14_000]]
    assert before == [15_000]
    assert after == [0]
    assert {name: counted[name] for name in counted if name.startswith("holes")} == {
        "holes_delayed": 1, "holes_filled": 0, "holes_retransmitted": 1, "holes_timed_out": 0
    }  # fmt: skip
    assert (state["reordering"], state["snd_ssthresh"], state["ca_state"]) == (3, 5, 3)


@pytest.mark.parametrize(("control", "parameter"), [("reno", 100), ("dcr", 0)])
def test_reno_and_no_delay_retransmit_at_the_third(lane, control, parameter):
    sent = lane(
        DUPLICATES
        + f"""
set("tcp_dcr", "delay_percent", {parameter})
flow, rtt = opened({control!r})
print(json.dumps([duplicate(flow, wire.now() + 2 * MS, number) for number in range(3)]))
"""
    )
    assert sent == [[10_000], [11_000], [0]]


@pytest.mark.parametrize("sack", [False, True])
def test_a_hole_that_is_filled_in_time_costs_nothing(lane, sack):
    states, sent, counted = lane(
        DUPLICATES
        + f"""
sysctl("net.ipv4.tcp_sack", {int(sack)})
flow, rtt = opened("dcr", {sack})
start = wire.now()
sent = [duplicate(flow, start + (number + 1) * 5 * MS, number + 1, {sack}) for number in range(8)]
states = [info(flow)]
flow.send(ack=9000)
states.append(info(flow))
sent.append([segment.seq for segment in flow.heard()])
print(json.dumps([states, sent, counters("tcp_dcr", "dcr")]))
"""
    )
    assert sent[:-1] == [[10_000 + 1000 * i] for i in range(8)]
    assert [state["ca_state"] for state in states] == [1, 0]
    assert states[0]["snd_cwnd"] == 10
    assert states[1]["snd_ssthresh"] == 0x7FFFFFFF
    assert (states[1]["reordering"], states[1]["retrans"], states[1]["total_retrans"]) == (3, 0, 0)
    assert (counted["holes_filled"], counted["holes_retransmitted"]) == (1, 0)


def test_without_further_duplicate_acks_the_timer_decides(lane):
    waited_ms, rto_ms, counted = lane(
        DUPLICATES
        + """
flow, rtt = opened("dcr")
sent = flow.wire.now()
for number in range(4):
    duplicate(flow, sent + number * MS, number + 1)
again = flow.expect(seq=0)
print(json.dumps([(again.time_ns - sent) / MS, info(flow)["rto"] / 2000, counters("tcp_dcr", "dcr")]))
"""
    )
    assert rto_ms - 10 <= waited_ms <= rto_ms + 10  # a jiffy of the lane's kernel
    assert (counted["holes_retransmitted"], counted["holes_timed_out"]) == (0, 1)


def test_with_rack_the_reordering_window_is_one_round_trip_time(lane):
    """Reno takes three SACKed segments for a loss; dcr waits, by the kernel's own timer, and then recovers."""
    times, rtt, rounded, states = lane(
        DUPLICATES
        + """
sysctl("net.ipv4.tcp_sack", 1)
sysctl("net.ipv4.tcp_recovery", 1)
times, states = [], []
for control in ("reno", "dcr"):
    flow, rtt = opened(control, sack=True)
    sent = wire.now()
    for number in range(1, 5):
        wire.wait(sent + 50 * MS + number * 5 * MS)
        flow.send(options=flow.sack((1000, 1000 + 1000 * number)))
    times.append(next(segment.time_ns for segment in iter(flow.expect, None) if segment.seq == 0) - sent)
    states.append(info(flow)["ca_state"])
    flow.socket.close()
print(json.dumps([[time / MS for time in times], rtt / 1000, 30, states]))
"""
    )
    assert times[0] == pytest.approx(65, abs=0.1)  # with the third
    assert times[1] >= 70 + rtt - 0.1  # the latest segment that was SACKed took 70 ms; the delay is the smoothed one
    assert times[1] <= 70 + 1.5 * rtt + rounded  # timers of this kernel: a jiffy of 10 ms, and two for safety
    assert states == [3, 3]


def test_nothing_is_left_behind_for_the_next_congestion_control(lane):
    states = lane(
        DUPLICATES
        + """
import socket
flow, rtt = opened("dcr")
duplicate(flow, wire.now() + 2 * MS, 1)
states = [info(flow)]
flow.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
states.append(info(flow))
print(json.dumps([state["reordering"] for state in states]))
"""
    )
    assert states == [16384, 3]


def test_nothing_is_left_behind_for_the_next_connection(lane):
    """The kernel keeps what it learnt of a path when a connection ends."""
    states = lane("""
sysctl("net.ipv4.tcp_no_metrics_save", 0)
flow = wire.connect("dcr", delay_ns=50 * MS)
flow.write(10_000)
flow.send(ack=0)
flow.send(ack=0)
states = [info(flow)]
flow.socket.close()
flow.send("FA", ack=10_001)
wire.wait(wire.now() + 1000 * MS)
states.append(info(wire.connect("reno")))
print(json.dumps([state["reordering"] for state in states]))
""")
    assert states == [16384, 3]
