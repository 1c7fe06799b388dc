# SPDX-License-Identifier: BSD-3-Clause
"""Nodes, interfaces and links in the lane; without the air, when all radios hear each other perfectly."""

import json
from pathlib import Path

import pytest

from emulation.lanes.virtual import LaneError

THREE = """
from emulation.net import Adhoc, Mesh, Net
net = Net(rts="partial", tcp="vegas")
a, b, c = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3))
net.addFlow(a, c, bytes=200_000)
"""


def test_a_station_is_a_namespace_with_one_radio(bench):
    """`ip netns` knows it, and a program in it sees its own interface only."""
    lines = bench.script(
        THREE
        + """
with net:
    net.start()
    import subprocess
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    print(sorted(line.split()[0] for line in listed.splitlines()))
    print(b.cmd("ip -brief link | cut -d' ' -f1").split(), b.IP(), b.MAC())
    print(b.radio.state())
""",
        air=False,
    )
    assert lines[0] == "['sta1', 'sta2', 'sta3']"
    assert lines[1] == "['lo', 'sta2-wlan0'] 10.0.0.2 02:00:00:00:00:02"
    assert lines[2] == "{'type': 'ibss', 'freq': 2412, 'rts_threshold': 400}"


@pytest.mark.parametrize("link", ["Adhoc", pytest.param("Mesh", marks=pytest.mark.quick)])
def test_stations_reach_each_other(bench, link):
    """Over two hops: the routes are static, so the middle station forwards."""
    lines = bench.script(
        THREE
        + f"""
from traffic.ping import ping
net.addLink(a, b, c, cls={link}, ssid="lab", freq=2437, beacon_tu=1000)
with net:
    net.start()
    print([rtt is not None for _, _, rtt in ping(a, c.IP(), count=3)], [ttl for _, ttl, _ in ping(a, c.IP(), count=1)])
    print(a.radio.state()["freq"], sorted(b.radio.peers() & {{a.MAC(), c.MAC()}}) == [a.MAC(), c.MAC()])
""",
        air=False,
    )
    assert lines == ["[True, True, True] [63]", "2437 True"]


@pytest.mark.parametrize("link", ["adhoc", "mesh"])
def test_the_slot_is_the_kernels(bench, link):
    """ERP uses the short slot if mac80211 does, which nl80211 reports for each station of the BSS."""
    lines = bench.script(
        f"""
from emulation.lane.interfaces.radio import DUMP, GET_STATION, IFINDEX, STATION_INFO, parse
from emulation.net import Net
BSS_PARAMETERS, SHORT_SLOT = 15, 3  # enum nl80211_sta_info, enum nl80211_sta_bss_param
net = Net(rate=54, link="{link}")
a, b = (net.addStation(f"sta{{i}}", position=(100.0 * i, 0, 0)) for i in (1, 2))
with net:
    net.start()
    found = a.radio.nl80211.command("nl80211", GET_STATION, [(IFINDEX, a.radio.index)], DUMP)
    short = [SHORT_SLOT in parse(parse(station[STATION_INFO])[BSS_PARAMETERS]) for station in found]
    print(short, net.plan["air"]["slot_ns"])
""",
        air=False,
    )
    assert lines == {"adhoc": ["[False] 20000"], "mesh": ["[True] 9000"]}[link]


def test_settings_are_read_back_with_their_defaults(bench):
    """Every setting that differs from the kernel's default is in the result."""
    (line,) = bench.script(
        THREE + "with net:\n    net.start()\n    import json; print(json.dumps(net.run(1.0)['settings']))\n", air=False
    )
    settings = {(s["where"], s["what"]): (s["value"], s["default"]) for s in json.loads(line)}
    assert settings["sta1", "net.ipv4.tcp_sack"] == ("0", "1")
    assert settings["sta2", "rts threshold"] == (400, None)
    assert settings["sta3", "route 10.0.0.1 quickack"] == (1, 0)
    assert settings["sta3", "rates (100 kb/s)"] == ([20], "all")
    assert settings["kernel", "tcp_vegas.alpha"] == ("1", "2")


def test_everything_goes_away(bench):
    """Radios, namespaces and their names, after a stop and after a failure half way."""
    lines = bench.script(
        THREE
        + """
import os
def left():
    return os.listdir("/run/netns"), os.listdir("/sys/class/ieee80211"), len(os.listdir("/proc/self/fd"))
with net:
    net.start()
    print(left()[:2])
before = left()
print(before[:2])
net["sta3"].radio.plan["address"] = "02:00:00:00:00:01"  # taken
try:
    net.start()
except OSError as error:
    print(type(error).__name__)
print(left() == before)
net["sta3"].radio.plan["address"] = "02:00:00:00:00:03"
with net:
    net.start()
    print("again")
""",
        air=False,
    )
    assert "sta3" in lines[0]
    assert lines[1] == "([], [])"
    assert lines[2:] == ["NetlinkError", "True", "again"]


def test_a_setting_that_does_not_hold_is_an_error(bench):
    bench.plan(stations=2)
    plan = json.loads((bench.folder / "plan.json").read_text())
    plan["nodes"][1]["sysctl"]["net.ipv4.tcp_sak"] = "1"
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(LaneError, match=r"sta2: cannot set net\.ipv4\.tcp_sak to 1: No such file"):
        bench.run("plan")
    assert bench.result() == {
        "version": 3, "ok": False, "error": "sta2: cannot set net.ipv4.tcp_sak to 1: No such file or directory"
    }  # fmt: skip


def test_a_neighbour_out_of_range_is_an_error(bench):
    plan = bench.plan(stations=3)
    plan["nodes"][0]["interfaces"][0]["neighbours"]["10.0.0.3"] = "02:00:00:00:00:03"
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(LaneError, match=r"sta1 does not hear its neighbours 10\.0\.0\.3"):
        bench.run("plan")


def test_a_node_leaves_its_link_and_comes_back(bench):
    """With its rates, its routes and its neighbours."""
    lines = bench.script(
        THREE
        + """
from traffic.ping import ping
with net:
    net.start()
    link, before = net.link_of(b.radio), b.cmd("ip route; ip neigh")
    def heard():
        return next(ping(a, c.IP()))[2] is not None
    print(heard())
    link.leave(b.radio)
    print(heard(), b.cmd("ip route").split())
    link.rejoin(b.radio)
    next(ping(b, a.IP()))  # ARP finds the neighbour meanwhile
    net.routing.restore(b)
    print(heard(), b.cmd("ip route; ip neigh") == before)
"""
    )
    assert lines == ["True", "False []", "True True"]


def test_without_routing_a_node_reaches_those_it_hears(bench):
    """By ARP; a node without neighbours is no error."""
    lines = bench.script("""
from emulation.net import Net
from traffic.ping import ping
net = Net(routing="none")
a, b, c, far = (net.addStation(f"sta{i}", position=(x, 0, 0)) for i, x in enumerate((0, 200, 400, 9000)))
with net:
    net.start()
    print([next(ping(a, other.IP()))[2] is not None for other in (b, c, far)], repr(a.cmd("ip route | grep via")))
    print(net.heard_by(far))
""")
    assert lines == ["[True, False, False] ''", "[]"]


def test_what_a_node_knows_of_its_connections(bench):
    """Those of any program, from the kernel."""
    (line,) = bench.script("""
import socket
from emulation.net import Net
net = Net()
a, b = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in (1, 2))
with net:
    net.start()
    with b:
        server = socket.create_server(("", 7000))
    with a:
        client = socket.create_connection((b.IP(), 7000))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    (mine,) = a.connections(7000)
    print(mine["state"], mine["congestion"], mine["bytes_acked"], a.connections(7001))
""")
    assert line == "1 reno 1 []"


def test_the_documentations_script(bench):
    """As written: the printed routes, and delivered bytes."""
    text = (Path(__file__).parents[2] / "docs/scripts.md").read_text()
    (script,) = [block for part in text.split("```python\n")[1:] if "import Adhoc" in (block := part.split("```")[0])]
    lines = bench.script(script)
    assert "10.0.0.3 via 10.0.0.2" in "\n".join(lines)
    assert int(lines[-1]) > 100_000
