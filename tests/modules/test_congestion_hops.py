# SPDX-License-Identifier: BSD-3-Clause
"""How the congestion controls learn the hop count, in user space: which routes have it, and when they are read."""

from __future__ import annotations

import pytest
from kernel import AF_INET6, DESTINATION, LOCAL, Socket, loaded

cwl = loaded("tcp_cwl")


@pytest.mark.parametrize(("route", "limit"), [
    ({"metric": 9}, 3), ({"metric": 9, "gateway": 0}, 3),
    ({"metric": 0, "gateway": 0}, 2), ({"metric": 0, "gateway": DESTINATION}, 2),  # a neighbour
    ({"metric": 600, "gateway": 0}, 2),  # NetworkManager's metric of a Wi-Fi
    ({"metric": 64}, 5), ({"metric": 65}, 10), ({"metric": 0}, 10),  # no hop count: no limit
    ({"metric": 9, "kind": LOCAL}, 10), ({"metric": 9, "error": -101}, 10),
])  # fmt: skip
def test_the_routes_metric_is_its_hop_count(cwl, route, limit):
    before = cwl.counters("cwl")
    cwl.route(**route)
    assert Socket(cwl, "cwl").snd_cwnd == limit
    after = cwl.counters("cwl")
    assert after["route_lookups"] - before["route_lookups"] == 1
    assert after["hops_unknown"] - before["hops_unknown"] == (limit == 10)


@pytest.mark.parametrize(
    ("hops", "there", "limit"), [(9, True, 3), (1, True, 2), (0, True, 10), (65, True, 10), (9, False, 10)]
)
def test_a_routing_interface_says_how_far_it_is(cwl, hops, there, limit):
    """Its subnet is on the link, but the hosts in it are not neighbours."""
    cwl.lib.shim_interface(True, there, hops)
    cwl.route(metric=0, gateway=0)
    try:
        assert Socket(cwl, "cwl").snd_cwnd == limit
    finally:
        cwl.lib.shim_interface(False, False, 0)


def test_routes_are_asked_again_only_when_they_have_changed(cwl):
    sock, before = Socket(cwl, "cwl"), cwl.counters("cwl")["route_lookups"]
    for _ in range(5):
        sock.cong_avoid()
        sock.burst()
    assert cwl.counters("cwl")["route_lookups"] == before
    cwl.route(3)
    sock.burst()
    assert sock.snd_cwnd == 1
    assert cwl.counters("cwl")["route_lookups"] == before + 1


def test_ipv6_has_no_hop_count_but_mapped_ipv4_has(cwl):
    native, mapped = (Socket(cwl, "cwl", init=False, family=AF_INET6) for _ in range(2))
    mapped.sock.v6_daddr = (0, 0, 0xFFFF0000, DESTINATION)
    native.sock.v6_daddr = (0x20, 0, 0, 1)
    for sock, window in ((native, 10), (mapped, 2)):
        sock.burst()
        assert sock.snd_cwnd == window
