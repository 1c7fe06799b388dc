# SPDX-License-Identifier: BSD-3-Clause
"""Plans of large networks: TTL, memory, addresses, and errors for those that are too large."""

import pytest

from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.plan.advice import advice
from emulation.specification import specify


def made(topology="string", **options):
    return plan(specify(topology, options))


@pytest.mark.parametrize(("stations", "ttl"), [(5, None), (33, None), (34, "255"), (65, "255"), (250, "255")])
def test_nodes_send_with_a_ttl_that_carries_through_the_network(stations, ttl):
    for node in made(stations=stations)["nodes"]:
        assert node["sysctl"].get("net.ipv4.ip_default_ttl") == ttl


@pytest.mark.parametrize(
    ("stations", "options", "said"),
    [
        (18, {"routing": "dsr"}, "17 hops, and packets take no more than 16, dsr's hops_most"),
        (37, {"routing": "aodv"}, "36 hops, and packets take no more than 35, aodv's net_diameter"),
        (38, {"routing": "aodv,net_diameter=36"}, "no more than 36"),
        (33, {"routing": "hwmp", "link": "mesh"}, "no more than 31"),
        (52, {"routing": "batman_adv"}, "no more than 50"),
    ],
)
def test_a_flow_over_more_hops_than_packets_take_is_refused(stations, options, said):
    made(stations=stations - 1, **options)
    with pytest.raises(Misuse, match=said):
        made(stations=stations, **options)
    made(stations=stations, unreachable=True, **options)


@pytest.mark.parametrize(
    ("topology", "options", "lane_mb", "tcp"),
    [
        ("string", {"flows": 11}, None, None),
        ("wlan", {"stations": 80}, 512, 80 * 2 * 2 * 262_144 // 4096),
        ("wlan", {"stations": 80, "send_buffer": 65_536}, None, None),
        ("mobile", {"stations": 100}, None, None),
        ("mobile", {"stations": 170}, 768, None),
    ],
)
def test_a_plan_says_what_memory_its_network_takes_if_that_is_much(topology, options, lane_mb, tcp):
    memory = made(topology, **options).get("memory")
    assert (memory and memory["lane_mb"]) == lane_mb
    assert (memory and memory["tcp_pages"] and memory["tcp_pages"][0]) == tcp


def test_no_lane_is_asked_for_more_memory_than_its_kernel_has_room_for():
    sizes = [made("mobile", stations=stations)["memory"] for stations in (120, 180, 250)]
    assert all(512 < memory["lane_mb"] <= 1472 for memory in sizes)
    assert [memory["needed_mb"] for memory in sizes] == sorted(memory["needed_mb"] for memory in sizes)


def test_all_of_a_large_network_have_addresses_of_their_own_in_one_network():
    found = [node["interfaces"][0] for node in made("mesh", size="31x32")["nodes"]]
    assert len({each["address"] for each in found}) == len({each["ip"] for each in found}) == 992
    assert [found[at]["ip"] for at in (0, 249, 250, 991)] == [
        "10.0.0.1/16", "10.0.0.250/16", "10.0.1.1/16", "10.0.3.242/16",
    ]  # fmt: skip
    assert [found[at]["address"] for at in (0, 254, 255)] == [
        "02:00:00:00:00:01", "02:00:00:00:00:ff", "02:00:00:01:00:00",
    ]  # fmt: skip
    assert made("mesh", size="10x10")["nodes"][0]["interfaces"][0]["ip"] == "10.0.0.1/24"


@pytest.mark.slow
def test_a_network_that_may_take_more_than_a_lane_has_is_warned_of():
    assert not advice(made("mobile", stations=170))
    (said,) = advice(made("mobile", stations=600))
    assert "may take" in said
    assert "a lane has 1472" in said


def test_two_hundred_flows_among_a_thousand_stations_are_planned():
    plan = made("mobile", stations=1000, flows=200, area="4500x4500", routing="aodv")
    assert len(plan["nodes"]) == 1000
    assert len({end for flow in plan["applications"] for end in (flow["source"], flow["destination"])}) == 400
