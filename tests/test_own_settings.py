# SPDX-License-Identifier: BSD-3-Clause
"""Settings of single nodes, links and flows, checked by the common models."""

import re

import pytest

from emulation.lane.errors import Misuse
from emulation.plan import plan
from emulation.specification import flatten, specify, unflatten
from topologies import Application, Link, Network, Node


def radios_of(made_plan):
    return [node["interfaces"][0] for node in made_plan["nodes"]]


def test_what_a_node_has_of_its_own():
    nodes = {name: Node(position=(200.0 * i, 0, 0)) for i, name in enumerate(("a", "b", "c"))}
    nodes["b"] = Node(position=(200.0, 0, 0), settings={"rts": "full", "rate": 1})
    found = radios_of(plan(specify(Network(nodes=nodes), {"rts": "none"})))
    assert [(one["rts_threshold"], one["rates"]) for one in found] == [(None, [20]), (0, [10]), (None, [20])]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"colour": "red"}, "a: there is no setting colour; there are: rate, rts, short_retry, long_retry, "),
        ({"rts": "often"}, "a: rts: must be 'full', 'partial' or 'none', not 'often'"),
        ({"tx_power_dbm": "loud"}, "a: tx_power_dbm: must be from -140 to 40, not 'loud'"),
        ({"rate": 54}, "a: at 54 Mb/s its PHY differs from the network's at 2 Mb/s"),
    ],
)
def test_a_nodes_own_settings_are_checked(settings, says):
    network = Network(nodes={"a": Node(settings=settings), "b": Node()})
    with pytest.raises(Misuse, match=re.escape(says)):
        plan(specify(network, {}))


def bss(ap, *stations, link=None, kind="infrastructure", **options):
    nodes = {"ap1": Node(kind="ap" if kind == "infrastructure" else "station", settings=ap)}
    nodes |= {f"sta{i}": Node(position=(20.0 * i, 0, 0), settings=own) for i, own in enumerate(stations, 1)}
    return plan(
        specify(Network(nodes=nodes, links=(Link(nodes=tuple(nodes), kind=kind, settings=link or {}),)), options)
    )


def test_a_station_has_the_mode_of_its_access_point_or_its_own():
    """And a radio of legacy rates beside those of 802.11n and later is the driver's, too."""
    mode = {"mode": "ac", "channel": 149, "width": 80, "streams": 2, "guard": 0.4}
    found = radios_of(bss(mode, {}, {"mode": "n"}, {"mode": "a"}, {"width": 40, "mcs": 3}))
    said = [
        (ht["format"], ht["width_mhz"], ht["centre_mhz"], ht["streams"], ht["mcs"])
        for ht in (one["ht"] for one in found)
    ]
    assert said == [
        ("vht", 80, 5775, 2, None), ("vht", 80, 5775, 2, None), ("ht", 40, 5755, 1, None),
        ("ofdm", 20, 5745, 1, None), ("vht", 40, 5755, 2, 3),
    ]  # fmt: skip
    assert [one["ht"]["window"] for one in found] == [64, 64, 64, 0, 64]


def test_a_network_has_the_latest_mode_of_its_access_points():
    legacy = bss({"mode": "g", "channel": 6}, {}, {"mode": "b"})
    assert not legacy["air"]["ht"] and legacy["links"][0]["mixed"] and legacy["links"][0]["freq"] == 2437
    later = bss({"mode": "ax", "mcs": 5, "channel": 11}, {"mode": "b"}, {"mode": "n", "streams": 2})
    assert later["air"]["ht"] and later["links"][0]["mixed"]
    assert [one["ht"]["format"] for one in radios_of(later)] == ["he", "ofdm", "ht"]
    assert (
        bss({"mode": "n"}, {}, link={"channel": 157, "width": 40})["nodes"][1]["interfaces"][0]["ht"]["centre_mhz"]
        == 5795
    )


def test_an_mcs_is_held_where_all_radios_know_it():
    def held(*all_):
        return [one["ht"]["held"] for one in radios_of(bss(*all_))]

    assert held({"mode": "n", "mcs": 7}, {}) == [True, True]
    assert held({"mode": "n", "mcs": 7, "streams": 2}, {"streams": 1}) == [False, True]
    assert held({"mode": "n", "mcs": 7}, {"mode": "a"}) == [False, False]


@pytest.mark.parametrize(
    ("nodes", "options", "says"),
    [
        (({"mode": "ac", "channel": 1}, {}), {}, "802.11ac is at 5 GHz only, and channel 1 is at 2.4"),
        (({"mode": "ac", "channel": 165, "width": 40}, {}), {}, "channel 165 is in no block of 40 MHz"),
        (({"mode": "n", "channel": 52}, {}), {}, "channel: there is no 52 here, as it needs radar detection"),
        (({"mode": "ac", "mcs": 9}, {}), {}, "802.11ac has no MCS 9 for one stream at 20 MHz"),
        (
            ({"mode": "ac", "mcs": 9, "width": 80}, {"width": 20}),
            {},
            "sta1: mode: 802.11ac has no MCS 9 for one stream",
        ),
        (({"mode": "ac"}, {"mode": "g"}), {}, "sta1: mode: 802.11g needs 2.4 GHz, but its channel is at 5180 MHz"),
        (({"mode": "n"}, {"channel": 40}), {}, "sta1: channel: the link is at 5180 MHz, but the node's"),
        (({"mode": "be"}, {}), {}, "mode: 802.11be is not modelled; there are: abg, a, b, g, n, ac, ax"),
        (({}, {"mode": "n"}), {"mode": "abg"}, "sta1: mode: n is not possible in a network of legacy rates"),
        (({"mode": "ax", "mcs": 1}, {"ofdma": True}), {}, "sta1: ofdma is not modelled: a PPDU of 802.11ax is for one"),
        (({"width": 80}, {}), {}, "ap1: width: give a mode, too: n, ac or ax"),
    ],
)
def test_modes_of_nodes_are_checked(nodes, options, says):
    with pytest.raises((Misuse, ValueError), match=re.escape(says)):
        bss(*nodes, **options)


def test_an_independent_bss_has_no_80211ax_and_ocb_is_not_beside_80211n():
    with pytest.raises(Misuse, match="an independent BSS cannot be of 802"):
        bss({"mode": "ax", "mcs": 3}, {}, kind="adhoc")
    with pytest.raises(Misuse, match="a link of kind ocb cannot be of"):
        bss({"mode": "n"}, {"mode": "a"}, kind="ocb")


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"sssid": "lab"}, "link adhoc: there is no setting sssid; there are: ssid, freq, beacon_tu"),
        ({"ssid": "x" * 33}, "link adhoc: ssid: must be a name of 1 to 32 bytes"),
        ({"freq": 2413}, "link adhoc: freq: 2413 MHz is not possible; there are: 2412, 2417"),
        ({"beacon_tu": "often"}, "link adhoc: beacon_tu: must be a valid integer"),
    ],
)
def test_a_links_own_settings_are_checked(settings, says):
    nodes = {name: Node(position=(100.0 * i, 0, 0)) for i, name in enumerate("ab")}
    with pytest.raises(Misuse, match=re.escape(says)):
        plan(specify(Network(nodes=nodes, links=(Link(nodes=("a", "b"), settings=settings),)), {}))


def flows_of_their_own(*settings, kind=None, **options):
    nodes = {name: Node(position=(100.0 * i, 0, 0)) for i, name in enumerate("abc")}
    ends = [("a", "b"), ("c", "b"), ("a", "c")]
    flows = [
        Application(source=a, destination=b, kind=kind, settings=s) for (a, b), s in zip(ends, settings, strict=False)
    ]
    return plan(specify(Network(nodes=nodes, applications=tuple(flows)), options))


def test_a_flow_may_have_a_tcp_of_its_own():
    """With its module, and its settings at both ends."""
    found = flows_of_their_own({"tcp": "sca", "bytes": 1000}, {"congestion": "ss"}, {}, tcp="newreno")
    assert [(one["congestion"], one["bytes"]) for one in found["applications"]] == [
        ("sca", 1000), ("ss", None), ("reno", None)
    ]  # fmt: skip
    assert found["modules"] == ["tcp_tap", "tcp_sca"]
    with pytest.raises(Misuse, match="cannot both be at b, which has these settings only once"):
        flows_of_their_own({"tcp": "cubic"}, {}, {})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"byte": 1}, "flow a -> b: there is no setting byte; there are: tcp, bytes, mss"),
        ({"tcp": "newrino"}, "flow a -> b: tcp: there is no TCP 'newrino'; there are: "),
        ({"mss": 3}, "flow a -> b: mss: must be at least 536, not 3"),
        ({"start_s": -1}, "flow a -> b: start_s: must be at least 0"),
        ({"port": 0}, "flow a -> b: port: must be at least 1, not 0"),
        ({"tos": 256}, "flow a -> b: tos: must be at most 255, not 256"),
        ({"start_s": 3, "stop_s": 3}, "flow a -> b: stop_s: it stops at 3 s, and starts at 3 s"),
    ],
)
def test_a_flows_own_settings_are_checked(settings, says):
    with pytest.raises(Misuse, match=re.escape(says)):
        flows_of_their_own(settings)


@pytest.mark.parametrize(
    ("kind", "settings", "says"),
    [
        ("voice", {"codec": "g728"}, "flow a -> b: codec: must be 'g711' or 'g729', not 'g728'"),
        (
            "voice",
            {"tcp": "vegas"},
            "flow a -> b: there is no setting tcp; there are: bytes, tos, start_s, stop_s, port, ",
        ),
        ("udp", {"rate_kbps": "much"}, "flow a -> b: rate_kbps: must be a number, not 'much'"),
        ("udp", {"datagram_bytes": 7}, "flow a -> b: datagram_bytes: must be at least 8, not 7"),
        ("web", {"bytes": 9}, "flow a -> b: there is no setting bytes; there are: tcp, mss, "),
        (
            "web",
            {"shape": 1, "sizes": "pareto"},
            "flow a -> b: shape: pareto sizes have a mean only for a shape above 1",
        ),
        ("iperf3", {"window_limit": 9}, "flow a -> b: there is no setting window_limit"),
    ],
)
def test_a_kinds_own_settings_are_checked(kind, settings, says):
    with pytest.raises(Misuse, match=re.escape(says)):
        flows_of_their_own(settings, kind=kind)


def test_what_all_flows_have_is_of_use_to_each():
    """Or the error says how to set it for some."""
    with pytest.raises(Misuse, match="web takes no bytes; for flows of another kind only: --traffic KIND,bytes="):
        flows_of_their_own({}, kind="web", bytes=1000)
    (flow,) = flows_of_their_own({}, kind="voice", bytes=1000, window_limit=64)["applications"]
    assert (flow["bytes"], flow["tos"], flow["codec"], flow["window_limit"]) == (1000, 46 << 2, "g711", None)


def test_traffic_is_a_kind_with_settings_of_all_flows_that_have_no_kind():
    """A flow's own settings override them."""
    made = flows_of_their_own({}, {"think_s": 2}, traffic="web,think_s=3,tos=32,start_s=1")["applications"]
    assert [(one["kind"], one["think_s"], one["tos"], one["start_s"]) for one in made] == [
        ("web", 3, 32, 1), ("web", 2, 32, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("voice,to=sta3", "'voice,to=sta3': give its kind and its nodes"),
        ("voice,from=sta1,to=sta3,loud", "'loud' has no value; write NAME=VALUE"),
        ("voice,from=sta1,to=sta9", "flow sta1 -> sta9: there is no node sta9"),
        ("voice,from=sta1,to=sta1", "flow sta1 -> sta1: its ends are the same node"),
    ],
)
def test_an_application_says_what_and_where(given, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        specify("string", {"application": given})


def test_applications_are_a_part_of_the_specification():
    """They are stored as given, and read back."""
    made = specify(
        "string", {"stations": 3, "application": ("voice,from=sta1,to=sta3,codec=g729", "udp,from=sta3,to=sta1")}
    )
    assert unflatten(flatten(made)) == made
    assert [one.kind for one in made.network.standing().applications] == [None, "voice", "udp"]
    assert made.network.application[0].settings == {"codec": "g729"}


def test_of_flows_to_one_node_each_has_its_port():
    with pytest.raises(Misuse, match="flow1 and flow2 both go to port 5001 of b"):
        flows_of_their_own({}, {"port": 5001})


def test_an_application_that_there_is_not_is_answered_with_those_there_are():
    with pytest.raises(
        Misuse, match=r"there is no application 'ftp'; there are: .*bulk, iperf3, request, udp, voice, web"
    ):
        flows_of_their_own({}, kind="ftp")


def test_a_position_may_be_written_as_in_mininet():
    assert Node(position="10,-20.5,0").position == (10.0, -20.5, 0.0)
    for wrong in ("10,20", "here", "1,2,3,4"):
        with pytest.raises(ValueError, match="a position is three numbers, in metres"):
            Node(position=wrong)


def test_a_node_may_send_stronger_than_the_others():
    """All others receive that many dB more; what it receives is unchanged."""
    nodes = {name: Node(position=(200.0 * i, 0, 0)) for i, name in enumerate("abc")}
    louder = nodes | {"b": Node(position=(200.0, 0, 0), settings={"tx_power_dbm": 23})}
    usual, now = (
        plan(specify(Network(nodes=own), {"propagation": {"model": "log-distance"}}))["air"]["power_mdbm"]
        for own in (nodes, louder)
    )
    assert now[1] == [usual[1][0] + 3000, None, usual[1][2] + 3000]
    assert [now[0], now[2]] == [usual[0], usual[2]]
    with pytest.raises(Misuse, match="b: tx_power_dbm: propagation snr has no transmit power"):
        plan(specify(Network(nodes=louder), {"propagation": {"model": "snr", "snr_db": [[None] * 3] * 3}}))


def mixed(kind="infrastructure", more=None, **options):
    """An access point with a station of 802.11g and one of 802.11b."""
    nodes = {"ap": Node(kind="ap"), "new": Node(position=(9.0, 0, 0)), "old": Node(settings={"rate": 11})}
    link = Link(nodes=("ap", "new", "old") if kind == "infrastructure" else ("new", "old"), kind=kind)
    links = (link, Link(nodes=("ap",), kind="infrastructure")) if kind != "infrastructure" else (link,)
    links += (more,) if more else ()
    return plan(specify(Network(nodes=nodes, links=links), {"rate": 54, "rate_control": "minstrel", **options}))


def test_80211b_among_80211g():
    """Basic rates that both know, the long slot, and each one's window and rates."""
    found = mixed()
    assert found["links"][0]["basic_rates"] == found["air"]["basic_rates"] == [10, 20, 55, 110]
    assert (found["air"]["slot_ns"], found["air"]["cw_min"], found["air"]["signal_extension_ns"]) == (20_000, 15, 6_000)
    of_g = [10, 20, 55, 60, 90, 110, 120, 180, 240, 360, 480, 540]
    assert [one["rates"] for one in radios_of(found)] == [of_g, of_g, [10, 20, 55, 110]]
    window = {"BE": {"aifsn": 2, "cw_min": 31, "cw_max": 1023, "txop_us": 0}}
    assert [one["edca"] for one in radios_of(found)] == [None, None, window]
    with pytest.raises(Misuse, match=r"802\.11b is not possible in a network of two bands"):
        mixed(more=Link(nodes=("new",), settings={"freq": 5180}))
    assert mixed(basic_rates=[1, 2])["air"]["basic_rates"] == [10, 20]
    assert [one["edca"] for one in radios_of(mixed(edca="kernel"))] == [None] * 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate_control": "fixed"}, "old: at 11 Mb/s its PHY differs from the network's at 54 Mb/s: an access point"),
        ({"basic_rates": [1, 6]}, "basic_rates: stations at 11 Mb/s support only 1, 2, 5.5, 11"),
        (
            {"kind": "adhoc"},
            "link adhoc: old is of 802.11b and others of 802.11g: only access points protect such a network",
        ),
    ],
)
def test_where_80211b_and_80211g_cannot_be(options, says):
    with pytest.raises(Misuse, match=re.escape(says)):
        mixed(**options)
