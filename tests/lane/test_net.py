# SPDX-License-Identifier: BSD-3-Clause
"""Nodes, interfaces and links in the lane; without the air, when all radios hear each other perfectly."""

import json

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


@pytest.mark.parametrize("link", ["Adhoc", "Mesh"])
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
    """Radios, namespaces and their names, whether the network was stopped or failed half way."""
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
        "version": 2, "ok": False, "error": "sta2: cannot set net.ipv4.tcp_sak to 1: No such file or directory"
    }  # fmt: skip


def test_a_neighbour_out_of_range_is_an_error(bench):
    plan = bench.plan(stations=3)
    plan["nodes"][0]["interfaces"][0]["neighbours"]["10.0.0.3"] = "02:00:00:00:00:03"
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(LaneError, match=r"sta1 does not hear its neighbours 10\.0\.0\.3"):
        bench.run("plan")
