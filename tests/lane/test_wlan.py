# SPDX-License-Identifier: BSD-3-Clause
"""Access points, wires and switches in a lane: hostapd, wpa_supplicant, the kernel's bridge and netem."""

import json
import re
import shutil

import pytest

from analysis.taps import compare, phy
from analysis.traces import pcapng, trace
from emulation.lanes.virtual import LaneError

PASSPHRASE = "correct horse"
SECURED = f'security="{{}}", passphrase="{PASSPHRASE}"'
WLAN = """
import json
from emulation.net import Infrastructure, Net, Wired
from traffic.ping import ping
net = Net(rate=11, seconds=2, {net})
ap, a, h = net.addAccessPoint("ap1"), net.addStation("sta1", position="20,0,0"), net.addHost("h1")
b = net.addStation("sta2", position=(0, {at}, 0), {sta2})
net.addLink(ap, a, b, cls=Infrastructure, ssid="lab", {link})
net.addLink(ap, h, cls=Wired, delay="2ms")
net.addFlow(a, h); net.addFlow(h, a)
with net:
    net.start()
    found = [[round(rtt * 1e3) for _, _, rtt in ping(x, y.IP(), count=2) if rtt] for x, y in ((a, h), (h, a), (a, b))]
    result = net.run()
    events = result["recorders"]["associations"]["events"]
    print(json.dumps([found, [(e["node"], e["ap"]) for e in events]]))
    print(json.dumps([one["delivered_bytes"] for one in result["applications"]]))
    counters = [station["counters"]["tx"] for station in result["air"]["stations"]]
    print(json.dumps({{kind: n for each in counters for kind, n in each.items()}}))
"""


def wlan(net="", link="", sta2="", at=30):
    return WLAN.format(net=net, link=link, sta2=sta2, at=at)


@pytest.mark.parametrize("security", ["open", pytest.param("wpa2", marks=pytest.mark.quick), "wpa3"])
def test_clients_connect_and_reach_each_other_and_the_wire(bench, security):
    """Through the access point; the round trip has the wire's 2 ms twice. Encrypted frames are counted as such, and
    nothing is guessed."""
    found, delivered, sent = map(json.loads, bench.script(wlan(link=SECURED.format(security) * (security != "open"))))
    (up, down, across), joined = found
    assert len(up) == len(down) == len(across) == 2 and all(4 < rtt < 12 for rtt in up + down), found
    assert joined == [["sta1", "ap1"], ["sta2", "ap1"]]
    assert min(delivered) > 100_000
    assert ("encrypted" in sent) == (security != "open") == ("tcp_data" not in sent)


DRAWN = "import os\nprint(os.urandom(8).hex(), json.dumps(events))"


def test_the_same_wlan_twice_is_the_same_to_the_byte(bench):
    """Keys, nonces and scans, too, depend on the seed. If a trace differs, random numbers and times say where from."""
    printed, traces = [], []
    for _ in range(2):
        printed.append(list(bench.script(wlan(link=SECURED.format("wpa2")) + DRAWN)))
        traces.append((bench.folder / "run1-1" / "air.trace").read_bytes())
        shutil.rmtree(bench.folder / "run1-1")
    assert printed[0] == printed[1]
    assert next((at for at, (one, other) in enumerate(zip(*traces, strict=True)) if one != other), None) is None
    assert len(traces[0]) > 100_000


@pytest.mark.parametrize("security", ["wpa2", "wpa3"])
def test_a_wrong_passphrase_is_reported(bench, security):
    with pytest.raises(LaneError, match="sta2 cannot connect to lab: its passphrase is not that of the access point"):
        bench.script(wlan(link=SECURED.format(security), sta2='passphrase="wrong horse"'))


def test_a_wrong_passphrase_may_be_wanted(bench):
    found, delivered, _ = map(
        json.loads, bench.script(wlan("unreachable=True", SECURED.format("wpa2"), 'passphrase="wrong horse"'))
    )
    assert found[0][2] == [] and found[1][0] == ["sta1", "ap1"] and ["sta2", "ap1"] not in found[1]
    assert min(delivered) > 100_000


BETWEEN = """
from emulation.net import Infrastructure, Net, Wired
net = Net(rate=11)
aps = [net.addAccessPoint(f"ap{i}", position=(50 * i, 0, 0)) for i in range(2)]
a, b = (net.addStation(f"sta{i}", position=(25 + i, 3, 0)) for i in range(2))
net.addLink(*aps, a, b, cls=Infrastructure, ssid="lab")
net.addLink(*aps, cls=Wired)
with net:
    net.start()
    print([len(ap.radio.peers()) for ap in aps], " 0% packet loss" in a.cmd(["ping", "-c", "1", b.IP()]))
"""


def test_stations_between_two_access_points_find_one(bench):
    """Both answer a probe request in one instant, and are received equally well."""
    assert bench.script(BETWEEN) == ["[1, 1] True"]


def test_a_station_out_of_range_keeps_the_others_from_nothing(bench):
    found, delivered, _ = map(json.loads, bench.script(wlan("unreachable=True", at=2000)))
    assert found[0][2] == [] and found[1] == [["sta1", "ap1"]] and min(delivered) > 100_000


def test_hostapds_death_ends_the_run(bench):
    with pytest.raises(LaneError, match="ap1: hostapd has ended, killed by signal 9"):
        bench.script(
            wlan().replace(
                "    result = net.run()",
                "    net.at(1, lambda: net.links['link1'].programs.running[0].process.kill())\n    result = net.run()",
            )
        )


HANDOVER = """
import json
from emulation.net import Infrastructure, Net, Wired
net = Net(rate=11, seconds=50, thresholds=dict(receive_dbm=-85, sense_dbm=-95, capture_db=10))
aps = [net.addAccessPoint(f"ap{i}", position=(1200 * i, 0, 0)) for i in range(2)]
a, s, h = net.addStation("sta1", position=(20, 0, 0)), net.addSwitch("s1"), net.addHost("h1")
net.addLink(*aps, a, cls=Infrastructure, ssid="lab", security="wpa2", passphrase="correct horse")
for ap in aps:
    net.addLink(ap, s, cls=Wired)
net.addLink(s, h, cls=Wired, delay="2ms")
net.addFlow(h, a)
with net:
    net.start()
    a.move((1190, 0, 0), 30)
    result = net.run()
    events = result["recorders"]["associations"]["events"]
    print(json.dumps([(event["at_ns"] - result["started_ns"], event["ap"]) for event in events]))
    print(result["applications"][0]["delivered_bytes"])
"""


RING = """
from emulation.net import Net, Wired
net = Net()
s1, s2, s3 = (net.addSwitch(f"s{i}", bridge="BRIDGE", stp=True) for i in (1, 2, 3))
h1, h2 = net.addHost("h1"), net.addHost("h2")
for a, b in ((h1, s1), (s1, s2), (s2, s3), (s3, s1), (h2, s3)):
    net.addLink(a, b, cls=Wired)
with net:
    net.start()
    print(h1.cmd(["sleep", "60"]), h1.cmd(["ping", "-c", "3", h2.IP()]))
    print(s2.cmd("cat /sys/class/net/s2-eth0/statistics/rx_packets").strip())
"""


@pytest.mark.parametrize("bridge", ["linux", "ovs"])
def test_a_spanning_tree_cuts_a_loop(bench, bridge):
    lines = bench.script(RING.replace("BRIDGE", bridge))
    assert any(" 0% packet loss" in line for line in lines)
    assert int(lines[-1]) < 1000  # packets: a storm has millions


def test_open_vswitch_learns_where_a_station_is(bench):
    """As the kernel's bridge does; a script can read it."""
    asked = """    print(s.cmd("ovs-ofctl dump-flows s1-br0").split("actions=")[-1].strip())
    print(a.MAC() in s.cmd("ovs-appctl fdb/show s1-br0"))
"""
    text = HANDOVER.replace('addSwitch("s1")', 'addSwitch("s1", bridge="ovs")').replace("seconds=50", "seconds=2")
    events, delivered, action, known = bench.script(text + asked)
    assert [ap for _, ap in json.loads(events)] == ["ap0"] and int(delivered) > 500_000
    assert (action, known) == ("NORMAL", "True")


@pytest.mark.parametrize("bridge", ["linux", "ovs"])
def test_a_station_that_moves_is_handed_over(bench, bridge):
    """By signal, and never without an access point: its radio still receives signals that wpa_supplicant does not call
    good. The switch learns the new place, and the flow continues.

    Open vSwitch learns the old place again from the counters of its old flows, until the station sends."""
    text = re.sub(r'(add(?:AccessPoint|Switch)\(f?"\w+(?:{i})?")', rf'\1, bridge="{bridge}"', HANDOVER)
    assert text.count("bridge=") == 2
    events, delivered = map(json.loads, bench.script(text))
    assert [ap for _, ap in events] == ["ap0", "ap1"]
    assert 15e9 < events[1][0] < 30e9  # half way is at 19.7 s
    assert delivered > (15_000_000 if bridge == "linux" else 10_000_000)


def test_a_link_that_is_lost_is_mended(bench):
    """Under the papers' thresholds all received signals are good, so a client roams when it receives nothing more."""
    text = HANDOVER.replace(", thresholds=dict(receive_dbm=-85, sense_dbm=-95, capture_db=10)", "")
    events, delivered = map(
        json.loads, bench.script(text.replace("1200", "400").replace("(1190", "(380").replace("30)", "10)"))
    )
    assert [ap for _, ap in events] == ["ap0", None, "ap1"] and delivered > 15_000_000


LEFT = """
import json
from emulation.net import Infrastructure, Net, Wired
from traffic.ping import ping
net = Net(rate=11, seconds=50, unreachable=True)
aps = [net.addAccessPoint(f"ap{{i}}", position=(400 * i, 0, 0)) for i in range(2)]
a, b, s = net.addStation("sta1", position=(20, 0, 0)), net.addStation("sta2", position=(10, 0, 0)), net.addSwitch("s1")
net.addLink(*aps, a, b, cls=Infrastructure, ssid="lab")
for ap in aps:
    net.addLink(ap, s, cls=Wired)
with net:
    net.start()
    a.move((380, 0, 0), 10)
    {passed}
    print(json.dumps([rtt is not None for x, y in ((a, b), (b, a)) for _, _, rtt in ping(x, y.IP(), count=1)]))
    print(json.dumps([len(ap.radio.peers()) for ap in aps]))
"""


@pytest.mark.parametrize("passed", ["net.run()", 'b.cmd("sleep 50")'])
def test_an_access_point_drops_a_station_that_is_at_another(bench, passed):
    """Otherwise it would send its frames into its own cell; also outside a measurement."""
    reached, peers = map(json.loads, bench.script(LEFT.format(passed=passed)))
    assert reached == [True, True] and peers == [1, 1]


WIRED = """
import json
from emulation.net import Net, Wired
from traffic.ping import ping
net = Net(seconds=5)
a, b, c, s = net.addHost("h1"), net.addHost("h2"), net.addStation("gw", position=(0, 0, 0)), net.addSwitch("s1")
far = net.addStation("sta1", position=(100, 0, 0))
net.addLink(a, s, cls=Wired, delay="3ms")
net.addLink(b, s, cls=Wired, delay="500us", bw=8)
net.addLink(c, s, cls=Wired)
net.addFlow(a, b)
net.addFlow(a, far)
with net:
    net.start()
    print(json.dumps([round(rtt * 1e6) for _, _, rtt in ping(a, b.IP(), count=2)]))
    print(json.dumps([ttl for _, ttl, _ in ping(a, far.IP(), count=1)]))
    result = net.run()
    print(json.dumps([one["delivered_bytes"] * 8 / 5 for one in result["applications"]]))
    print(c.cmd("ip -brief address"), a.cmd("ip route"))
"""


def test_wires_take_their_time_to_the_microsecond(bench):
    """And have their rate: 8 Mb/s of Ethernet frames. A station with a wire routes between it and the air."""
    rtt, ttl, rates, *said = bench.script(WIRED)
    assert json.loads(ttl) == [63]
    first, second = json.loads(rtt)
    assert first == second == 7000 + 2 * 98  # 98 bytes at 8 Mb/s, each way
    wired, _ = json.loads(rates)
    assert 7.4e6 < wired < 8e6 * 1460 / 1514 + 1
    assert "10.0.0.3/24" in "".join(said) and "10.0.0.3/32" in "".join(said)


def test_clients_find_an_access_point_again(bench):
    """After it was off for a while: the kernel's client by a new request, wpa_supplicant by itself."""
    for link in ("", 'client="wpa_supplicant"'):
        text = wlan("unreachable=True" * bool(link), link).replace("seconds=2", "seconds=30")
        switch = "    for at, on in ((5, False), (10, True)): net.at(at, lambda on=on: net.switch(ap, on=on))\n"
        lines = bench.script(
            text.replace("    result =", switch + "    result =")
            + "    print([rtt is not None for x in (a, b) for _, _, rtt in ping(h, x.IP(), count=1)])\n"
        )
        assert lines[-1] == "[True, True]", link
        shutil.rmtree(bench.folder / "run1-1")


SCAN = """
import json
from emulation.net import Infrastructure, Net, Wired
net = Net(rate=11, seconds=4, window_limit=8, edca={edca!r})
near, far = net.addAccessPoint("ap1"), net.addAccessPoint("ap2", position=(100, 0, 0))
a, b, h = net.addStation("sta1", position="20,0,0"), net.addStation("sta2", position="80,0,0"), net.addHost("h1")
net.addLink(near, a, cls=Infrastructure, ssid="lab")
net.addLink(far, b, cls=Infrastructure, ssid="far", freq=2437)
net.addLink(near, h, cls=Wired)
net.addLink(far, h, cls=Wired)
net.addFlow(a, h); net.addFlow(b, h)
with net:
    net.start()
    scans, ask = [], "iw dev sta1-wlan0 scan freq 2412 2437 | grep SSID:"
    for at in (1, 2):
        net.at(at, lambda: scans.append(a.popen(ask, stdout=-1)))
    result = net.run()
    print(json.dumps([one["delivered_bytes"] for one in result["applications"]]))
    print(json.dumps(sorted(b"".join(scan.communicate()[0] for scan in scans).decode().split())))
"""


@pytest.mark.skipif(not shutil.which("iw"), reason="iw is not installed")
@pytest.mark.parametrize("edca", ["off", "kernel"])
def test_a_scan_amid_traffic_loses_none_of_it(bench, edca):
    """Queued frames are sent on the client's own channel, probes on the other; and the taps agree."""
    delivered, found = bench.script(SCAN.format(edca=edca))
    assert min(json.loads(delivered)) > 500_000
    assert json.loads(found) == ["SSID:"] * 4 + ["far"] * 2 + ["lab"] * 2
    folder = bench.folder / "run1-1"
    plan, lane = (json.loads((folder / name).read_text()) for name in ("plan.json", "lane.json"))
    tx, module = trace.read(folder / "air.trace").tx, [station["counters"] for station in lane["air"]["stations"]]
    away = tx[(tx["station"] == 2) & (tx["freq"] == 2437)]  # a's radio
    assert len(away) >= 2 and set(away["kind"]) <= {trace.Kind.MANAGEMENT, trace.Kind.ACK}
    ends = {why for counters in module for kind in ("tcp_data", "tcp_ack") for why in counters["end"].get(kind, ())}
    assert ends == {"ACKED"}
    pcapng.write(trace.read(folder / "air.trace"), phy.radios(plan), folder)
    apart = compare.differences(compare.counters(folder / pcapng.AIR, plan, lane["changes"]), module)
    assert [one for one in apart if edca == "off" or "retries" not in one] == []  # collisions inside are not on the air


FRAGMENTS = """
import json
from emulation.net import Infrastructure, Net, Wired
net = Net(rate=11, seconds=2, window_limit=8)
ap, a, h = net.addAccessPoint("ap1"), net.addStation("sta1", position="20,0,0"), net.addHost("h1")
net.addLink(ap, a, cls=Infrastructure, ssid="lab")
net.addLink(ap, h, cls=Wired)
net.addFlow(a, h)
with net:
    net.start()
    a.cmd("iw phy $(cat /sys/class/net/sta1-wlan0/phy80211/name) set frag 600")
    print(json.dumps(net.run()["applications"][0]["delivered_bytes"]))
"""


@pytest.mark.skipif(not shutil.which("iw"), reason="iw is not installed")
def test_fragments_are_sent_in_bursts(bench):
    """mac80211 splits a segment into three, with SIFS, ACK and SIFS between them, and the access point's mac80211 joins
    them."""
    (delivered,) = map(json.loads, bench.script(FRAGMENTS))
    folder = bench.folder / "run1-1"
    plan, lane = (json.loads((folder / name).read_text()) for name in ("plan.json", "lane.json"))
    module = [station["counters"] for station in lane["air"]["stations"]]
    whole = module[1]["end"]["tcp_data"]["ACKED"]
    assert delivered > 500_000 and abs(delivered // 1460 - whole) <= 1
    assert set(module[1]["end"]["tcp_data"]) == {"ACKED"} and module[1]["end"]["other"]["ACKED"] >= 2 * whole - 2
    tx = trace.read(folder / "air.trace").tx
    mine = tx[(tx["station"] == 1) & (tx["kind"] != trace.Kind.ACK)]
    gap = mine["start_ns"][1:] - (mine["start_ns"] + mine["duration_ns"])[:-1]
    goes_on = (mine["kind"] == trace.Kind.TCP_DATA)[:-1]
    assert set(gap[goes_on & (mine["attempt"][1:] == 1)].tolist()) <= {304_000 + 2 * 10_000 + 2 * 67}
    pcapng.write(trace.read(folder / "air.trace"), phy.radios(plan), folder)
    assert compare.differences(compare.counters(folder / pcapng.AIR, plan, lane["changes"]), module) == []
