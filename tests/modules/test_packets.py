# SPDX-License-Identifier: BSD-3-Clause
"""The congestion controls in the kernel, packet by packet: scripted segments in, windows and segments out, in virtual
time. The window after each ACK is compared with the seeds' pseudo-code, times with what the modules promise."""

from __future__ import annotations

import json

import pytest
from seed import AODV, CHEN, DSR, Seed

pytestmark = pytest.mark.lane
MODULES = ("tcp_sca", "tcp_cwl", "tcp_dcr")

SETUP = """
import json, random
from traffic import tcp_info

for name in ("dsack", "recovery", "early_retrans", "frto", "timestamps"):
    sysctl("net.ipv4.tcp_" + name, 0)
sysctl("net.ipv4.tcp_no_metrics_save", 1)

def info(flow):
    return tcp_info.of_socket(flow.socket)

def in_flight(of):
    return of["unacked"] - of["sacked"] - of["lost"] + of["retrans"]

def set(module, parameter, value):
    with open(f"/sys/module/{module}/parameters/{parameter}", "w") as file:
        file.write(str(value))

def counters(module, name):
    with open(f"/sys/kernel/debug/{module}/{name}") as file:
        return {name: int(value) for name, value in map(str.split, file)}

def next_second():
    wire.wait((wire.now() // (1000 * MS) + 1) * 1000 * MS)

def timed_out(control, **options):
    '''A flow right after its first timeout: the window is 1, ssthresh 5, and ten segments are out.'''
    flow = wire.connect(control, delay_ns=50 * MS, **options)
    flow.write(900_000)
    assert len(flow.heard()) == 10
    flow.expect(seq=0)
    assert [info(flow)[name] for name in ("snd_cwnd", "snd_ssthresh")] == [1, 5]
    return flow

wire = Wire()
"""


@pytest.fixture
def lane(script):
    """Runs lines of Python with all three modules; the result is what the last line printed, as JSON."""
    return lambda text: json.loads(script(SETUP + text, *MODULES)[-1])


# --- ss, sca, ssca ---------------------------------------------------------------------------------------------------

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
    model = Seed(1, 5, ss_thresh or None, ca_thresh or None)
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
    """The route of one flow changes; each hop count's threshold is that of the table, with the next ACK."""
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


# --- cwl -------------------------------------------------------------------------------------------------------------


def test_the_limit_of_each_hop_count_from_the_first_segment_on(lane):
    cases = [(rule, hops) for rule in ("chen", "h/4", "rthc/5", "3h/2") for hops in (1, 2, 3, 5, 8, 12, 15, 20)]
    sent = lane(f"""
sent = []
for number, (rule, hops) in enumerate({cases}):
    set("tcp_cwl", "rule", rule)
    wire.route(f"10.8.0.{{number}}", hops)
    flow = wire.connect("cwl", to=f"10.8.0.{{number}}")
    flow.write(100_000)
    sent.append(len(flow.heard()))
print(json.dumps(sent))
""")
    rules = {"chen": lambda h: CHEN[min(h, 15)], "h/4": lambda h: max(h // 4, 1),
             "rthc/5": lambda h: max(2 * h // 5, 1), "3h/2": lambda h: (3 * h + 1) // 2}  # fmt: skip
    assert sent == [min(rules[rule](hops), 10) for rule, hops in cases]  # 10: the initial window


@pytest.mark.parametrize("sack", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_never_more_in_flight_than_the_limit(lane, seed, sack):
    """Through losses, timeouts and undone reductions, while rule, limit and route change under way."""
    sendings, kinds = lane(f"""
sysctl("net.ipv4.tcp_sack", {int(sack)})
sysctl("net.ipv4.tcp_timestamps", {seed % 2})
set("tcp_cwl", "rule", "fixed")
wire.route("10.8.0.1", 3)
flow, dice = wire.connect("cwl", to="10.8.0.1", sack={sack}, delay_ns=20 * MS), random.Random({seed})
limit, acked, top, sendings, states = 4, 0, 0, 0, {{0}}
def check():
    global sendings, top
    sent, of = flow.heard(), info(flow)
    states.add(of["ca_state"])
    if sent:
        top = max(top, *(segment.seq + len(segment.payload) for segment in sent))
        sendings += 1
        assert in_flight(of) <= limit, (in_flight(of), limit, of)
flow.write(900_000)
for _ in range(600):
    check()
    what = dice.random()
    if what < 0.45:
        acked = min(acked + 1000 * dice.choice([1, 1, 2, 4]), top)
        flow.send(ack=acked)
    elif what < 0.85:
        hole = {sack} and acked + 1000 < top
        flow.send(ack=acked, options=flow.sack((acked + 1000, top)) if hole else b"")
    elif what < 0.9:
        wire.wait(wire.now() + dice.choice([10, 300]) * MS)
    elif what < 0.96:
        limit = dice.randint(1, 9)
        set("tcp_cwl", "rule", "fixed")
        set("tcp_cwl", "limit", limit)
    else:
        hops = dice.randint(1, 20)
        limit = (3 * hops + 1) // 2
        set("tcp_cwl", "rule", "3h/2")
        wire.route("10.8.0.1", hops)
check()
print(json.dumps([sendings, sorted(states)]))
""")
    assert sendings > 100
    assert {0, 1, 4} <= {*kinds}


def test_a_flow_that_becomes_cwl_while_it_connects(lane):
    """init() comes before the kernel sets the initial window then."""
    sent = lane("""
set("tcp_cwl", "rule", "fixed")
set("tcp_cwl", "limit", 3)
listen = wire.connect
import socket
kernel = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
kernel.bind(("", 0))
flow = wire.flow(kernel, wire.next_port(), kernel.getsockname()[1], 0)
kernel.connect_ex((wire.peer, flow.port))
flow.their_first = flow.expect("S").seq + 1
kernel.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cwl")
flow.sent, flow.acked = -1, 0
flow.send("SA", options=bytes((2, 4, 3, 232)))
flow.sent = 0
flow.expect("A")
kernel.send(bytes(20_000))
print(json.dumps(len(flow.heard())))
""")
    assert sent == 3


def test_rules_choose_the_route_that_tells_the_hop_count(lane):
    """Policy routing: the main table says 3 hops, the one that the rule leads to says 12."""
    sent = lane("""
import socket
from emulation.lane.netlink import CREATE, EXCLUSIVE, build as attributes
from emulation.lane.rtnetlink import BY_ADMINISTRATOR, ROUTE, UNICAST, Route
wire.route("10.8.0.1", 3)
to, via = socket.inet_aton("10.8.0.1"), socket.inet_aton(wire.peer)
with Route() as route:
    head = ROUTE.pack(socket.AF_INET, 32, 0, 0, 100, BY_ADMINISTRATOR, 0, UNICAST, 0)
    route.request(24, head + attributes([(1, to), (4, wire.index), (5, via), (6, 12)]), CREATE | EXCLUSIVE, "route")
    head = ROUTE.pack(socket.AF_INET, 32, 0, 0, 100, 0, 0, 1, 0)  # to a table
    route.request(32, head + attributes([(1, to)]), CREATE | EXCLUSIVE, "rule")
flow = wire.connect("cwl", to="10.8.0.1")
flow.write(20_000)
print(json.dumps(len(flow.heard())))
""")
    assert sent == 4


def test_a_flow_without_a_hop_count_is_not_limited(lane):
    sent, unknown = lane("""
wire.route("10.8.0.1", 0)
flow = wire.connect("cwl", to="10.8.0.1")
flow.write(20_000)
print(json.dumps([len(flow.heard()), counters("tcp_cwl", "cwl")["hops_unknown"]]))
""")
    assert (sent, unknown) == (10, 1)


# --- dcr -------------------------------------------------------------------------------------------------------------

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
    """The kernel keeps what it has learnt of a path when a connection ends."""
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


# --- all of them -----------------------------------------------------------------------------------------------------


def test_ipv4_in_an_ipv6_socket_has_a_hop_count(lane):
    sent = lane("""
import socket
wire.route("10.8.0.1", 8)
flow = wire.connect("cwl", to="10.8.0.1", family=socket.AF_INET6)
flow.write(20_000)
print(json.dumps(len(flow.heard())))
""")
    assert sent == 3


def test_flows_come_and_go(lane):
    """Also those that fail, and children of a listening socket."""
    found = lane("""
import socket
pairs = [("tcp_sca", "ss"), ("tcp_sca", "sca"), ("tcp_sca", "ssca"), ("tcp_cwl", "cwl"), ("tcp_dcr", "dcr")]
found = []
for module, name in pairs:
    flow, other = wire.connect(name), wire.accept(congestion=name)
    during = counters(module, name)
    flow.send("R")
    other.send("R")
    for each in (flow, other):
        each.socket.close()
    after = counters(module, name)
    found.append([during["flows"], during["flows_now"], after["flows"], after["flows_now"]])
print(json.dumps(found))
""")
    assert found == [[2, 2, 2, 0]] * 5
