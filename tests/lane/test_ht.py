# SPDX-License-Identifier: BSD-3-Clause
"""Radios of 802.11n and ac in a lane: throughput computed by hand, and what Linux reports about them."""

from __future__ import annotations

import json
from math import ceil, log10
from typing import Any

import pytest
from rooms import needs

from emulation.specification.per import PerTable

SIFS, SLOT, BLOCK_ACK, AIFSN = 16, 9, 32, 2  # us; mac80211 gives an independent BSS the DCF's parameters
PAYLOAD = 1460
PER = PerTable(1.0, ((0.5,) * 12,))
MPDU = 4 + 26 + 8 + 20 + 8 + PAYLOAD + 4  # delimiter, QoS header, LLC, IP, UDP, FCS

PLAY = """
import json, os
from emulation.net import Net
with Net(seed={seed}, **{options!r}) as net:
    a, b = (net.addStation(name, position=(20.0 * i, 0, 0)) for i, name in enumerate(("sta1", "sta2")))
    net.addFlow(a, b, **{flow!r})
    net.start()
    ran = net.run(2, name={name!r})
    folder = "/sys/kernel/debug/ieee80211/sta1-wlan0/netdev:sta1-wlan0/stations/" + b.MAC()
    read = {{name: open(f"{{folder}}/{{name}}").read() for name in ("agg_status", "rc_stats", "airtime")}}
    dump = a.cmd("iw dev sta1-wlan0 station dump")
    print(json.dumps([ran["applications"][0], [s["counters"] for s in ran["air"]["stations"]], read, dump, ran["air"]]))
"""
BULK = {"kind": "bulk"}


def play(bench: Any, options: dict[str, Any], flow: dict[str, Any], seed: int = 1, name: str = "run") -> Any:
    (line,) = bench.script(PLAY.format(seed=seed, options=options, flow=flow, name=name))
    return json.loads(line)


def saturated(mpdus: int, preamble: float, bits: int, symbol: float, *, answer: float = BLOCK_ACK) -> float:
    """Return the payload of one station alone, Mb/s, for PPDUs of this many MPDUs."""
    padded = -(-MPDU // 4) * 4
    psdu = (mpdus - 1) * padded + MPDU if mpdus > 1 else MPDU - 4
    data = ceil(ceil((22 + 8 * psdu) / bits) * symbol / 4) * 4
    return mpdus * PAYLOAD * 8 / (SIFS + AIFSN * SLOT + 7.5 * SLOT + preamble + data + SIFS + answer)


@pytest.mark.parametrize(
    ("options", "expected"),
    [  # preambles of 36 us and one stream, 40 and two
        ({"mode": "n", "mcs": 7}, saturated(19, 36, 260, 4)),
        ({"mode": "n", "mcs": 7, "streams": 2, "guard": 0.4}, saturated(32, 40, 520, 3.6)),
        ({"mode": "n", "mcs": 7, "streams": 2, "guard": 0.4, "width": 40}, saturated(32, 40, 1080, 3.6)),
        ({"mode": "n", "mcs": 7, "aggregation": "none"}, saturated(1, 36, 260, 4, answer=28)),
    ],
    ids=["HT20 MCS 7", "HT20 MCS 15", "HT40 MCS 15", "no aggregation"],
)
def test_saturation_is_as_by_hand(bench, options: dict[str, Any], expected: float) -> None:  # type: ignore[no-untyped-def]
    """One sender always has frames, and none is lost: PPDUs of half a window, or of 4 ms, follow each other. The first
    frames go alone."""
    udp = {"kind": "udp", "rate_kbps": round(1500 * expected), "datagram_bytes": PAYLOAD}
    flow, (sender, receiver), _, _, air = play(bench, options, udp)
    assert flow["delivered_bytes"] * 8 / 2e6 == pytest.approx(expected, rel=0.01)
    assert not air["refused_frames"] and not air["lost_messages"]
    assert not receiver["addressed"]["udp"].keys() - {"OK"}
    assert sender["categories"]["BE"]["aifsn"] == AIFSN


@pytest.mark.parametrize(
    ("options", "sinr_db", "lost"),
    [
        ({"mode": "n", "mcs": 7}, 19.5, 0.1234),
        ({"mode": "ac", "mcs": 9, "width": 80}, 25.0, 0.1248),
        ({"mode": "n", "mcs": 7}, 23.0, 0.0),
    ],
)
def test_mpdus_are_lost_by_their_mcs(bench, options: dict[str, Any], sinr_db: float, lost: float) -> None:  # type: ignore[no-untyped-def]
    """The share is that of the link simulations, of 1458 bytes. A PPDU's power is spread over channels of 20 MHz."""
    from emulation.plan import plan
    from emulation.specification import specify

    power_mdbm = plan(specify("string", {"stations": 2, "spacing": 20.0, **options}))["air"]["power_mdbm"][0][1]
    spread_db = 10 * log10(options.get("width", 20) / 20)
    options = {**options, "reception": "sinr", "noise_dbm": power_mdbm / 1000 - spread_db - sinr_db}
    udp = {"kind": "udp", "rate_kbps": 150_000, "datagram_bytes": PAYLOAD}
    _, (_, receiver), _, _, _ = play(bench, options, udp)
    outcomes = receiver["addressed"]["udp"]
    expected = 1 - (1 - lost) ** (MPDU / 1458)
    assert outcomes.keys() <= {"OK", "NOISE"} and sum(outcomes.values()) > 5000
    assert outcomes.get("NOISE", 0) / sum(outcomes.values()) == pytest.approx(expected, abs=0.015)


def test_linux_shows_what_it_shows_of_hardware(bench) -> None:  # type: ignore[no-untyped-def]
    """A session each way, minstrel_ht's counts of MPDUs, airtime, and the rates of the last frames."""
    flow, (sender, _), read, dump, _ = play(bench, {"mode": "n", "mcs": 7}, BULK)
    assert 45e6 < flow["delivered_bytes"] * 8 / 2 < 65e6
    first = next(line.split() for line in read["agg_status"].splitlines() if line.startswith("00"))
    assert first[1] == first[4] == "1"
    attempts = int(next(line for line in read["rc_stats"].splitlines() if "MCS7" in line).split()[-1])
    assert attempts == pytest.approx(sender["tx"]["tcp_data"], rel=0.02)
    aggregated = float(read["rc_stats"].rsplit(":", 1)[1])
    assert aggregated > 10
    airtime_us = int(read["airtime"].split("TX: ")[1].split()[0])
    assert airtime_us == pytest.approx(sender["airtime_ns"]["tcp_data"] / 1000, rel=0.01)
    assert dump.count("65.0 MBit/s MCS 7") == 2
    retries = int(dump.split("tx retries:")[1].split()[0])  # of MPDUs, of all attempts in rc_stats
    assert 10 < retries < 0.2 * attempts


def test_minstrel_ht_climbs(bench) -> None:  # type: ignore[no-untyped-def]
    """Without losses it finds the highest rate there is."""
    flow, _, read, _, _ = play(bench, {"mode": "ac", "width": 80, "streams": 2, "guard": 0.4}, BULK)
    best = next(
        line for line in read["rc_stats"].splitlines() if line[:3] in ("HT2", "HT4", "VHT") and "A" in line[12:19]
    )
    assert best.startswith("VHT80 SGI 2") and "MCS9/2" in best
    assert flow["delivered_bytes"] * 8 / 2e6 > 200


CHOSEN = """
import json
from emulation.net import Net
with Net(mode="ax", width=80, streams=2, reception="sinr", noise_dbm={noise!r}) as net:
    ap, host, station = net.addAccessPoint("ap1"), net.addHost("h1"), net.addStation("sta1", position=(20, 0, 0))
    net.addLink(ap, station, cls="infrastructure")
    net.addLink(host, ap, cls="wired", delay="1ms")
    net.addFlow(host, station, kind="udp", rate_kbps={kbps}, datagram_bytes=1460)
    net.start()
    net.run(0.2)
    ran = net.run(0.2)
    print(json.dumps([ran["applications"][0]["delivered_bytes"], ap.cmd("iw dev ap1-wlan0 station dump")]))
"""


@pytest.mark.parametrize(("noise", "mcs", "mbps"), [(-120.0, 11, 600), (-58.0, 7, 450)])
def test_the_drivers_rate_control_finds_the_best_mcs(bench, noise: float, mcs: int, mbps: float) -> None:  # type: ignore[no-untyped-def]
    (line,) = bench.script(CHOSEN.format(noise=noise, kbps=700_000))
    delivered, dump = json.loads(line)
    assert f"HE-MCS {mcs} HE-NSS 2" in dump and delivered * 8 / 0.2e6 > mbps


def test_one_seed_is_one_run(bench) -> None:  # type: ignore[no-untyped-def]
    one, again, other = (
        play(bench, {"mode": "n", "streams": 2}, BULK, seed, name)
        for seed, name in ((5, "one"), (5, "again"), (6, "other"))
    )
    assert one == again != other


JOINED = """
import json
from emulation.net import Net
with Net(**{options!r}) as net:
    ap, host = net.addAccessPoint("ap1"), net.addHost("h1")
    stations = [net.addStation(f"sta{{i}}", position=(20.0 * i, 0, 0)) for i in (1, 2)]
    net.addLink(ap, *stations, cls="infrastructure", security="wpa2", passphrase="correct horse")
    net.addLink(host, ap, cls="wired")
    for station in stations:
        net.addFlow(host, station)
    net.start()
    ran = net.run(1)
    print(json.dumps([[flow["delivered_bytes"] for flow in ran["applications"]], ap.cmd("iw dev ap1-wlan0 info"),
                      ap.cmd("iw dev ap1-wlan0 station dump")]))
"""
MESHED = """
import json
from emulation.net import Net
with Net(mode="n", width=40, mcs=7) as net:
    a, b, c = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in range(3))
    net.addLink(a, b, c, cls="mesh")
    net.addFlow(a, c)
    net.start()
    ran = net.run(1)
    print(json.dumps([ran["applications"][0]["delivered_bytes"], b.cmd("iw dev sta1-wlan0 station dump")]))
"""


@pytest.mark.parametrize(
    ("options", "width", "rate"),
    [
        ({"mode": "n", "mcs": 7, "streams": 2}, "width: 20 MHz", "130.0 MBit/s MCS 15"),
        ({"mode": "n", "mcs": 7, "width": 40, "freq": 5200}, "center1: 5190", "135.0 MBit/s MCS 7 40MHz"),
        ({"mode": "n", "mcs": 7, "width": 40, "freq": 2412}, "center1: 2422", "135.0 MBit/s MCS 7 40MHz"),
        ({"mode": "ac", "mcs": 8, "freq": 5180}, "width: 20 MHz", "78.0 MBit/s VHT-MCS 8 VHT-NSS 1"),
        ({"mode": "ax", "mcs": 11, "freq": 5180, "aggregation": "mt76"}, "width: 20 MHz",
         "143.3 MBit/s HE-MCS 11 HE-NSS 1 HE-GI 0 HE-DCM 0"),
        ({"mode": "ax", "mcs": 11, "width": 80, "streams": 2, "aggregation": "mt76"}, "width: 80 MHz, center1: 5210",
         "1200.9 MBit/s 80MHz HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0"),
        ({"mode": "ac", "mcs": 8, "width": 80, "freq": 5765}, "width: 80 MHz, center1: 5775",
         "351.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 1"),
        ({"mode": "ac", "mcs": 9, "width": 160, "freq": 5745, "guard": 0.4}, "width: 160 MHz, center1: 5815",
         "866.7 MBit/s VHT-MCS 9 160MHz short GI VHT-NSS 1"),
        ({"mode": "ax", "mcs": 11, "width": 160, "freq": 5765}, "width: 160 MHz, center1: 5815",
         "1200.9 MBit/s 160MHz HE-MCS 11 HE-NSS 1 HE-GI 0 HE-DCM 0"),
    ],
)  # fmt: skip
def test_access_points(bench, options: dict[str, Any], width: str, rate: str) -> None:  # type: ignore[no-untyped-def]
    """hostapd, WPA2, two clients: equal shares of airtime at equal rates, as of ath9k. No frame has another rate."""
    (line,) = bench.script(JOINED.format(options=options))
    delivered, info, dump = json.loads(line)
    assert width in info and dump.count(f"rx bitrate:\t{rate}\n") == 2
    assert 0.8 < delivered[0] / delivered[1] < 1.25


def test_a_mesh(bench) -> None:  # type: ignore[no-untyped-def]
    """Two hops."""
    (line,) = bench.script(MESHED)
    delivered, dump = json.loads(line)
    assert delivered * 8 > 20e6 and dump.count("135.0 MBit/s MCS 7 40MHz") == 4


WLAN = """
import json
from emulation.net import Net
with Net(aggregation="mt76", **{options!r}) as net:
    ap, host, station = net.addAccessPoint("ap1"), net.addHost("h1"), net.addStation("sta1", position=(20, 0, 0))
    net.addLink(ap, station, cls="infrastructure")
    net.addLink(host, ap, cls="wired", delay="1ms")  # netem frees the socket's buffer, as a wire does
    ends = (station, host) if {up} else (host, station)
    for _ in range({flows}):
        net.addFlow(*ends, kind="udp", rate_kbps={kbps}, datagram_bytes=1460)
    net.start()
    ran = net.run(0.3)
    delivered = sum(flow["delivered_bytes"] for flow in ran["applications"])
    print(json.dumps([delivered, ran["air"]["stations"][{up:d}]["counters"]]))
"""


@pytest.mark.parametrize(
    ("options", "flows", "up", "expected"),
    [
        ({"mode": "n", "mcs": 7, "streams": 2, "guard": 0.4}, 1, False, 130.4),  # 42 MPDUs: 65,535 B
        ({"mode": "n", "mcs": 7, "streams": 2, "guard": 0.4, "width": 40}, 1, False, 255.7),
        ({"mode": "ac", "mcs": 9, "streams": 2, "width": 80}, 1, False, 617.5),  # 64: the window
        ({"mode": "ac", "mcs": 9, "streams": 2, "width": 80}, 2, True, 617.5),  # more than one socket has room for
        ({"mode": "ac", "mcs": 9, "streams": 2, "width": 80, "guard": 0.4}, 1, False, 673.1),
        ({"mode": "ac", "mcs": 9, "streams": 2, "width": 160, "guard": 0.4, "freq": 5745}, 2, False, 1128.3),
        ({"mode": "ax", "mcs": 11, "streams": 2, "width": 80}, 4, False, 1052.2),  # 256
    ],
    ids=["HT20 MCS 15", "HT40 MCS 15", "VHT80 MCS 9", "VHT80 MCS 9, up", "VHT80 MCS 9, short", "VHT160 MCS 9",
         "HE80 MCS 11"],
)  # fmt: skip
def test_saturated_wlans_are_as_by_hand(  # type: ignore[no-untyped-def]
    bench, options: dict[str, Any], flows: int, up: bool, expected: float
) -> None:
    """Down from an access point, and up to it, the longest aggregates: AIFSN 3, CW 15, a block ACK at 24 Mb/s, and
    ns-3's PPDUs."""
    (line,) = bench.script(WLAN.format(options=options, flows=flows, up=up, kbps=1_400_000 // max(flows, 2)))
    delivered, counters = json.loads(line)
    assert counters["categories"]["BE"]["aifsn"] == 3
    assert delivered * 8 / 0.3e6 == pytest.approx(expected, rel=0.02)


QUEUES = """
import json
from emulation.net import Net
with Net(mode="n", mcs=7, streams=2, guard=0.4, **{options!r}) as net:
    ap, host = net.addAccessPoint("ap1"), net.addHost("h1")
    fast, slow = net.addStation("sta1"), net.addStation("sta2", streams=1, mcs=0)
    net.addLink(ap, fast, slow, cls="infrastructure")
    net.addLink(host, ap, cls="wired", bw=1000)
    for station in (fast, slow):
        net.addFlow(host, station, kind="udp", rate_kbps=60_000, datagram_bytes=1460)
    net.start()
    ran = net.run(0.5)
    files = [ap.cmd("iw dev ap1-wlan0 station get " + each.MAC()) for each in (fast, slow)]
    print(json.dumps([[flow["delivered_bytes"] * 8 / 0.5e6 for flow in ran["applications"]], files]))
"""


@pytest.mark.parametrize(
    ("options", "fast", "slow"),
    [
        ({}, 60, 3.2),  # half of the airtime each
        ({"aggregation": "none", "airtime_fairness": False}, 5.1, 5.1),  # a frame each
        ({"driver_queue": 500, "airtime_fairness": False}, 6.1, 6.1),  # as many frames of each in the queue
    ],
    ids=["fairness", "no fairness", "a queue below"],
)
def test_a_slow_client_beside_a_fast_one(bench, options: dict[str, Any], fast: float, slow: float) -> None:  # type: ignore[no-untyped-def]
    """The access point sends to each by the slower one of both ends' MCS."""
    (line,) = bench.script(QUEUES.format(options=options))
    delivered, dumps = json.loads(line)
    assert delivered == pytest.approx([fast, slow], rel=0.1)
    for rate, dump in zip(("144.4 MBit/s MCS 15", "7.2 MBit/s MCS 0"), dumps, strict=True):
        assert f"tx bitrate:\t{rate}" in dump


@pytest.mark.parametrize(
    ("rts", "before"), [("full", {"tcp_data", "tcp_ack"}), ("partial", {"tcp_data"}), ("none", set())]
)
def test_rts_by_the_length_of_mpdus(bench, rts: str, before: set[str]) -> None:  # type: ignore[no-untyped-def]
    """RTS/CTS before PPDUs of all frames, or of long ones: each end sends either data or ACKs."""
    _, (sender, receiver), *_ = play(bench, {"mode": "n", "mcs": 7, "rts": rts}, BULK)
    assert {kind for kind, of in (("tcp_data", sender), ("tcp_ack", receiver)) if of["tx"].get("rts", 0) > 50} == before


def test_less_of_a_socket_waits_with_a_larger_pacing_shift(bench) -> None:  # type: ignore[no-untyped-def]
    """TCP small queues: aggregates are shorter, as less data waits for them. Since 5.18 a short round-trip time lets
    more wait, unless a sysctl forbids it."""
    options, sizes = {"mode": "n", "mcs": 7, "sysctl": {"net.ipv4.tcp_tso_rtt_log": "0"}}, []
    for shift in (7, 14):
        _, (sender, receiver), *_ = play(bench, {**options, "pacing_shift": shift}, BULK, name=f"shift{shift}")
        sizes.append(sender["tx"]["tcp_data"] / receiver["tx"]["ack"])
    assert sizes[0] > 1.3 * sizes[1]


COLLIDING = """
import glob, json
from emulation.net import Net
with Net(mode="ac", width=80, mcs=9, aggregation="ath10k", trace=False) as net:
    ap, host = net.addAccessPoint("ap1"), net.addHost("h1")
    stations = [net.addStation(f"sta{i}", position=(20, 5 * i, 0)) for i in range(4)]
    net.addLink(ap, *stations, cls="infrastructure")
    net.addLink(host, ap, cls="wired")
    for station in stations:
        net.addFlow(station, host, kind="udp", arrivals="saturated", datagram_bytes=1460)
    net.start()
    pending = []
    def look():
        for file in glob.glob("/sys/kernel/debug/ieee80211/sta*/aql_pending"):
            pending.extend(int(line.split()[1]) for line in open(file) if line.startswith("BE"))
    for tick in range(1, 30):
        net.at(0.01 * tick, look)
    ran = net.run(0.3)
    print(json.dumps([pending, [each["counters"]["end"]["udp"] for each in ran["air"]["stations"][1:]]]))
"""


def test_aql_knows_the_fixed_mcs(bench) -> None:  # type: ignore[no-untyped-def]
    """It estimates airtime by the mode of data frames, and not by what minstrel_ht chooses after collisions."""
    (line,) = bench.script(COLLIDING)
    pending, ends = json.loads(line)
    longest_us = 70 * (MPDU + 38) * 8 / 390  # a window of MPDUs, and some overhead
    assert max(pending) < longest_us < 12_000  # AQL's limit
    assert sum(each["ACKED"] for each in ends) * PAYLOAD * 8 / 0.3e6 > 250


TOGETHER = """
import json
from emulation.net import Net
ALWAYS, FAST = {"arrivals": "saturated"}, {"rate_kbps": 120_000}
for kind, more in ((ALWAYS, False), (FAST, False), ({**ALWAYS, "batches": "off"}, False), (ALWAYS, True)):
    with Net(mode="n", mcs=7, streams=2, trace=False) as net:
        ap, station, host = net.addAccessPoint("ap1"), net.addStation("sta1", position=(20, 0, 0)), net.addHost("h1")
        net.addLink(ap, station, cls="infrastructure")
        net.addLink(host, ap, cls="wired")
        net.addFlow(station, host, kind="udp", datagram_bytes=1460, **kind)
        if more:
            net.addFlow(station, host, kind="voice")
        net.start()
        ran = net.run(0.3)
        names, values = [l.split() for l in host.cmd("cat /proc/net/snmp").splitlines() if l.startswith("Udp:")]
        flow = ran["applications"][0]["datagrams"]
        print(json.dumps([flow["arrived"], flow["reordered"], int(values[names.index("InDatagrams")])]))
"""


def test_datagrams_in_batches_pass_an_access_point_together(bench) -> None:  # type: ignore[no-untyped-def]
    """Its radio combines them, and the wire carries them so, if all flows have batches, as fast ones do."""
    in_one = []
    for arrived, reordered, packets in map(json.loads, bench.script(TOGETHER)):
        assert arrived > 0.3 * 100e6 / 8 / PAYLOAD and reordered == 0
        in_one.append(arrived / packets)
    assert min(in_one[:2]) > 5 and max(in_one[2:]) <= 1


AWAY = """
import json
from emulation.net import Net
with Net(mode="n") as net:
    a, b = (net.addStation(f"sta{i}", position=(20.0 * i, 0, 0)) for i in range(2))
    net.addFlow(a, b, kind="udp", rate_kbps=100_000, datagram_bytes=1460)
    net.start()
    net.at(0.5, lambda: net.switch(a, on=False))
    net.at(0.7, lambda: net.switch(a, on=True))
    net.at(1.2, lambda: setattr(b, "position", (9000, 0, 0)))
    net.at(1.8, lambda: setattr(b, "position", (20, 0, 0)))
    ran = net.run(2.4)
    print(json.dumps([ran["applications"][0]["delivered_bytes"], ran["air"]["stations"][0]["counters"]["end"]["udp"]]))
"""


def test_a_station_that_was_away_continues(bench) -> None:  # type: ignore[no-untyped-def]
    """A sender was off, and a receiver was out of range: frames prepared before do not block the queue."""
    (line,) = bench.script(AWAY)
    delivered, ends = json.loads(line)
    assert delivered * 8 / 1.6 > 0.75 * 60e6
    assert ends.keys() & {"RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT"} and ends["REFUSED"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "ac", "freq": 2412}, "802.11ac is at 5 GHz only, and channel 1 is at 2.4"),
        ({"mode": "ac", "mcs": 9}, "802.11ac has no MCS 9 for one stream at 20 MHz"),
        ({"mode": "n", "width": 80}, "802.11n is 20 or 40 MHz wide, not 80"),
        ({"mode": "n", "mcs": 8}, "802.11n has MCS 0 to 7 for each number of streams, not 8"),
        ({"mode": "ac", "width": 160, "mcs": 9}, "need radar detection"),
        ({"mode": "n", "freq": 5825, "width": 40}, "channel 165 is in no block of 40 MHz"),
        ({"mode": "ac", "width": 160, "freq": 5745}, "minstrel_ht does not support 160 MHz"),
        ({"mode": "ax", "mcs": 11, "guard": 0.4}, "the guard interval of 802.11ax is 0.8, 1.6 or 3.2 us"),
        ({"width": 40}, "width: give a mode, too"),
        ({"airtime_fairness": False}, "airtime_fairness: give a mode, too"),
        ({"driver_queue": 9}, "driver_queue: give a mode, too"),
        ({"mode": "n", "driver_queue": 1001}, "driver_queue: must be at most 1000"),
        ({"mode": "n", "rate": 11.0}, "802.11n sends data at an MCS"),
        ({"mode": "n", "edca": "off"}, "802.11n always has EDCA"),
        ({"mode": "n", "reception": "sinr", "per": PER}, "wmediumd's tables have no MCS"),
        pytest.param({"mode": "n", "medium": "wmediumd"}, "legacy rates only", marks=needs("wmediumd")),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(options: dict[str, Any], words: str) -> None:
    from emulation.specification import explain, specify

    with pytest.raises(ValueError) as refused:
        specify("string", options)
    assert words in "; ".join(explain(refused.value))


def test_an_independent_bss_has_no_80211ax() -> None:
    from emulation.plan import Misuse, plan
    from emulation.specification import specify

    with pytest.raises(Misuse, match="an independent BSS cannot be of 802"):
        plan(specify("string", {"mode": "ax", "mcs": 5}))


BESIDE = """
import json
from emulation.net import Net
with Net() as net:
    ap, host = net.addAccessPoint("ap1", **{ap!r}), net.addHost("h1")
    new, old = net.addStation("sta1", position=(20, 0, 0)), net.addStation("sta2", position=(0, 20, 0), **{old!r})
    net.addLink(ap, new, old, cls="infrastructure")
    net.addLink(host, ap, cls="wired")
    for station in (new, old):
        net.addFlow(host, station, kind="udp", rate_kbps=100_000, datagram_bytes=1460)
    net.start()
    ran = net.run(1)
    print(json.dumps([[flow["delivered_bytes"] * 8 / 1e6 for flow in ran["applications"]],
                      ran["air"]["stations"][0]["counters"]["tx"],
                      [ap.cmd("iw dev ap1-wlan0 station get " + each.MAC()) for each in (new, old)]]))
"""


@pytest.mark.parametrize(
    ("ap", "old", "rates", "protected"),
    [
        ({"mode": "n", "channel": 36, "mcs": 7}, {"mode": "a"}, ("65.0 MBit/s MCS 7", "54.0 MBit/s"), None),
        ({"mode": "n", "channel": 36, "mcs": 7, "aggregation": "mt76"}, {"mode": "a"}, ("65.0", "54.0"), "rts"),
        ({"mode": "n", "channel": 1, "mcs": 7}, {"mode": "b"}, ("65.0 MBit/s MCS 7", "11.0 MBit/s"), "cts"),
        ({"mode": "ac", "channel": 149, "width": 80, "streams": 2, "mcs": 9}, {"mode": "n", "streams": 1, "mcs": 7},
         ("780.0 MBit/s VHT-MCS 9 80MHz VHT-NSS 2", "135.0 MBit/s MCS 7 40MHz"), None),
    ],
    ids=["a", "a, HT Protection", "b, CTS-to-self", "n at ac"],
)  # fmt: skip
def test_older_stations_beside_newer(bench, ap: Any, old: Any, rates: Any, protected: str | None) -> None:  # type: ignore[no-untyped-def]
    """Each has its own rates, and equal shares of airtime; the access point protects as its driver does."""
    (line,) = bench.script(BESIDE.format(ap=ap, old=old))
    delivered, sent, dumps = json.loads(line)
    for rate, dump in zip(rates, dumps, strict=True):
        assert f"tx bitrate:\t{rate}" in dump
    assert delivered[0] > delivered[1] > 2
    for kind in ("rts", "cts"):
        assert (sent.get(kind, 0) > 50) == (kind == protected), sent
