# SPDX-License-Identifier: BSD-3-Clause
"""cwl in the kernel, packet by packet, in virtual time: never more in flight than the route's hop count allows."""

from __future__ import annotations

import pytest
import scripted
from paper_rules import CHEN

pytestmark = pytest.mark.lane
lane = scripted.lane


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
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.quick), 1, 2, 3])
def test_never_more_in_flight_than_the_limit(lane, seed, sack):
    """Through losses, timeouts and undone reductions, while rule, limit and route change."""
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
    """Policy routing: the main table has 3 hops, the table of the rule has 12."""
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


def test_ipv4_in_an_ipv6_socket_has_a_hop_count(lane):
    sent = lane("""
import socket
wire.route("10.8.0.1", 8)
flow = wire.connect("cwl", to="10.8.0.1", family=socket.AF_INET6)
flow.write(20_000)
print(json.dumps(len(flow.heard())))
""")
    assert sent == 3
