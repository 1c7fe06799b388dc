# SPDX-License-Identifier: BSD-3-Clause
"""ss, sca and ssca in the kernel, packet by packet, in virtual time: the window after each ACK is compared with the
papers' pseudo-code, and the times of segments with Reno."""

from __future__ import annotations

import pytest
import scripted
from paper_rules import AODV, DSR, PaperTcp

pytestmark = pytest.mark.lane
lane = scripted.lane

SIZES = [1, 1, 2, 1, 3, 1, 1, 2, 1, 1] * 12


@pytest.mark.parametrize(("name", "ss_thresh", "ca_thresh"), [
    ("reno", None, None), ("ss", 4, None), ("ss", 1, None), ("sca", None, 10), ("sca", None, 1), ("ssca", 4, 10),
    ("ssca", 2, 2), ("ss", 0, None), ("sca", None, 0), ("ssca", 0, 0),
])  # fmt: skip
def test_the_window_after_each_ack(lane, name, ss_thresh, ca_thresh):
    windows = lane(f"""
if {ss_thresh} is not None:
    set("tcp_sca", "ss_increase_thresh", {ss_thresh})
if {ca_thresh} is not None:
    set("tcp_sca", "ca_increase_thresh", {ca_thresh})
flow, windows = timed_out({name!r}), []
for size in {SIZES}:
    flow.acknowledge(size)
    windows.append(info(flow)["snd_cwnd"])
print(json.dumps(windows))
""")
    model = PaperTcp(1, 5, ss_thresh or None, ca_thresh or None)
    for at, (size, window) in enumerate(zip(SIZES, windows, strict=True)):
        model.acks(size)
        assert window == model.cwnd, f"after {at + 1} ACKs"
    assert windows[-1] > 5


CONVERSATION = """
def conversation(control, sack):
    '''Losses of all kinds; what the kernel sent when, from the start.'''
    next_second()
    start, dice, acked = wire.now(), random.Random(7), 0
    flow, sent, at = wire.connect(control, delay_ns=30 * MS, sack=sack), [], start + 31 * MS
    flow.write(500_000)
    for _ in range(150):
        at += dice.choice([0, 1370, 5310, 19_190, 23_730, 411_000]) * US  # no ties with halves of RTTs
        wire.wait(at)
        sent += flow.heard()
        highest = max(segment.seq for segment in sent) + 1000
        if dice.random() < 0.6:
            acked = min(acked + 1000 * dice.choice([1, 1, 2, 5]), highest)
        hole = sack and acked + 2000 < highest and dice.random() < 0.5
        flow.send(ack=acked, options=flow.sack((acked + 1000, highest)) if hole else b"")
    sent += flow.heard()
    flow.socket.close()
    return [[[segment.seq, len(segment.payload)] for segment in sent], [segment.time_ns - start for segment in sent]]
"""


@pytest.mark.parametrize("name", ["ss", "sca", "ssca"])
@pytest.mark.parametrize("sack", [False, True])
def test_threshold_0_sends_what_reno_sends_when_reno_sends_it(lane, name, sack):
    reno, other, slow = lane(
        CONVERSATION
        + f"""
sysctl("net.ipv4.tcp_sack", {int(sack)})
runs = [conversation("reno", {sack})]
for thresh in (0, 4):
    set("tcp_sca", "ss_increase_thresh", thresh)
    set("tcp_sca", "ca_increase_thresh", thresh)
    runs.append(conversation({name!r}, {sack}))
print(json.dumps(runs))
"""
    )
    assert other[0] == reno[0]
    assert other[1] == pytest.approx(reno[1], abs=3000)  # ns: reading the clock costs some in the lane
    assert slow[0] != reno[0]
    assert len(reno[0]) > 100


@pytest.mark.parametrize(("word", "table"), [("dsr", DSR), ("aodv", AODV)])
def test_adaptive_sca_follows_the_route(lane, word, table):
    """The route of one flow changes; from the next ACK on, the threshold is the table's for the new hop count."""
    hops = [5, 15, 3, 16, 4, 40, 12]
    grown = lane(f"""
set("tcp_sca", "adaptive", {word!r})
set("tcp_sca", "ca_increase_thresh", 1)
wire.route("10.8.0.1", 5)
flow, grown = timed_out("sca", to="10.8.0.1"), []
flow.acknowledge(5)
for hops in {hops}:
    wire.route("10.8.0.1", hops)
    before = counters("tcp_sca", "sca")
    for _ in range(60):
        flow.acknowledge()
    after = counters("tcp_sca", "sca")
    grown.append([after["segments_counted"] - before["segments_counted"],
                  after["route_lookups"] - before["route_lookups"]])
print(json.dumps(grown))
""")
    for count, (counted, lookups) in zip(hops, grown, strict=True):
        thresh = table[min(count, 15)] if count >= 4 else 0
        assert 60 // (thresh + 1) <= counted <= -(-60 // (thresh + 1))
        assert lookups == 1  # for each route, not for each ACK
