# SPDX-License-Identifier: BSD-3-Clause
"""Plans: plain numbers, repeatable, and routes that reach their destination."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.plan.advice import CHEN, advice
from emulation.plan.nodes import PARTIAL_RTS
from emulation.specification import specify
from topologies import Application, Link, Network, Node


def made(topology="string", **options):
    return plan(specify(topology, options))


def parts_of(made_plan):
    """Return each node with its radio and routes in one."""
    return [{**node, **node["interfaces"][0], "name": node["name"], **node["routing"]} for node in made_plan["nodes"]]


def walk(stations, source, destination):
    """Return the stations that a packet visits, by routes and neighbours alone."""
    by_ip = {station["ip"].split("/")[0]: station for station in stations}
    here, path = source, [source]
    while here != destination:
        station = by_ip[here]
        route = next((route for route in station["routes"] if route["to"] == destination), None)
        here = (route and route["via"]) or destination
        assert station["neighbours"][here] == by_ip[here]["address"]
        path.append(here)
        assert len(path) <= len(stations)
    return path


def hops(links, source):
    """Return hop counts by an independent search."""
    found, front = {source: 0}, [source]
    for at in front:
        for other in sorted(links[at]):
            if other not in found:
                found[other] = found[at] + 1
                front.append(other)
    return found


@st.composite
def connected_graphs(draw):
    """Draw an adjacency of 2 to 25 stations: a random tree and some more links."""
    count = draw(st.integers(2, 25))
    links = {i: set() for i in range(count)}
    pairs = [(i, draw(st.integers(0, i - 1))) for i in range(1, count)]
    pairs += draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 2), max_size=2 * count))
    for a, b in pairs:
        if a != b:
            links[a].add(b)
            links[b].add(a)
    return links


@given(connected_graphs())
def test_routes_are_shortest_paths_without_loops(links):
    snr = [[20 if b in links[a] else None for b in links] for a in links]
    stations = parts_of(made(stations=len(links), propagation={"model": "snr", "snr_db": snr}))
    for a in links:
        for b, distance in hops(links, a).items():
            assert len(walk(stations, f"10.0.0.{a + 1}", f"10.0.0.{b + 1}")) == distance + 1


def test_ties_go_to_the_lowest_station():
    stations = parts_of(made("mesh", size="2x2", flows=1))
    assert walk(stations, "10.0.0.1", "10.0.0.4") == ["10.0.0.1", "10.0.0.2", "10.0.0.4"]
    assert walk(stations, "10.0.0.4", "10.0.0.1") == ["10.0.0.4", "10.0.0.2", "10.0.0.1"]


def test_one_way_links_are_no_links():
    snr = [[None, 20, 20], [None, None, 20], [20, 20, None]]  # sta1 reaches sta2, but not back
    stations = parts_of(made(stations=3, propagation={"model": "snr", "snr_db": snr}))
    assert walk(stations, "10.0.0.1", "10.0.0.2") == ["10.0.0.1", "10.0.0.3", "10.0.0.2"]


def test_a_large_network_has_the_routes_of_its_flows_only():
    stations = parts_of(made(stations=100))
    assert len(walk(stations, "10.0.0.1", "10.0.0.100")) == len(walk(stations, "10.0.0.100", "10.0.0.1")) == 100
    assert max(len(station["routes"]) for station in stations) == 2


def numbers(value):
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize("reception", ["capture", "sinr"])
def test_a_plan_is_plain_json_and_the_same_every_time(reception):
    first, again = made("mesh", reception=reception, flows=6), made("mesh", reception=reception, flows=6)
    text = json.dumps(first, allow_nan=False)
    assert json.loads(text) == first == again
    assert text == json.dumps(again)
    assert list(numbers({**first["air"], "capture_db": 0, "detection_db": 0})) == []  # the air counts in integers


def test_the_string_of_the_seeds_in_numbers():
    air = made()["air"]
    assert air["power_mdbm"][0] == [None, -60498, -72539, -79582, -84580]
    assert air["delay_ns"][0] == [0, 667, 1334, 2001, 2669]
    assert (air["rx_threshold_mdbm"], air["cs_threshold_mdbm"]) == (-64374, -78071)
    assert (air["slot_ns"], air["cw_min"], air["basic_rates"]) == (20000, 31, [10])
    assert air["error_table"] is None


def test_bit_errors_are_a_choice_of_sinr():
    nist, table = (made(reception="sinr", bit_errors=model)["air"]["error_table"] for model in ("nist", "table"))
    assert nist == made(reception="sinr")["air"]["error_table"]
    assert nist["lambda_q40"]["540"] != table["lambda_q40"]["540"]
    assert made(bit_errors="table")["air"]["error_table"] is None


def test_stations_exactly_at_the_reception_range_reach_each_other():
    made(spacing=250)
    with pytest.raises(Misuse, match=r"sta1 and sta2, 250.1 m apart.*-64.4 dBm are needed, the power at 250 m"):
        made(spacing=250.1)


def test_no_path_is_refused_unless_asked_for():
    with pytest.raises(Misuse, match="nothing arrives"):
        made(propagation="disc", spacing=300)
    lone = parts_of(made(propagation="disc", spacing=300, unreachable=True))
    assert all(station["routes"] == [] and station["neighbours"] == {} for station in lone)


@pytest.mark.parametrize(
    ("rate", "freq", "link", "slot", "sifs", "cw_min", "extension"),
    [
        *((rate, 2412, link, 20000, 10000, 31, 0) for rate, link in ((1, "adhoc"), (2, "adhoc"), (11, "mesh"))),
        (54, 2412, "adhoc", 20000, 10000, 15, 6000), (54, 2412, "mesh", 9000, 10000, 15, 6000),
        *((rate, freq, "adhoc", 9000, 16000, 15, 0) for rate, freq in ((54, 5180), (6, 5825))),
    ],
)  # fmt: skip
def test_rate_band_and_link_decide_the_phy(rate, freq, link, slot, sifs, cw_min, extension):
    """At 5 GHz it is 802.11a's, IEEE 802.11-2016, table 17-21: DIFS is 34 us there."""
    made_plan = made(rate=rate, freq=freq, link=link)
    air = made_plan["air"]
    found = air["slot_ns"], air["sifs_ns"], air["cw_min"], air["signal_extension_ns"]
    assert found == (slot, sifs, cw_min, extension)
    assert parts_of(made_plan)[0]["rates"] == [rate * 10]
    assert parts_of(made_plan)[0]["regulatory"] == (None if freq == 2412 else 0)


def test_rts_modes_are_thresholds():
    assert [parts_of(made(rts=mode))[0]["rts_threshold"] for mode in ("full", "partial", "none")] == [0, 400, None]
    header, snap, ip, tcp, options, fcs = 26, 8, 20, 20, 40, 4
    assert header + snap + ip + tcp + options + fcs < PARTIAL_RTS < 24 + snap + ip + 536 + fcs


def test_plain_acks_are_the_receivers_routes():
    def prompt(ack, **options):
        return [(s["name"], r["to"]) for s in parts_of(made(ack=ack, **options)) for r in s["routes"] if r["tcp"]]

    assert prompt("plain") == [("sta5", "10.0.0.1")]
    assert prompt("delayed") == []
    two = parts_of(made(ack="plain", stations=2))[1]["routes"]  # a neighbour, and yet it has a route, for its metric
    assert [(route["to"], route["via"], route["tcp"]) for route in two] == [("10.0.0.1", None, {"quickack": 1})]


def test_tcp_like_ns2_is_in_routes_variables_and_qdiscs_of_a_flows_ends():
    like = made(tcp_like="ns2", rto_min_ms=1000, stations=3)
    first, middle, last = parts_of(like)
    told = {"initcwnd": 2, "rto_min": 1000}
    assert [(route["to"], route["tcp"]) for route in first["routes"]] == [("10.0.0.3", told)]
    assert [(route["to"], route["tcp"]) for route in last["routes"]] == [("10.0.0.1", {**told, "quickack": 1})]
    assert [node["sysctl"].get("net.ipv4.tcp_max_reordering") for node in (first, middle, last)] == ["3", None, "3"]
    past = {"kind": "netem", "latency_ns": 1}
    assert [node["qdisc"] for node in (first, middle, last)] == [past, None, past]
    assert "sch_netem" in like["modules"]


@pytest.mark.parametrize("options", [
    {"tcp": "vegas,cubic", "flows": 2}, {"application": "bulk,from=sta3,to=sta1,tcp=cubic"}
])  # fmt: skip
def test_tcp_like_ns2_is_none_of_linuxs_own_loss_recovery(options):
    with pytest.raises(Misuse, match="tcp_like ns2: cubic recovers from losses as Linux does; choose one of: newreno,"):
        made(tcp_like="ns2", **options)


def test_what_takes_segments_past_small_queues_leaves_room_for_what_thins_acks():
    first, _, last = parts_of(made(tcp_like="ns2", ackthin="delayed", stations=3))
    assert (first["qdisc"]["kind"], last["qdisc"]["kind"]) == ("netem", "ackthin")
    options = {"application": "bulk,from=sta3,to=sta1", "stations": 3}
    for end in parts_of(made(tcp_like="ns2", ackthin="delayed", **options))[::2]:
        assert end["qdisc"] == {"kind": "netem", "latency_ns": 1, "below": {"kind": "ackthin", "policy": "delayed"}}
    first, last = parts_of(made(tcp_like="ns2", qdisc="sch_fq:fq", stations=2))
    assert (first["qdisc"]["below"], last["qdisc"]) == ({"kind": "fq"}, {"kind": "fq"})


def test_tcp_is_set_at_the_ends_of_a_flow_only():
    vegas = made(tcp="vegas")
    assert vegas["module_parameters"]["tcp_vegas.beta"] == "3"
    assert [("net.ipv4.tcp_sack" in station["sysctl"]) for station in parts_of(vegas)] == [
        True,
        False,
        False,
        False,
        True,
    ]
    assert vegas["applications"][0]["congestion"] == "vegas"


def test_flows_that_disagree_about_a_station_are_refused():
    with pytest.raises(Misuse, match=r"sack and newreno cannot both be at sta1.*net\.ipv4\.tcp_sack"):
        made(flows=2, tcp="newreno,sack")
    with pytest.raises(Misuse, match="cubic and newreno"):  # what one leaves to the kernel counts, too
        made(flows=2, tcp="newreno,cubic")
    assert [flow["congestion"] for flow in made(flows=2, tcp="newreno,vegas")["applications"]] == ["reno", "vegas"]


def test_a_model_that_does_not_fit_is_refused():
    with pytest.raises(Misuse, match="2 stations; there are 3"):
        made(stations=3, propagation={"model": "snr", "snr_db": [[0, 9], [9, 0]]})


def test_the_airs_limit_of_delay_is_reported_in_kilometres():
    with pytest.raises(Misuse, match=r"sta1 and sta60 hear each other over 11.8 km"):
        made(stations=60, propagation="free-space")


def test_links_below_the_threshold_carry_no_route():
    rng = random.Random(1)
    snr = [[rng.choice([0, 0.999, 1, 30]) for _ in range(8)] for _ in range(8)]
    stations = parts_of(made(stations=8, propagation={"model": "snr", "snr_db": snr}, unreachable=True))
    for a, station in enumerate(stations):
        for ip in station["neighbours"]:
            b = int(ip.rpartition(".")[2]) - 1
            assert min(snr[a][b], snr[b][a]) >= 1  # -91 dBm + 1 dB is the clear channel assessment's -90


def test_minstrel_chooses_among_the_rates_of_the_phy_and_retries_by_its_stages() -> None:
    made = plan(specify("string", {"rate": 11, "rate_control": "minstrel"}))
    assert parts_of(made)[0]["rates"] == [10, 20, 55, 110]
    assert made["air"]["retry_by"] == "stages"


def test_a_routes_metric_is_its_number_of_hops():
    """Kernel modules read it there, as from a routing daemon."""
    for station in parts_of(made(stations=6)):
        own = int(station["ip"].partition("/")[0].rpartition(".")[2])
        assert all(route["metric"] == abs(int(route["to"].rpartition(".")[2]) - own) for route in station["routes"])
        assert len(station["routes"]) >= 3


def test_a_plan_names_the_modules_that_its_tcp_needs():
    assert made(flows=2, tcp="sca,newreno")["modules"] == ["tcp_tap", "tcp_sca"]
    assert made(tcp="reno", tcp_trace=False)["modules"] == []
    mine = made(tcp="tcp_mine:mine", module_parameters="tcp_mine.gain=3,sch_other.limit=1")
    assert mine["applications"][0]["congestion"] == "mine"
    assert mine["modules"] == ["tcp_tap", "tcp_mine", "sch_other"]
    assert mine["module_parameters"] == {"tcp_mine.gain": "3", "sch_other.limit": "1"}


def test_a_studys_module_parameter_wins_over_a_variants():
    assert made(tcp="vegas", module_parameters={"tcp_vegas.beta": "4"})["module_parameters"]["tcp_vegas.beta"] == "4"


def test_variables_of_all_nodes_win_over_those_of_a_tcp():
    chosen = made(tcp_like="ns2", sysctl="net.ipv4.tcp_sack=1,net.ipv4.tcp_tso_rtt_log=0")
    assert {node["sysctl"]["net.ipv4.tcp_tso_rtt_log"] for node in chosen["nodes"]} == {"0"}
    assert {node["sysctl"]["net.ipv4.tcp_sack"] for node in chosen["nodes"]} == {"1"}


def test_buffers_that_linux_grows_have_no_size():
    (flow,) = made(send_buffer="auto", receive_buffer="auto")["applications"]
    assert flow["send_buffer"] is flow["receive_buffer"] is None


def test_acks_are_thinned_where_flows_end():
    stations = parts_of(made(stations=3, flows=2, ackthin="daa,granularity_us=10000"))
    assert [station["qdisc"] for station in stations] == [
        None, None, {"kind": "ackthin", "policy": "daa", "granularity_us": 10000},
    ]  # fmt: skip
    assert made(ackthin="skip")["modules"][-1] == "sch_ackthin"


def test_a_qdisc_of_ones_own_is_at_both_ends():
    made_plan = made(stations=3, qdisc="sch_mine:mine", load="other,sch_mine")
    assert [station["qdisc"] for station in parts_of(made_plan)] == [{"kind": "mine"}, None, {"kind": "mine"}]
    assert made_plan["modules"] == ["tcp_tap", "other", "sch_mine"]


def test_links_have_settings_of_their_own_and_the_rest_share_one():
    nodes = {name: Node(position=(100.0 * i, 0, 0)) for i, name in enumerate("abcd")}
    network = Network(nodes=nodes, links=(Link(kind="mesh", nodes=("c", "b"), settings={"freq": 2437}),))
    made_plan = plan(specify(network, {"beacon_tu": 100}))
    assert [(link["kind"], link["freq"], link["beacon_tu"]) for link in made_plan["links"]] == [
        ("mesh", 2437, 100), ("adhoc", 2412, 100)
    ]  # fmt: skip
    assert [part["link"] for part in parts_of(made_plan)] == ["link2", "link1", "link1", "link2"]
    for own, said in (
        ({"colour": 1}, "there is no setting colour; there are: ssid, freq, beacon_tu"),
        ({"freq": 5180}, "link adhoc: rate: at 5180 MHz there is no 2 Mb/s"),
        ({"freq": 5300}, "link adhoc: freq: 5300 MHz is not possible"),
        ({"beacon_tu": 1}, "link adhoc: beacon_tu: must be at least 10, not 1"),
    ):
        with pytest.raises(Misuse, match=said):
            plan(specify(Network(nodes=nodes, links=(Link(nodes=("a", "b"), settings=own),)), {}))
    two_bands = Network(nodes=nodes, links=(Link(nodes=("a", "b"), settings={"freq": 5180}),))
    both = plan(specify(two_bands, {"rate": 6}))
    assert [link["freq"] for link in both["links"]] == [5180, 2412] and both["air"] == plan(
        specify(two_bands, {"rate": 6, "freq": 5180})
    )["air"]  # that of 5 GHz
    old = Network(nodes={"ap": Node(kind="ap", settings={"mode": "b", "channel": 1}), **nodes}, links=(
        Link(kind="infrastructure", nodes=("ap", "b")),
    ))  # fmt: skip
    with pytest.raises(Misuse, match="link infrastructure: at 2412 MHz its PHY differs from the network's at 5180 MHz"):
        plan(specify(old, {"rate": 54, "freq": 5180}))


def test_an_unknown_kind_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match=r"there is no routing 'ospf'; there are: .*static"):
        made(routing="ospf")


def test_a_routing_has_the_names_that_people_give_it():
    assert made(routing="batman-adv,interval_ms=500")["routing"] == {"kind": "batman_adv"}
    assert made(routing="802.11s", link="mesh")["routing"] == {"kind": "hwmp"}


def test_a_routing_of_one_kind_of_link_reports_it():
    with pytest.raises(Misuse, match="routing hwmp is for links of kind mesh, not adhoc: --link mesh"):
        made(routing="hwmp")


def test_a_routing_of_radios_leaves_access_points_and_their_clients_alone():
    cell = Link(nodes=("a", "b", "c"), settings={"ssid": "cell"})
    nodes = {name: Node(position=(100.0 * at, 0, 0)) for at, name in enumerate("abcd")}
    nodes["ap"] = Node(kind="ap", position=(250, 0, 0))
    served = Link(nodes=("ap", "d", "c"), kind="infrastructure", settings={"ssid": "served"})
    found = made(Network(nodes=nodes, links=(cell, served)), routing="babel", unreachable=True)["nodes"]
    beside = {each["name"]: [bool(one.get("beside")) for one in each["interfaces"]] for each in found}
    assert beside == {"a": [False], "b": [False], "c": [False, True], "d": [True], "ap": [True]}
    with pytest.raises(Misuse, match="routing babel is for stations that find each other, not for links of kind infra"):
        made(
            Network(
                nodes={"d": nodes["d"], "ap": nodes["ap"]}, links=(Link(nodes=("ap", "d"), kind="infrastructure"),)
            ),
            routing="babel",
        )


def test_the_trace_keeps_enough_to_show_tcp_behind_a_source_route():
    assert [made(routing=routing)["air"]["snap"] for routing in ("static", "dsr")] == [128, 224]
    assert made(routing="dsr", snap=500)["air"]["snap"] == 500


def test_who_is_on_another_link_is_no_neighbour():
    nodes = {name: Node(position=(100.0 * i, 0, 0)) for i, name in enumerate("abcd")}
    link, flow = Link(nodes=("a", "b"), settings={"freq": 2437}), Application(source="a", destination="d")
    found = parts_of(plan(specify(Network(nodes=nodes, links=(link,)), {})))
    assert [list(part["neighbours"]) for part in found] == [["10.0.0.2"], ["10.0.0.1"], ["10.0.0.4"], ["10.0.0.3"]]
    with pytest.raises(Misuse, match="no path from a to d: b and c hear each other, but are on different links"):
        plan(specify(Network(nodes=nodes, links=(link,), applications=(flow,)), {}))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "flow1: cwl holds its window to 1 segment, and the receiver's ackthin daa waits for 2"),
        ({"ackthin": "skip,skip=3", "stations": 3}, "to 2 segments, and the receiver's ackthin skip waits for 4"),
        ({"ackthin": "delayed"}, "waits for 2, each time until its timer fires"),
        ({"ackthin": None, "ack": "delayed"}, "the receiver's delayed ACK waits for 2"),
        ({"module_parameters": "tcp_cwl.rule=h/4"}, "holds its window to 1 segment"),
        ({"ackthin": "delayed,count=9", "module_parameters": "tcp_cwl.rule=3h/2"}, "to 6 segments"),
        ({"module_parameters": "tcp_cwl.rule=rthc/5,tcp_cwl.hops=4"}, "holds its window to 1 segment"),
        ({"ackthin": None, "ack": "delayed", "routing": "manet_static"}, "the receiver's delayed ACK waits for 2"),
        ({"ackthin": None, "routing": "manet_static"}, None),
        ({"ackthin": None}, None),
        ({"ackthin": "plain"}, None),
        ({"ackthin": "dynamic"}, None),
        ({"tcp": "newreno"}, None),
        ({"stations": 2}, None),
        ({"routing": "none"}, None),
        ({"module_parameters": "tcp_cwl.rule=fixed"}, None),
    ],
)
def test_a_window_below_what_the_receiver_waits_for_is_reported(options, said):
    found = advice(made(**{"tcp": "cwl", "ackthin": "daa", **options}))
    assert found == [] if said is None else (len(found) == 1 and said in found[0] and "\n" not in found[0])


def test_some_flows_are_thinned():
    """The receivers of the first ones, in a mesh of three rows."""
    plan = made("mesh", ackthin="delayed", thinned_flows=2)
    thinned = [node["name"] for node in plan["nodes"] if node["interfaces"][0]["qdisc"]]
    assert thinned == [flow["destination"] for flow in plan["applications"][:2]] and len(plan["applications"]) == 3
    with pytest.raises(ValueError, match="needs ackthin"):
        made("mesh", thinned_flows=2)


def test_the_window_that_is_told_is_the_modules():
    source = (Path(__file__).parents[1] / "tc_modules/tcp_cwl.c").read_text()
    table = re.search(r"chen\[\] = \{ (.*?) \}", source)
    assert table and tuple(map(int, table[1].split(","))) == CHEN
