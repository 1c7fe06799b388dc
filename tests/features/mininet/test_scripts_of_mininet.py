# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified scripts in the style of Mininet-WiFi's users, and their results."""

import importlib
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from analysis.taps import compare
from emulation.cli.main import cli
from emulation.features.film.of_runs import PICTURE
from emulation.features.film.runs import of_run
from emulation.features.mininet import access, hostapd, kinds, net, packages, place, topo, util
from emulation.lane import errors, programs
from emulation.lane.errors import Misuse
from emulation.lanes import CHECKOUT, LaneError, Reason
from tests.features.mininet.conftest import run


def after(lines, begin):
    """Return the rest of the lines with this prefix."""
    return [line.removeprefix(begin).strip() for line in lines if line.startswith(begin)]


@pytest.mark.quick
def test_two_stations_at_an_access_point(stage):
    lines = stage.play("two_stations", kept=True, typed=["links", "sta1 cd /run", "sta1 pwd", "distance sta1 sta2"])
    assert after(lines, "ap1-wlan1") == ["Connected to 02:00:00:00:02:00 (on sta1-wlan0)"]
    assert "10.0.0.2/8 10.0.0.2 00:00:00:00:00:02 02:00:00:00:02:00 ['ap1-wlan1']" in lines
    assert "sta1 -> sta2 " in lines and "*** Results: 0% dropped (2/2 received)" in lines
    at = lines.index("*** Starting CLI:")
    assert lines[at + 1 :] == [
        "sta1-wlan0<->ap1-wlan1 (OK OK)", "sta2-wlan0<->ap1-wlan1 (OK OK)", "/run",
        "The distance between sta1 and sta2 is 40.00 meters",
    ]  # fmt: skip
    (run,) = stage.found.result.runs
    assert run.flows[0].source == "sta1" and run.trace and (stage.folder / run.trace).stat().st_size > 100_000


def test_an_ad_hoc_string(stage):
    lines = stage.play("adhoc_string", typed=["sta2 iw dev sta2-wlan0 info"])
    assert "lost 33 percent" in lines and "over the middle: 63" in lines
    assert len(after(lines, "*** dcflab: ht_cap='HT40+': ")) == 1
    assert "\ttype IBSS" in lines and "\tssid adhocNet" in lines
    assert any(re.match(r"\tchannel 5 \(2432 MHz\)", line) for line in lines)


def test_a_mesh(stage):
    lines = stage.play("mesh")
    assert "lost 0 percent" in lines
    assert after(lines, "next hop") == after(lines, "sta2 is")


@pytest.mark.parametrize("same", [(), ("-s",)], ids=["two names", "one name"])
def test_handover(stage, same):
    lines = after(stage.play("handover", *same, kept=not same), "at ")
    assert lines[0] == "40 on ap1-wlan1 lost 0" and lines[-1] == "160 on ap2-wlan1 lost 0"
    if not same:
        assert {"film.html", PICTURE} <= {file.name for file in (stage.folder / "session1-1").iterdir()}
    moves = [int(line.split()[0]) for line in lines]
    assert moves == sorted(moves) and len(set(moves)) == 5


def test_a_cell_that_a_station_has_left_keeps_nothing_for_it(stage):
    """An access point drops a station when the distribution system reports it elsewhere."""
    here, *there = after(stage.play("left_cell"), "lost ")
    assert here == "0 at ['sta1', 'sta2'] []"
    assert there == ["0 at ['sta2'] ['sta1']"] * 2


def test_coordinates(stage):
    paths = [line.split() for line in stage.play("coordinates")]
    assert [one for one, _ in paths[:5]] == ["(10,10)", "(15,10)", "(20,10)", "(20,15)", "(20,20)"]
    assert [one for one, _ in paths[6:]] == ["(20,20)", "(20,15)", "(20,10)", "(15,10)", "(10,10)"]
    assert [other for _, other in paths[:5]] == ["(0,0)", "(0,0)", "(0,15)", "(0,30)", "(0,30)"]


def test_wpa2(stage):
    lines = stage.play("wpa2")
    assert after(lines, "sta")[:3] == ["1 on ap1-wlan1", "2 on none", "3 on ap1-wlan1"]
    assert "lost 0 and 100" in lines and "['key_mgmt=WPA2-PSK', 'wpa_state=COMPLETED']" in lines
    assert after(lines, "roam") == ["OK", "ed to ap2-wlan1"] and after(lines, "sent to") == ["ap2-wlan1"]
    assert after(lines, "by pin") == ["ap3-wlan1"]


SCANNING = """
from time import sleep
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
net.setPropagationModel(exp=3.5)
for i, channel in (1, 1), (2, 6):
    net.addAccessPoint(f"ap{i}", ssid="x", channel=channel, position=f"{50 * i},0,0", failMode="standalone")
net.addLink("ap1", "ap2")
net.addStation("sta1", position="50,5,0", bgscan_module="simple", s_inverval=2, bgscan_threshold=-20, l_interval=10)
net.addStation("sta2", position="50,6,0")
net.start()
for sta in net.stations:
    sta.setPosition("95,5,0")
sleep(6)
print("on", [str(sta.wintfs[0].associatedTo) for sta in net.stations])
net.stop()
"""


def test_a_station_looks_for_a_better_access_point_as_it_is_told(stage):
    """For the other station its own is strong enough."""
    lines = stage.play(SCANNING)
    assert after(lines, "on ") == ["['ap2-wlan1', 'ap1-wlan1']"]


FAR = """
from mininet.net import Mininet
from mininet.link import TCLink
net = Mininet(link=TCLink)
net.addLink(net.addHost("h1"), net.addHost("h2"), bw=100, delay="30ms")
net.start()
print("rate", net.iperf(fmt="m")[0])
net.stop()
"""


def test_iperf_fills_a_long_wire(stage):
    """With the buffers of a machine, which grow; those of the papers' flows carry 17 Mb/s over 60 ms."""
    (rate,) = after(stage.play(FAR), "rate ")
    assert 75 < float(rate.split()[0]) < 100


JUMPS = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
net.setPropagationModel(exp=5)
sta1 = net.addStation("sta1", position="20,30,0")
sta2 = net.addStation("sta2", wlans=2, position="56,31,0")
net.addAccessPoint("ap1", ssid="one", channel=1, position="15,30,0", failMode="standalone")
net.addAccessPoint("ap2", ssid="other", channel=6, position="55,30,0", failMode="standalone")
r1 = net.addStation("r1", position="300,300,0")
r1.setMasterMode(intf="r1-wlan0", ssid="third", channel=11, mode="g")
net.addLink(r1, net.addHost("h1"))
net.build()
on = sta1.wintfs[0]
for x in 20, 40, 70, 900, 20:
    sta1.setPosition(f"{x},30,0")
    print("at", x, on.associatedTo or "none")
print("radios", [str(intf.associatedTo) for intf in sta2.wintfs.values()])
r1.setIP("10.9.0.1/24", intf="r1-eth1")
print("wire", r1.IP("r1-eth2"), r1.cmd("ip -4 -o addr show dev r1-eth1").split()[3])
net.stop()
"""


def test_a_station_joins_where_it_is_put(stage):
    """Before the script goes on, as in Mininet-WiFi. A station without links joins with all of its radios; and the one
    wire of a station that is an access point answers to its newer name, too."""
    lines = stage.play(JUMPS)
    assert after(lines, "at ") == ["20 ap1-wlan1", "40 ap1-wlan1", "70 ap2-wlan1", "900 none", "20 ap1-wlan1"]
    assert after(lines, "radios ") == ["['ap2-wlan1', 'ap2-wlan1']"]
    assert after(lines, "wire ") == ["10.9.0.1 10.9.0.1/24"]


CONNECTING = """
from time import sleep
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi(autoAssociation={})
sta1, sta2 = net.addStation("sta1"), net.addStation("sta2")
r1 = net.addStation("r1", wlans=2)
for number, channel in enumerate((1, 6)):
    r1.setMasterMode(intf=f"r1-wlan{{number}}", ssid=f"net-{{number}}", channel=channel, mode="g")
net.build()
for number, sta in enumerate((sta1, sta2)):
    sta.cmd(f"iw dev {{sta}}-wlan0 connect net-{{number}}")
sleep(1)
print("on", [sta.wintfs[0].associatedTo.name for sta in net.stations if sta is not r1])
sta1.cmd("sudo brctx addbr x > /dev/null 2>&1; sudo A=1 true")
net.stop()
"""


@pytest.mark.parametrize("by_itself", [False, True])
def test_iw_connects_a_station_wherever_it_is(stage, by_itself):
    """Soon, and also one that had joined another network. A missing program is said also behind `sudo`."""
    lines = stage.play(CONNECTING.format(by_itself))
    assert after(lines, "on ") == ["['r1-wlan0', 'r1-wlan1']"]
    assert [line for line in lines if "there is no" in line] == [
        "*** dcflab: sta1: there is no brctx on this machine: install the package brctx"
    ]


def test_mediums_have_no_effect(installed, capsys):
    exec(BEGIN + "net.setInitialMediums(((sta1,), ('ap1-wlan1',)))\nsta1.setMediumId(3, intf=None)\n"
         "sta1.getNameToWintf('sta1-wlan0').setMediumId(3)", {})  # fmt: skip
    assert capsys.readouterr().out.count("mediums have no effect: ") == 1


def test_certificates_have_no_date(installed, capsys):
    lines = ["eap_server=1", "ca_cert=ca.crt"]
    assert hostapd.lines_of("ap1", {"config": lines}) == [*lines, "tls_flags=[DISABLE-TIME-CHECKS]"]
    mine = 'eap=TLS,ca_cert="ca.crt",client_cert="my.crt"'
    assert hostapd.lines_of("sta1", {"config": mine})[3:] == ['phase1="tls_disable_time_checks=1"']
    own = ['ca_cert="ca.crt"', 'phase1=""']
    assert hostapd.lines_of("sta1", {"config": own}) == own
    assert capsys.readouterr().out.count("a lane's date") == 1


APPROACH = """
from time import sleep
from mn_wifi.net import Mininet_wifi
from mn_wifi.replaying import ReplayingMobility
net = Mininet_wifi()
sta1 = net.addStation("sta1", position="-1000,0,0", speed=5)
net.addAccessPoint("ap1", ssid="one", position="0,0,0", failMode="standalone")
net.build()
sta1.p = [(-300.0, 0.0, 0.0), (-5.0, 0.0, 0.0)]
ReplayingMobility(net)
sleep(70)
print("on", sta1.wintfs[0].associatedTo or "none", sta1.position[0])
net.stop()
"""


def test_a_replayed_station_joins_where_it_comes_to(stage):
    assert after(stage.play(APPROACH), "on ") == ["ap1-wlan1 -5.0"]


LISTED = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
keys = {f"00:00:00:00:00:0{i}": f"key of station {i}" for i in (1, 2, 3)}
open("keys", "w").writelines(f"{mac} {key}\\n" for mac, key in keys.items())
net.addAccessPoint("ap1", ssid="x", encrypt="wpa2", wpa_psk_file="keys", acl_mode="accept", mac_acl=list(keys)[:2])
for i, (mac, key) in enumerate(keys.items(), 1):
    net.addStation(f"sta{i}", mac=mac, passwd=key if i != 2 else "key of station 1", position=f"{i},0,0")
net.addStation("sta4")
net.start()
print("on", [str(sta.wintfs[0].associatedTo) for sta in net.stations])
net.stop()
"""


def test_stations_have_keys_of_their_own_and_are_listed(stage):
    """The first may join; the second has another's key, the third is not listed, the fourth has no key."""
    lines = stage.play(LISTED)
    assert after(lines, "on ") == ["['ap1-wlan1', '', '', '']"]
    assert any(line.startswith("*** dcflab: sta4-wlan0 cannot join x, where") for line in lines)


def test_lines_of_keywords():
    assert hostapd.lines_of("a", {"acl_mode": "deny", "mac_acl": "file"}) == ["macaddr_acl=0", "deny_mac_file=file"]
    assert hostapd.lines_of("a", {"wpa_psk_file": "b", "passwd": "c"}) == ["wpa_psk_file=b"]
    with pytest.raises(Misuse, match="a: acl_mode='some': there are: accept, deny"):
        hostapd.lines_of("a", {"acl_mode": "some", "mac_acl": "file"})


def test_channels(stage, tmp_path):
    """On one channel, two cells share the goodput of one; on two channels, each has it."""
    both = []
    for channel in ("1", "6"):
        lines = type(stage)(stage.lab, tmp_path / channel) if (tmp_path / channel).mkdir() is None else None
        both.append([int(each.split()[1]) for each in after(lines.play("channels", channel), "sta")])
    shared, apart = both
    assert sum(shared) == pytest.approx(max(apart), rel=0.15) and min(apart) > 0.9 * max(apart) > 4000


DIRECT = """
from time import sleep
from mn_wifi.link import WifiDirectLink
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi(configWiFiDirect=True)
stas = [net.addStation(f"sta{i}", position=f"{10 * i},0,0") for i in (1, 2, 3)]
ap1 = net.addAccessPoint("ap1", ssid="x", mode="g", channel="6", position="0,5,0", failMode="standalone")
for sta in stas[:2]:
    net.addLink(sta, intf=f"{sta}-wlan0", cls=WifiDirectLink)
net.build()
one, two = (f"wpa_cli -i{sta}-wlan0 p2p_" for sta in stas[:2])
stas[0].cmd(one + "find")
stas[1].cmd(two + "find")
sleep(6)
pin = stas[0].cmd(f"{one}connect {stas[1].wintfs[0].mac} pin auth")
sleep(3)
stas[1].cmd(f"{two}connect {stas[0].wintfs[0].mac} {pin}")
sleep(5)
said = [sta.cmd(f"iw dev {sta}-wlan0 info") for sta in stas]
print("types", sorted(line.split("type ")[1].split()[0] for line in said), "(2412 MHz)" in said[0])
print("lost", net.ping(stas[:2]), net.ping(stas[1:]))
net.stop()
"""


def test_wifi_direct(stage):
    """Two stations find each other, and one becomes the group's owner; a third one is at an access point."""
    lines = stage.play(DIRECT)
    assert after(lines, "types") == ["['P2P-GO', 'P2P-client', 'managed'] True"]
    assert after(lines, "lost") == ["0.0 100.0"]


TWO_BANDS = """
import sys
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
for i, mode, channel in ((1, sys.argv[1], 36), (2, sys.argv[2], 1)):
    where = {"position": f"{10 * i},0,0", "range": 60, "failMode": "standalone"}
    ap = net.addAccessPoint(f"ap{i}", ssid=f"s{i}", mode=mode, channel=channel, **where)
    net.addStation(f"sta{i}", ssid=f"s{i}", position=f"{10 * i},5,0")
    net.addLink(ap, net.addHost(f"h{i}", position="0,0,0"))
net.addLink(*net.aps)
both = {"wlans": 2, "ssid": "s3,s4", "channel": "40,11", "mode": sys.argv[3]}
net.addAccessPoint("ap3", position="0,90,0", failMode="standalone", **both)
cell = [net.addStation(f"sta{i}", position=f"{i},200,0") for i in (3, 4)]
for sta in cell:
    net.addLink(sta, cls=adhoc, ssid="cell", mode=sys.argv[4], channel=1)
net.build()
print("apart", round(net.ping([net["sta1"], net["sta2"]])))
for i in (1, 2):
    said = net[f"sta{i}"].cmd(f"iw dev sta{i}-wlan0 link")
    carried = net.iperf([net[f"sta{i}"], net[f"h{i}"]], l4Type="UDP", udpBw="40M", seconds=0.5)[1]
    print("at", said.split("freq: ")[1].split()[0], carried)
for sta in cell:
    sta.setAdhocMode(ssid="x", mode=sys.argv[5], channel=48)
print("moved", round(net.ping(cell)), "channel 48" in cell[0].cmd("iw dev"))
net.stop()
"""


@pytest.mark.parametrize(
    ("modes", "formats"),
    [(("a", "g", "a,g", "g", "a"), [None, None]), (("n5", "g", "n,g", "n2", "n5"), ["ht", "ofdm"])],
    ids=["legacy", "later"],
)
def test_two_bands(stage, modes, formats):
    """Each cell has its own channel and highest rates; the air's counters agree with the taps. An access point has two
    radios, and a cell changes its band."""
    lines = stage.play(TWO_BANDS, *modes, kept=True)
    assert after(lines, "moved") == ["0 True"]
    plan = json.loads((stage.folder / "session1-1" / "plan.json").read_text())
    radios = next(node["interfaces"] for node in plan["nodes"] if node["name"] == "ap3")
    assert [each.get("ht", {}).get("format") for each in radios] == formats
    assert after(lines, "apart") == ["0"]
    assert [line.split()[0] for line in after(lines, "at ")] == ["5180", "2412"]
    assert min(float(line.split()[1]) for line in after(lines, "at ")) > 20  # Mb/s; minstrel begins at 6 Mb/s
    assert compare.main([str(stage.folder)]) == 0


def test_several_radios(stage):
    """The air's counters agree with the taps, and a film has all radios."""
    lines = stage.play("radios", kept=True)
    assert "['ap1-wlan1', 'ap1-wlan2'] ['sta3-wlan0', 'sta3-wlan1'] ['10.1.0.3', '10.2.0.3']" in lines
    assert "over the mesh, lost 0" in lines and "in both cells: True True" in lines
    assert compare.main([str(stage.folder)]) == 0
    assert len(of_run(stage.folder / "session1-1").trajectories) == 10


@pytest.mark.lane
def test_a_film_of_nodes_with_several_radios(tmp_path):
    """Each radio has its node's range, from the result."""
    done = CliRunner().invoke(
        cli, ["run", str(Path(__file__).with_name("scripts") / "radios.py"), "--out", str(tmp_path / "run")]
    )
    assert done.exit_code == 0, done.output
    made = of_run(tmp_path / "run" / "session1-1")
    assert made.reach_m and len(made.reach_m) == len(made.trajectories) == 10
    assert (tmp_path / "run" / "session1-1" / "film.html").is_file()


def test_roles_change(stage):
    lines = stage.play("roles")
    lines = [line for line in lines if line[:4] not in ("*** ", "sta1", "sta2", "sta3") or " to " in line]
    assert lines[0] == "master sta1-wlan0 lost 0"
    assert lines[1:] == ["sta1-wlan0 to ap1-wlan1 to none", "IBSS True", "mesh True"]


@pytest.mark.skipif(not shutil.which("ip"), reason="iproute2 is not installed")
def test_programs_that_wake_in_one_instant(stage):
    """A host's delay keeps them from sending in the same nanosecond for ever; two stations are heard 19 times each."""
    lines = stage.play("in_one_instant")
    heard = [int(line.rpartition(" ")[2]) for line in lines if " heard " in line]
    assert len(heard) == 3 and min(heard) >= 36
    assert after(lines, "over two hops:") == ["5 received"]


def test_a_routing_protocol(stage):
    lines = stage.play("routing")
    assert after(lines, "lost") == ["0", "0 over sta4"] and after(lines, "wire") == ["0% packet loss"]


GATEWAY = """
import sys, time
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
net.addAccessPoint("ap1", ssid="x", channel=1, position="0,0,0", range=80, failMode="standalone")
sta0 = net.addStation("sta0", ip="10.0.0.9/16", position="0,5,0")
sta1 = net.addStation("sta1", wlans=2, ip="10.0.0.1/16,10.1.0.1/16", position="10,0,0", range=80)
sta2, sta3 = (net.addStation(f"sta{i}", ip=f"10.1.0.{i}/16", position=f"{60 * i - 50},0,0", range=80) for i in (2, 3))
for sta, intf in (sta1, "sta1-wlan1"), (sta2, "sta2-wlan0"), (sta3, "sta3-wlan0"):
    net.addLink(sta, intf=intf, cls=adhoc, ssid="cell", channel=6, proto=sys.argv[1])
net.build()
time.sleep(10)
for one, to in (sta0, "10.0.0.1"), (sta1, "10.1.0.3"), (sta3, "10.1.0.1"), (sta1, "10.0.0.9"):
    print("answers", one.cmd("ping -c 1", to, "| grep -o '[01] received'").strip())
net.stop()
"""


@pytest.mark.parametrize("proto", ["olsrd", "batman_adv"])
def test_a_routing_protocol_beside_an_access_point(stage, proto):
    """A station of two radios is in a cell, whose routes have two hops, and at the access point."""
    assert after(stage.play(GATEWAY, proto), "answers") == ["1 received"] * 4


ENTERPRISE = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
for i, password in enumerate(("sdnteam", "sdnteam", "wrong"), 1):
    net.addStation(f"sta{i}", radius_identity="joe", radius_passwd=password, encrypt="wpa2", position=f"{i},0,0")
net.addAccessPoint("ap1", ssid="x", mode="a", channel="36", authmode="8021x", encrypt="wpa2", radius_server="10.0.0.9")
net.start()
print("on", [str(sta.wintfs[0].associatedTo) for sta in net.stations], round(net.ping(net.stations[:2])))
print(net["sta1"].cmd("wpa_cli -i sta1-wlan0 status"))
net.stop()
"""


def test_stations_authenticate_by_802_1x(stage):
    lines = stage.play(ENTERPRISE)
    assert "key_mgmt=WPA2/IEEE 802.1X/EAP" in lines and "wpa_state=COMPLETED" in lines
    assert after(lines, "on ") == ["['ap1-wlan1', 'ap1-wlan1', ''] 0"]


BRIDGED = """
from mn_wifi.link import _4address
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi(config4addr=True)
ap2 = net.addAccessPoint("ap2", _4addr="client", ssid="two", mode="g", channel="1", position="10,0,0")
ap1 = net.addAccessPoint("ap1", _4addr="ap", ssid="one", mode="g", channel="1", position="0,0,0")
stas = [net.addStation(f"sta{i}", ssid=ssid, position=f"{10 * i},1,0") for i, ssid in enumerate(("one", "two"))]
made = net.addLink(ap2, ap1, cls=_4address)
net.start()
print("on", [str(sta.wintfs[0].associatedTo) for sta in stas], "lost", round(net.ping(stas)))
made.switch(on=False)
print("off", round(net.ping(stas)))
net.stop()
"""


def test_access_points_are_bridged_over_the_air(stage):
    lines = stage.play(BRIDGED, kept=True)
    assert after(lines, "on ") == ["['ap1-wlan1', 'ap2-wlan1'] lost 0"] and after(lines, "off") == ["100"]


ROUTED = """
from mn_wifi.cli import CLI
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
for i in (1, 2, 3):
    net.addLink(net.addStation(f"sta{i}", position=f"{60 * i},0,0", range=80), cls=adhoc, channel=5, proto="batman_adv")
net.build()
CLI(net)
net.stop()
"""


def test_at_a_prompt_routes_are_there(stage):
    lines = stage.play(ROUTED, typed=["sta1 ping -c 1 10.0.0.3"])
    assert any("1 packets transmitted, 1 received" in line for line in lines)


def test_outside_a_lane_a_network_leaves_input_alone(monkeypatch):
    """In a lane, Python's `input` asks at the host's terminal."""
    monkeypatch.setattr("builtins.input", print)
    net.Mininet()
    assert input is print
    monkeypatch.setenv("DCFLAB_CLOCK", "virtual")
    net.Mininet()
    assert input is place.answer


@pytest.mark.lane
def test_mn_in_a_line(tmp_path):
    """Mininet's `mn`: kinds of switches and rates of wires, a test between lines for the prompt, and NAT."""
    lines = tmp_path / "lines"
    lines.write_text("s1 ovs-vsctl get bridge s1 protocols\nh2 ping -c 1 8.8.8.8\n")
    line = [sys.executable, "-m", "emulation", "mn", "--out", str(tmp_path / "run"), "--pre", str(lines), "--nat"]
    kinds = ["--topo", "linear,2", "--switch", "ovsk,protocols=OpenFlow13", "--link", "tc,bw=10", "--test", "all"]
    done = subprocess.run([*line, *kinds], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert "[OpenFlow13]" in done.stdout
    assert "1 packets transmitted, 1 received" in done.stdout
    assert "*** Results: 0% dropped (6/6 received)" in done.stdout
    assert re.search(r"Results: \['9\.\d+ Mbits/sec'", done.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [("--switch ivs", "--switch: there is no switch 'ivs'; there are: default, ovs, ovsk, ovsbr, lxbr, user"),
     ("--ap ovsk", "--ap: it needs --wifi"), ("--host cfs,5", "write its settings as NAME=VALUE"),
     ("--wifi --topo tree,2", "there is no topo 'tree'; there are: minimal, single, linear"),
     ("--topo linear,x", "whole numbers above 0, 2 at most"), ("--topo single,0", "whole numbers above 0, 1 at most"),
     ("--topo single,3,4", "whole numbers above 0, 1 at most"),
     ("--topo torus,3,3,1,1", "whole numbers above 0, 3 at most"),
     ("-x", "--xterms: a lane has no windows"), ("--cluster a,b", "a lane is one machine")],
)  # fmt: skip
def test_what_the_line_has_not_is_refused_by_name(words: str, said: str) -> None:
    done = CliRunner().invoke(cli, ["mn", *words.split()], standalone_mode=False)
    assert isinstance(done.exception, Misuse | click.UsageError) and said in str(done.exception)


def test_there_is_nothing_to_clean() -> None:
    done = CliRunner().invoke(cli, ["mn", "-c"])
    assert done.exit_code == 0 and "nothing to clean" in done.output


def test_hidden_terminals(stage):
    lines = stage.play("hidden_terminals")
    assert after(lines, "hidden") == ["left hears right: False"] and after(lines, "beside") == [
        "left hears right: True"
    ]
    (hidden, lost), (beside, fewer) = [map(int, re.findall(r"\d+", line)[:2]) for line in lines if "kb/s" in line]
    assert beside > 1.8 * hidden and lost > 4 * fewer


def test_replayed_positions(stage):
    assert after(stage.play("replayed"), "apart") == ["20 lost 0", "50 lost 100", "100 lost 100"]


def test_several_networks_on_one_radio(stage):
    lines = stage.play("names", kept=True)
    assert after(lines, "on ") == ["x ap1-wlan1 lost 0", "y ap1-wlan1-1 lost 0", "z ap1-wlan1-2 lost 0"]
    assert after(lines, "beside") == ["0 y 02:00:00:02:03:00"]


def test_replayed_conditions(stage):
    lines = [line for line in stage.play("conditions") if line.split(" ")[0] in ("rate", "delay", "lost", "signal")]
    assert lines == ["rate 1.0 True", "rate 5.0 True", "delay 25", "lost 100", "signal -50 (0.0, 0.0)",
                     "signal -60 (0.0, 0.0)"]  # fmt: skip


def test_older_scripts_find_positions_and_models(installed):
    there = run("from mn_wifi.net import Mininet_wifi\nnet = Mininet_wifi()\n"
                "sta = net.addStation('sta1', position='10,20,0')\nsta.setPosition('1,2,3')\n"
                "net.setPropagationModel(model='logNormalShadowingPropagationLossModel', exp=3)")  # fmt: skip
    said = there["sta"].params
    assert said["position"] == said.get("position") == {**said}["position"] == [1.0, 2.0, 3.0]
    assert there["net"].medium.model == "logNormalShadowing"


def paths(of_node="", **said):
    """Return the waypoints of four stations, with these keywords of each, by a model."""
    there = run("from mn_wifi.net import Mininet_wifi\nnet = Mininet_wifi()\n"
                f"for i in range(4): net.addStation(f'sta{{i}}', {of_node})")  # fmt: skip
    plan = there["net"].mobility_plan
    plan.set_model(**said)
    return [plan.drawn(node) for node in there["net"].stations]


def test_a_walk_turns_after_a_distance(installed, capsys):
    """With keywords of the model or of a node; other models have `min_v` and `max_v`. Unknown ones are only said."""
    of_node, by_model = "constantDistance=6, constantVelocity=2", {"constantDistance": 6, "constantVelocity": 2}
    for where in ({"of_node": of_node}, by_model):
        for path in paths(model="RandomWalk", stopTime=60, max_x=1e6, max_y=1e6, **where):
            assert [each.at_s for each in path] == [*range(0, 61, 3)]
            steps = [math.dist(a.position, b.position) for a, b in itertools.pairwise(path)]
            assert steps == pytest.approx([6] * 20)
    for path in paths(of_node, model="RandomWayPoint", stopTime=60, min_v=5, max_v=5, max_x=1e6, max_y=1e6, tint=1):
        a, b = path[:2]
        assert math.dist(a.position, b.position) / (b.at_s - a.at_s) == pytest.approx(5)
    assert "setMobilityModel: tint=1 has no effect" in capsys.readouterr().out


def test_nodes_that_share_a_centre(installed):
    """They follow points; or are drawn to the centre of their community, and not if nothing draws them."""
    points = [(100 + at, 11, 0) for at in range(12)]
    for path in paths(model="CRP", pointlist=points):
        (x, y, _), (i, j, _) = path[0].position, path[-1].position
        assert (round(i - x, 6), round(j - y, 6), path[-1].at_s) == (11, 0, 11) and abs(x - 100) < 10
    spreads = []
    for share in (0.95, 0.0):
        there = paths(
            model="TimeVariantCommunity",
            aggregation=[share],
            epoch=[100],
            stopTime=900,
            max_x=1000,
            max_y=1000,
            velocity=(1, 2),
        )
        ends = [path[-1].position for path in there]
        spreads.append(max(math.dist(a, b) for a in ends for b in ends))
    assert spreads[0] < 100 < spreads[1]
    with pytest.raises(errors.Misuse, match="CRP: pointlist="):
        paths(model="CRP")


@pytest.mark.parametrize("method", [(), ("llf",)], ids=["range", "llf"])
def test_associations(stage, method):
    assert stage.play("associations", *method) == [
        "ap1 2 ap2 2", "sta1 on ap2-wlan1 ssid-ap2", "sta1 on none none", "waited 0 s for none"
    ]  # fmt: skip


def test_vehicles(stage):
    lines = stage.play("vehicles")
    assert "moved 5 inside True" in lines and "outside" in lines and "again 0 192.168.0.2" in lines


def test_a_session(stage):
    typed = [
        "nodes", "py sta1.wintfs[0].ssid", "sta1 ping -c 1 sta2", "px sta1.setPosition('900,0,0')", "pingall",
        "iperfudp 1M sta2 sta2 x", "xterm sta1", "nonsense", "wait 2", "exit", "never",
    ]  # fmt: skip
    lines = stage.play("session", typed=typed)
    assert lines[1:4] == ["available nodes are: ", "ap1 sta1 sta2", "lab"] and lines[-1] == "and on"
    assert any("1 packets transmitted, 1 received" in line for line in lines)
    assert "*** Results: 100% dropped (0/2 received)" in lines and "*** Unknown command: nonsense" in lines
    assert any("there are no terminals in a lane" in line for line in lines)


def test_names_of_a_machine(stage):
    lines = stage.play("machine", typed=["greet you", "exit"])
    told = after(lines, "*** dcflab: ")
    begins = ["CPULimitedHost", "nat0", "nax_x=100", "socketServer", "the script caught an error and went on"]
    assert [line.split(":")[0] for line in told] == begins
    assert "machine.py, line 42: sta3: phywlan: the whole air is emulated" in told[-1]
    assert [line for line in lines if line[:3] != "***" and line and " -> " not in line] == [
        "there False", "protected True", "controlled True", "h1 outside lost 0", "sta1 outside lost 0",
        r"private 'of h1\r\nof h1\r\n' [] of h1", "detached 100.0", "attached 0.0", "power 5.0 True",
        "power 6.0 False", "power 7.0 True", "own 127.0.0.1 127.0.0.1 None",
        "answers ['command', '(1.0,', 'UnknownName:', 'usage:', ''] (1.0, 2.0, 0.0)", "hello you 10.0.0.1",
    ]  # fmt: skip


OLD_PROGRAMS = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
ap1 = net.addAccessPoint("ap1", ssid="x", channel="1", failMode="standalone")
sta1, h1 = net.addStation("sta1", nvif=1), net.addHost("h1", ip="10.0.1.2/24")
wire = net.addLink(h1, ap1)
print("early", h1.cmd("ip addr add 10.7.0.1/24 dev h1-eth0; echo done > early"), h1.cmd("echo h1-eth01"))
net.start()
wire.intf1.config(mac="00:00:00:00:00:77", ip="10.0.1.3/24")
print("cleaned", sta1.cmd("sudo mn -c; echo $?; python -c 'print(3 / 2)'").split())
print("early", *h1.cmd("ip -br addr show h1-eth0; cat early").split()[2:], h1.MAC(), h1.IP())
from mininet.term import makeTerm
makeTerm(h1, cmd="bash -c 'netserver -D; read x'")
print(sta1.cmd("iwconfig"))
sta1.setTxPower(9)
print("powers", sta1.cmd("iwconfig sta1-wlan0").split("Tx-Power=")[1].split()[0])
sta1.cmd("iwconfig sta1-wlan0 essid off; iwconfig sta1-wlan01 essid x; iwconfig sta1-wlan0 txpower 3")
sta1.cmd("sudo ifconfig sta1-wlan01 10.0.1.1/24")
print("powers", *[node.cmd("iw dev").split("txpower ")[1].split(".")[0] for node in (sta1, ap1)])
print("no", sta1.wintfs[0].associatedTo, sta1.wintfs[0].txpower, sta1.cmd("iwconfig sta1-wlan01 sens 3"))
print("signal", sta1.cmd("cat /proc/net/wireless").split("sta1-wlan01: ")[1])
for said in ({"delay": "15ms", "bw": 0.1}, {"delay": "15ms"}, {}):
    wire.intf1.config(**said)
    h1.cmd("ping -c 1 10.0.1.1")
    rate = h1.cmd("tc class show dev h1-eth0 | grep -o ' rate [^ ]*'").rstrip()
    print("rtt", h1.cmd("ping -c 1 10.0.1.1").split("time=")[1].split(".")[0] + rate)
print("IPv6", sta1.cmd("ip -6 addr add 2001::1/64 dev sta1-wlan0; ip -6 -br addr show sta1-wlan0").split()[2])
net.stop()
"""


def test_older_programs_and_what_ends_of_wires_get(stage):
    """`iwconfig` by wireless extensions, and `sudo`; further interfaces of a radio; `config` of a wire's end."""
    lines = stage.play(OLD_PROGRAMS)
    at = lines.index('sta1-wlan0  IEEE 802.11  ESSID:"x"  ')
    assert lines[at + 1] == "          Mode:Managed  Frequency:2.412 GHz  Access Point: 02:00:00:00:01:00   "
    assert any(line.startswith("          Link Quality=70/70  Signal level=-") for line in lines[at:])
    assert after(lines, "cleaned") == ["['0', '1.5']"]
    missing = after(lines, "*** dcflab: h1: there is no ")
    assert missing == ([] if shutil.which("netserver") else ["netserver on this machine: install the package netperf"])
    assert after(lines, "early") == ["h1-eth01", "10.7.0.1/24 10.0.1.3/24 done 00:00:00:00:00:77 10.0.1.3"]
    assert "sta1-wlan01  IEEE 802.11  ESSID:off/any  " in lines
    assert after(lines, "powers") == ["9", "3 14"]
    assert after(lines, "no")[0].startswith("3.0 Error for wireless request")
    assert re.match(r"0000 +70\. +-\d\d\.", after(lines, "signal")[0])
    assert after(lines, "rtt") == ["15 rate 100Kbit", "15", "0"] and after(lines, "IPv6") == ["2001::1/64"]


OLDER = """
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
from mn_wifi.replaying import replayingMobility, replayingNetworkConditions
net = Mininet_wifi()
sta1 = net.addStation("sta1", wlans=2, position="10,10,0", speed=2)
sta2, ap1 = net.addStation("sta2", position="10,10,0"), net.addAccessPoint("ap1", ssid="x", failMode="standalone")
net.addLink(ap1, sta1)
net.addLink(sta1, cls=adhoc, ssid="a")
net.addLink(sta2, cls=adhoc, ssid="a")
net.start()
sta1.setIP("10.0.1.1/24", intf="sta1-wlan1")
sta2.setIP("10.0.1.2/24", intf="sta2-wlan0")
print("received", sta1.cmd("ping -c1 10.0.1.2").count("1 received"))
sta1.position = []
for x in 10, 16:
    sta1.position.append(f"{x},10,0")
replayingNetworkConditions.addNode(sta1)
replayingMobility(net)
sta1.cmd("sleep 9")
print("at", sta1.position)
net.stop()
"""


def test_names_of_older_scripts(stage):
    """A further link of a station takes its next radio."""
    lines = stage.play(OLDER)
    assert after(lines, "received") == ["1"] and after(lines, "at") == ["(16.0, 10.0, 0.0)"]


TWICE = """
from mininet.link import TCIntf
from mininet.net import Mininet, VERSION
from mininet.node import OVSSwitch
from mininet.topo import LinearTopo
from mininet.util import custom
class Moving(OVSSwitch):
    def delIntf(self, intf):
        port = self.ports[intf]
        del self.ports[intf]
        del self.intfs[port]
        del self.nameToIntf[intf.name]
for number in 1, 2:
    net = Mininet(LinearTopo(2), switch=Moving, intf=custom(TCIntf, bw=10), autoStaticArp=True)
    net.start()
    h1, s1, s2 = net.get("h1", "s1", "s2")
    print("rate", round(float(net.iperf(seconds=2)[0].split()[0])))
    _, port = h1.connectionsTo(s1)[0]
    s1.detach(port)
    s1.delIntf(port)
    print("lost", net.ping())
    s2.addIntf(port, port=7)
    s2.attach(port)
    [s.dpctl("del-flows") for s in net.switches]
    print("lost", net.ping(), s2.ports[port], port.node, [s.isOldOVS() for s in net.switches])
    net.runCpuLimitTest(0.5)
    net.stop()
try:
    import tkinter
except ImportError as error:
    print("without", error)
"""


def test_networks_one_after_the_other_whose_wires_move(stage):
    """Each has a controller of the same name. `intf` sets all wires."""
    lines = stage.play(TWICE)
    assert after(lines, "rate") == ["10", "10"]
    assert after(lines, "lost") == ["100.0", "0.0 7 s2 [False, False]"] * 2
    assert after(lines, "without")[0].startswith("tkinter: a lane has no windows")


ROUTER = """
from mininet.net import Mininet
from mininet.cli import CLI
net = Mininet(controller=None)
a, b = net.addHost("a", ip="10.0.0.1/24"), net.addHost("b", ip="10.0.0.2/24")
net.addLink(a, b)
net.addLink(a, b, params1={"ip": "10.0.1.1/24"}, params2={"ip": "10.0.1.2/24"})
net.start()
for node, other, last in (a, b, 1), (b, a, 2):
    for kind, of in ("gre", f"local 10.0.0.{last} remote 10.0.0.{3 - last}"), ("vxlan", f"id 7 dstport 4789 "
                     f"local 10.0.0.{last} remote 10.0.0.{3 - last} dev {node}-eth0"):
        print("failed", node.cmd(f"ip link add {kind}7 type {kind} {of} && ip link set {kind}7 up"))
    node.cmd(f"ip addr add 10.1.0.{last}/24 dev gre7; ip addr add 10.2.0.{last}/24 dev vxlan7")
print("failed", a.cmd("ip tunnel add old mode gre local 10.0.1.1 remote 10.0.1.2; "
              "ip tunnel add older mode ipip local 10.0.1.1 remote 10.0.1.2"))
print("failed", a.cmd("ip route add 10.9.0.0/16 nexthop via 10.0.0.2 nexthop via 10.0.1.2"))
print("failed", a.cmd("ip rule add from 10.0.1.1 table 7; ip route add default via 10.0.1.2 table 7"))
print("routes", a.cmd("ip route show 10.9.0.0/16").count("nexthop"), a.cmd("ip route get 8.8.8.8 from 10.0.1.1"))
for there in "10.1.0.2", "10.2.0.2":
    print("received", a.cmd(f"ping -c 1 {there}").split("transmitted, ")[1][0])
for node, last in (a, 1), (b, 2):
    print("failed", node.cmd("modprobe bonding && ip link add bond7 type bond mode balance-rr"))
    for number in 0, 1:
        node.cmd(f"ip link set {node}-eth{number} down; ip link set {node}-eth{number} master bond7")
    node.cmd(f"ip link set bond7 up; ip addr add 10.3.0.{last}/24 dev bond7")
print("received", a.cmd("ping -c 1 10.3.0.2").split("transmitted, ")[1][0])
print("bond", a.cmd("cat /proc/net/bonding/bond7").count("Slave Interface"))
print("modprobe", a.cmd("modprobe tun; modprobe no-such-thing; echo $?"))
net.stop()
"""


def test_tunnels_bonds_and_routes_of_several_ways(stage):
    """The kernel loads what they need when they are first used."""
    lines = stage.play(ROUTER)
    assert {*after(lines, "failed")} == {""}
    assert after(lines, "routes")[0].startswith("2 8.8.8.8 from 10.0.1.1 via 10.0.1.2")
    assert after(lines, "received") == ["1"] * 3 and after(lines, "bond") == ["2"]
    assert after(lines, "modprobe")[0].startswith("modprobe: FATAL: Module no-such-thing not found")


LIMITED = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
sta1, h1, h2 = net.addStation("sta1"), net.addHost("h1", mac="0:0:00:00:00:0B"), net.addHost("h2")
ap1 = net.addAccessPoint("ap1", mac="02:00:00:00:00:00", ip="10.0.0.9", failMode="standalone")
s1 = net.addSwitch("s1", failMode="standalone")
net.addLink(sta1, ap1, delay="20ms")
net.addLink(h1, ap1)
net.start()
print("lost", net.ping(), sta1.MAC(), ap1.IP(), h1.MAC())
for ends in ((s1, ap1), (h2, s1)):
    net.addLink(*ends)
print("late", net.ping([h2, sta1]))
print("rtt", sta1.cmd("ping -c 1 10.0.0.9").split("time=")[1].split(".")[0])
net.stop()
"""


def test_a_link_of_a_station_delays(stage):
    """Its access point has an IP address, and the hardware address that the station would have had. Two nodes get
    their links later."""
    lines = stage.play(LIMITED)
    assert after(lines, "lost") == ["0.0 02:00:02:00:00:00 10.0.0.9 00:00:00:00:00:0b"]
    assert after(lines, "late") == ["0.0"]
    assert 20 <= int(after(lines, "rtt")[0]) < 45


CHILDREN = """
from multiprocessing import Process
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
def scenario(number):
    net = Mininet_wifi()
    for i in range(number):
        net.addLink(net.addStation(f"sta{i}"), cls=adhoc)
    net.build()
    print(number, "lost", net.ping())
    net.stop()
for number in (2, 3):
    child = Process(target=scenario, args=(number,))
    child.start()
    child.join()
"""


def test_each_process_of_a_script_may_have_a_network(stage):
    lines = stage.play(CHILDREN, kept=True)
    assert after(lines, "2 lost") == after(lines, "3 lost") == ["0.0"]
    assert (stage.folder / "session1-1").is_dir() and (stage.folder / "session2-1").is_dir()


def test_stations_of_a_new_cell_know_each_other(stage):
    lines = stage.play(
        BEGIN + "sta2, sta3 = net.addStation('sta2', position='9,0,0'), net.addStation('sta3', position='5,5,0')\n"
        "net.build()\nfor sta in net.stations: sta.setAdhocMode(ssid='x', channel=5)\n"
        "print('lost', net.ping())\nnet.stop()\n"
    )
    assert after(lines, "lost") == ["0.0"]


def test_a_running_network_gets_more(stage):
    lines = [line for line in stage.play("late") if "***" not in line and "->" not in line]
    assert lines == [
        "lost 0 10.0.0.3 10.0.0.99 ['h2-eth0']", "rtt 20", "cut 100 0",
        "there ['sta1', 'sta2', 'ap1', 'ap2', 's1', 's2', 'h2']", "moved [110, 0, 0] (20.0, 0.0, 0.0)",
        "roamed ap2-wlan1 0", "outside 1", "meanwhile over 60: True",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", ["g", "n2"])
def test_a_running_network_gets_radios(stage, mode):
    lines = stage.play("late_radios", mode, kept=True)
    built = "the network is already built"
    assert [line for line in lines if line and "***" not in line and "->" not in line] == [
        "joined ap1-wlan1 10.0.0.2 lost 0.0", "over wires ap2-wlan1 lost 0.0", "cell 3", "away 0",
        f"not sta5: {built}, and has places for 16 more radios only: add it before net.build()",
        f"not ap3: {built} with mode {mode!r}, and cannot have another mode or band: add it before net.build()",
        "there sta1 ap1 sta2 ap2 sta3 sta4",
    ]  # fmt: skip
    stations = json.loads((stage.folder / "session1-1/lane.json").read_text())["air"]["stations"]
    assert [each["name"] for each in stations] == ["sta1", "ap1", "sta2", "sta2", "ap2", "sta3", "sta4"]


def test_wires_and_a_router(stage):
    lines = stage.play("wired")
    assert lines[0] == "a shell" and "before ['1', 'h2']" in lines
    assert "['r0-eth1', 'r0-eth2'] ['s1-eth1', 's1-eth2'] ['h1-eth0']" in lines
    assert {"lost 0", "rtt 15 ms", "rate below 10: True", "down, lost 100"} <= set(lines)
    assert "queues ['htb', '5:'] ['netem', '10:'] 5:1" in lines


def test_a_topology_as_a_class(stage):
    lines = stage.play("custom_topo")
    assert lines[0] == "ap1 ap1-wlan1:wifi ap1-eth2:s1-eth1"
    assert "lost 0" in lines and "known 5 of 5; 0" in lines
    assert eval(lines[2]) == [f"10.0.0.{n}" for n in (1, 3, 5, 2, 4, 6)]


def test_telemetry(stage):
    files = {line.split()[0]: line for line in stage.play("telemetry")}
    kinds = ("position", "rssi", "tx_packets")
    assert set(files) == {f"{kind}-sta{i}-mn-telemetry.txt" for i in (1, 2) for kind in kinds}
    counted = [int(each.split(",")[1]) for each in eval(files["tx_packets-sta1-mn-telemetry.txt"].split(" ", 1)[1])]
    assert counted[0] == 0 and min(counted) >= 0 and sum(counted) >= 2
    assert "'20.000,10.000'" in files["position-sta1-mn-telemetry.txt"]


def test_ranges(stage):
    found = [line.split(None, 2) for line in stage.play("ranges") if "[" in line]
    assert [(model, rest) for model, _, rest in found] == [
        (model, "[0, 100, 0, 100] 30.0") for model in ("friis", "logDistance", "twoRayGround", "ITU")
    ]


def test_each_name_of_the_table_is_there(installed):
    for name, sources in packages.MODULES.items():
        module = importlib.import_module(name)
        for word in " ".join(sources.values()).split():
            assert callable(getattr(module, word.partition("=")[0])) or word in ("VERSION", "lg")


BEGIN = "from mn_wifi.net import Mininet_wifi\nnet = Mininet_wifi()\nsta1 = net.addStation('sta1')\n"


WIDE = "net.addAccessPoint('ap1', mode={})"


def test_a_program_that_is_not_there_is_said(stage):
    """Also if its output and the shell's message are redirected, before the network is built, in time, and once."""
    lines = stage.play(
        BEGIN + "print(repr(sta1.cmd('early >/dev/null 2>&1')))\nnet.build()\n"
        "sta1.cmd('one > /dev/null')\nsta1.cmd('(two) 2>/dev/null | cat; one; echo x: not found')\n"
        "print(repr(sta1.cmd('three; echo $?')))\nsta1.cmd('f() { true; }; f >/dev/null')\nnet.stop()\n"
    )
    said = [line for line in lines if "on this machine" in line]
    assert [line.split("there is no ")[1].split()[0] for line in said] == ["early", "one", "two", "three"]
    assert all(line.startswith("*** dcflab: sta1: there is no ") for line in said)
    assert [line for line in lines if line.startswith("'")] == ["''", r"'bash: three: command not found\r\n127\r\n'"]


HEARD = """
import os, socket
from mn_wifi.cli import CLI
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
for i in 1, 2:
    net.addLink(net.addStation(f'sta{{i}}', position=f'{{i}},0,0'), cls=adhoc, ssid='a', mode='{mode}')
net.build()
os.system('ip link set hwsim0 up')
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as heard:
    heard.bind(('hwsim0', 0))
    heard.settimeout(2)
    net.ping()
    for _ in range(1000):
        try:
            frame = heard.recv(4096)
        except TimeoutError:
            break
        if frame[frame[2]] & 0x7c == 8:
            print('heard', len(frame))
            break
for _ in 1, 2:
    net['sta1'].cmd('sysctl -w net.mptcp.enabled=1')
CLI(net)
net.stop()
"""


@pytest.mark.parametrize("mode", ["g", "n"])
def test_hwsim0_has_frames_or_it_is_said(stage, mode):
    """And a kernel without MPTCP is said."""
    lines = stage.play(HEARD.format(mode=mode), typed=["sh ip link show hwsim0"])
    assert len(after(lines, "*** dcflab: hwsim0 has no frames of modes n")) == (mode == "n")
    assert len(after(lines, "heard")) == (mode == "g")
    assert [line.endswith("add --lane vm") for line in lines if "MPTCP" in line] == [True]


@pytest.mark.parametrize(
    ("radio", "said"),
    [
        ("mode='be', channel='21'", ("mode='be'", "channel 21")),
        ("mode='ax6', channel='5'", ("mode='ax6'", "channel 5")),
        ("mode='ax', channel='37'", ("channel 37",)),
        ("mode='ax5', channel='149'", ()),
    ],
)
def test_what_is_newer_than_the_air_is_the_nearest_that_it_has(stage, radio, said):
    lines = stage.play(
        BEGIN
        + f"ap1 = net.addAccessPoint('ap1', ssid='x', encrypt='wpa3', passwd='123456789a', ieee80211w='2', {radio})\n"
        "net.build()\nap1.start([])\nprint('at', ap1.wintfs[0].freq, net['sta1'].wintfs[0].mode)\n"
    )
    assert [line for line in lines if line.startswith("at ")] == [f"at {'5.745' if not said else '5.18'} g"]
    notes = [line for line in lines if "not modelled" in line]
    assert [next((word for word in said if word in note), "") for note in notes] == list(said)


def test_a_server_sees_who_waits_for_it(stage):
    """Some scripts read first what it prints of that connection."""
    program = "import socket as s; tcp = s.create_server(('', 5001)); print(tcp.accept()[1][0], flush=True)"
    lines = stage.play(
        "from mininet.net import Mininet\nfrom mininet.util import waitListening\nnet = Mininet()\n"
        "h1, h2 = net.addHost('h1'), net.addHost('h2')\nnet.addLink(h1, h2)\nnet.start()\n"
        f"server = h2.popen(['python3', '-c', {program!r}])\n"
        "print('listens', waitListening(h1, h2, 5001), server.stdout.readline().decode())\n"
        "print('nobody', waitListening(h1, h2, 5002, timeout=2), waitListening(port=5003, timeout=2))\n"
    )
    assert {"listens True 10.0.0.1", "nobody False False"} <= set(lines)


def test_a_refusal_names_the_line(stage):
    with pytest.raises(LaneError, match=r"mine.py, line 4: sta2: phywlan: the whole air is emulated") as caught:
        stage.play(BEGIN + "net.addStation('sta2', phywlan='wlan0')\n")
    assert caught.value.reason is Reason.MISUSE


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "net.addStation('sta2', mode='h')",
            "sta2-wlan0: mode 'h': there is no such mode: write one of a, b",
        ),
        ("net.addAccessPoint('ap1', mode='ac', channel='1')", "ap1: channel 1: 802.11ac is at 5 GHz only: write"),
        ("net.addAccessPoint('ap1', mode='ax', channel=22)", "ap1: channel 22: in mode ax there are: 36, 40"),
        ("net.addAccessPoint('ap1', mode='n', channel=52)", "ap1: channel 52 needs radar detection (DFS), which"),
        (WIDE.format("'ac', channel=165, ht_cap='HT40+'"), "165 is in no block of 40 MHz"),
        (WIDE.format("'n', channel=36, vht_cap='VHT80'"), "vht_cap='VHT80': 802.11n has no 80 MHz"),
        (WIDE.format("'n2', ht_cap='160'"), "ht_cap='160': 802.11n has no 160 MHz"),
        (
            WIDE.format("'ac', band=160"),
            "band=160: 160 MHz around channel 36 take channels 36 to 64, and from 52 on they",
        ),
        (WIDE.format("'ac', vht_capab='[VHT80][MU-BEAMFORMER]'"), "vht_capab: [MU-BEAMFORMER]: MU-MIMO is not"),
        (WIDE.format("'ac', band=30"), "band=30: channels are 20, 40, 80 or 160 MHz wide"),
        (
            WIDE.format("'ac'); net.addAccessPoint('ap2', mode='b'); net.medium.mode("),
            "radios of a network share one PHY",
        ),
        ("net.addStation('sta2', channel=13)", "sta2: channel 13: in mode g there are: 1, 2"),
        ("net.addStation('sta2', position='here')", "sta2: 'here' is not a position like '10,20,0'"),
        ("net.addStation('sta2', ieee80211w=3)", "sta2-wlan0: ieee80211w='3': there are 0 (off), 1 (optional) and 2"),
        ("net.addNAT()", "addNAT: nat0: there is no switch and no access point yet; add one first"),
        ("net.addHost('h2', privateDirs=['/proc/none']).private()", "h2: privateDirs: /proc/none: "),
        ("net.addAccessPoint('ap1', authmode='open'); net.build()", "ap1-wlan1: authmode='open': the only value is"),
        (
            "from mn_wifi.link import _4address; net.addLink(sta1, net.addAccessPoint('ap1'), cls=_4address)",
            "addLink(sta1, ap1, cls=_4address): _4address joins two access points",
        ),
        ("sta1.wintfs[0].config(bw=5)", "sta1-wlan0.config is not supported: it sets up an end of a wire"),
        ("net.addLink(sta1, cls='mesh')", "addLink: cls='mesh' is not a kind of link here"),
        (
            "from mn_wifi.link import physicalMesh; net.addLink(sta1, cls=physicalMesh)",
            "mn_wifi.link.physicalMesh is not supported: the whole air is emulated",
        ),
        (
            "from mn_wifi.sixLoWPAN.link import LoWPAN; LoWPAN(sta1)",
            "mn_wifi.sixLoWPAN.link.LoWPAN is not supported: 802.15.4 is not supported",
        ),
        (
            "from mn_wifi.bmv2 import P4AP; net.addAccessPoint('ap1', cls=P4AP)",
            "mn_wifi.bmv2.P4AP is not supported: switches and access points are Open vSwitch with OpenFlow",
        ),
        (
            "from mn_wifi.mobility import Mobility; Mobility.AC = 'ssf'",
            "mn_wifi.mobility.Mobility is not supported: use net.mobility() or net.setMobilityModel()",
        ),
        (
            "from mn_wifi.node import P4Switch\nclass Mine(P4Switch): ...",
            "mn_wifi.node.P4Switch is not supported: switches and access points are Open vSwitch with OpenFlow",
        ),
        ("sta1.popen('iw dev sta1-wlan0 info')", "sta1-wlan0 does not exist yet; call it after net.build()"),
        ("net.setMobilityModel(model='CRB')", "setMobilityModel: there is no model 'CRB' here; there are: R"),
        ("net.setPropagationModel(model='young')", "setPropagationModel: there is no model 'young' here"),
        ("net.useExternalProgram()", "useExternalProgram: program=None; write `from mn_wifi.sumo.runner import sumo`"),
        ("net.addSwitch('core').dpid", "core: dpid='': its name has no number"),
        ("net.addAccessPoint('ap1', wlans=2, vssids='a')", "ap1: vssids: it has 2 radios: give each its name"),
        ("net.addAccessPoint('ap1', ssid='a,b')", "ap1: ssid='a,b': 2 values, but wlans=1; set it"),
        ("net.addStation('sta2', range=0)", "sta2-wlan0: range=0: a range must be above 0 m"),
        ("net.addStation('sta2', wlans=0)", "sta2: wlans=0: a station has a radio"),
        ("net.addStation('sta2', txpower='much')", "sta2-wlan0: txpower: 'much' is not a number"),
        ("net.addStation('sta2', freq=5)", "sta2-wlan0: freq=5: mode 'g' is of 2.4 GHz"),
        ("net.addAccessPoint('ap1', band=40)", "ap1-wlan1: band=40: channels of mode 'g' are 20 MHz wide"),
        ("net.addStation('sta2', position='1,2,3,4')", "sta2: '1,2,3,4' is not a position"),
        (
            "from mininet.node import Controller; net.addHost('c1', cls=Controller)",
            "c1: Controller is a controller, not a host; add it with net.addController",
        ),
        ("net.addLink(sta1, net.addController('c1'))", "addLink: c1 is a controller, which has no links"),
        ("net.telemetry(nodes='sta1')", "telemetry: nodes='sta1': write nodes=[sta1, sta2]"),
        ("sta1.params['rssi']", "params['rssi'] does not exist: use sta1.wintfs[0].rssi"),
        ("net.mobility(sta1, 'begin', time=1)", "mobility(sta1): 'begin': there are 'start' and 'stop'"),
        (
            "from mininet.link import Intf; Intf('eth1')",
            "Intf('eth1') is not supported: a lane has no interfaces of the machine",
        ),
        ("from mininet.node import Host; Host('h9').linkTo(sta1)", "h9 without a network is not supported: net = "),
        (
            "from mn_wifi.link import WirelessLink; WirelessLink(sta1, 's1')",
            "WirelessLink(sta1, s1) is not supported: net = Mininet(), and net.",
        ),
        ("sta1.nothing()", "sta1.nothing is not supported: docs/mininet-wifi.md"),
        ("Mininet_wifi(fadingcof=3)", "Mininet_wifi: there is no keyword fadingcof here"),
        ("Mininet_wifi(fadingcof=3)", "; do you mean fading_cof?"),
        ("net.setMobilityModle()", "has what there is; do you mean setMobilityModel?"),
        ("sta1.setpositon('1,2,0')", "do you mean setPosition?"),
        ("net['sta9']", "there is no node sta9; there are: sta1"),
    ],
)
def test_what_is_not_there_is_refused_by_its_name(line, says, installed):
    with pytest.raises(errors.Misuse, match=re.escape(says)):
        exec(BEGIN + line, {})


def test_a_switch_goes_without_an_interface_of_the_machine(installed, capsys):
    there = run(BEGIN + "from mininet.link import Intf\ns1 = net.addSwitch('s1')\nintf = Intf('eth1', node=s1)")
    assert str(there["intf"]) == "eth1" and not there["s1"].intfs
    said = "*** dcflab: Intf('eth1'): a lane has no interfaces of the machine, so s1 has none; addNAT()"
    assert said in capsys.readouterr().out


def test_a_mode_that_open_vswitch_lacks_is_secure(installed, capsys):
    there = run(BEGIN + "modes = [net.addAccessPoint(f'ap{n}', failMode=mode).fail_mode for n, mode in "
                "enumerate(('managed', 'standalone', 'secure', None))]")  # fmt: skip
    assert there["modes"] == ["secure", "standalone", "secure", "secure"]
    said = "ap0: failMode='managed': Open vSwitch has 'standalone' and 'secure', which it uses\n"
    assert capsys.readouterr().out == f"*** dcflab: {said}"


def test_a_network_of_old_mininet_wifi_has_radios(installed):
    there = run("from mininet.net import Mininet\nfrom mininet.node import Controller, OVSKernelAP\n"
                "net = Mininet(controller=Controller)\nh1 = net.addHost('h1')\nap1 = net.addAccessPoint('ap1', "
                "cls=OVSKernelAP)\nsta1 = net.addStation('sta1')\nnet.configureWifiNodes()")  # fmt: skip
    net = there["net"]
    assert [len(node.wintfs) for node in (there["h1"], there["ap1"], there["sta1"])] == [0, 1, 1]
    assert (net.hosts, net.aps, net.stations) == ([there["h1"]], [there["ap1"]], [there["sta1"]])
    with pytest.raises(errors.Misuse, match=r"net\.addSensor is not supported: 802\.15\.4"):
        net.addSensor("s1")


@pytest.mark.parametrize("name", ["mininet", "mn_wifi.net", "mininet.examples"])
def test_modules_have_a_file(name, installed):
    """Packages that take a module's name, as Flask("mininet") does, look for files beside it."""
    module = importlib.import_module(name)
    assert Path(module.__file__).is_file() and module.__spec__.origin == module.__file__


def test_older_names_and_what_agrees_are_taken(installed):
    there = run(BEGIN + "from mn_wifi.link import ITSLink\nnet.addLink(sta1, cls=ITSLink, channel=10)")
    assert there["sta1"].wintfs[0].freq == 2.457 and there["net"].medium.mode() == "g"
    there["net"].setBgscan(module="simple", signal=-50, s_inverval=3)
    assert access.scan_of(there["sta1"].wintfs[0]) == [3, -50, 300]
    exec(BEGIN + "net = Mininet_wifi(noise_threshold=-88, fading_coefficient=2, roads=0, freq=2.4, band=20)\n"
         "net.startMobility(startTime=1, AC='ssf')", there)  # fmt: skip
    net = there["net"]
    assert (net.medium.noise_dbm, net.medium.fading_db) == (-88, 2)
    assert net.mobility_plan.start == {"time": 1, "ac_method": "ssf"} and net.controlled


def test_cars_drive_on_roads_that_nobody_clicks(installed, capsys):
    there = run("from mn_wifi.net import Mininet_wifi\nnet = Mininet_wifi(roads=3)\n"
                "for name in 'car1', 'car2': net.addCar(name, min_speed=10, max_speed=20)\n"
                "net.addCar('car3', position='7,7,0')\nnet.addStation('sta1')\n"
                "ap1, ap2 = net.addAccessPoint('ap1'), net.addAccessPoint('ap2', position='1,2,0')\n"
                "net.plotGraph(max_x=200, max_y=50)\nnet.setMobilityModel(model='RandomWalk')\n"
                "net.prepare()\n")  # fmt: skip
    plan, roads = there["net"].mobility_plan, there["net"].mobility_plan.roads
    assert len(roads.points) == 4 and all(0 <= x <= 200 and 0 <= y <= 50 for x, y in roads.points)
    assert there["ap1"].position[:2] == pytest.approx(roads.at(0.5)[:2]) and there["ap2"].position == (1, 2, 0)
    assert [node.name for node in plan.drivers()] == ["car1", "car2"] and [node.name for node in plan.movers()] == [
        "sta1"
    ]
    for number, car in enumerate(plan.drivers(), 1):
        way = list(itertools.islice(roads.drive(car, number), 12))
        assert {place for _, place in way} == set(roads.points) and way[0][0] == 0
        for (begin, a), (end, b) in itertools.pairwise(way):
            assert abs(roads.points.index(a) - roads.points.index(b)) == 1
            assert 10 <= math.dist(a, b) / (end - begin) <= 20
    assert "roads=3: nobody clicks them here" in capsys.readouterr().out


def test_a_keyword_that_mininet_only_stores_is_said(installed, capsys):
    exec(
        BEGIN + "net.addAccessPoint('ap1', failmode='standalone')\nnet.addLink(net.addHost('h1'), 'ap1', colour=3)", {}
    )
    said = capsys.readouterr().out
    assert "ap1: failmode='standalone' has no effect: no keyword has this name; do you mean failMode?" in said
    assert "addLink(h1, ap1, cls=TCLink): colour=3 has no effect: no keyword has this name\n" in said


@pytest.mark.parametrize("link", ["", "link=wmediumd, wmediumd_mode=interference"])
def test_a_client_reaches_the_access_points_that_reach_it(installed, link):
    """The access point's range or power alone decides; wmediumd, too, gives both directions its power."""
    there = run(
        "from mn_wifi.net import Mininet_wifi\nfrom mn_wifi.link import wmediumd\n"
        f"from mn_wifi.wmediumdConnector import interference\nnet = Mininet_wifi({link})\n"
        "sta1 = net.addStation('sta1', range=20)\nap1 = net.addAccessPoint('ap1', range=35)\n"
        "ap2 = net.addAccessPoint('ap2', range=10)\nsta2 = net.addStation('sta2', txpower=-3)\n")  # fmt: skip
    client, weak, ap = (there[name].wintf() for name in ("sta1", "sta2", "ap1"))
    assert there["ap1"] in client.apsInRange and client.apsInRange[there["ap1"]] == ap.stationsInRange[there["sta1"]]
    power = there["net"].medium.power_of
    assert power(client) == power(ap) > power(there["ap2"].wintf()) and power(weak) >= power(ap)
    assert (client.range, ap.range) == (20, 35)
    there["ap1"].setRange(100)
    assert power(client) == power(weak) == power(ap)


def test_the_signal_at_the_end_of_a_range_is_that_of_mininet_wifi(installed):
    there = run(BEGIN + "sta2 = net.addStation('sta2')\nnet.setPropagationModel(model='logDistance', exp=4)\n")
    one, other = there["sta1"].wintf(), there["sta2"]
    metre_db = 20 * math.log10(4 * math.pi * 2.412e9 / 299_792_458)
    assert one.range == pytest.approx(10 ** ((14 + 2 * 5 - metre_db + 91) / 40), rel=0.02)
    one.setRange(30)
    other.setPosition("30,0,0")
    assert there["net"].medium.received_dbm(there["sta1"], other) == pytest.approx(-91, abs=0.01)


def test_radios_with_one_address_are_named(installed, capsys):
    there = run(BEGIN + "for name in 'sta2', 'sta3': net.addStation(name, mac='00:00:00:00:00:02')\n"
                "net.addHost('h1', mac='00:00:00:00:00:02')\nnet.prepare()\n")  # fmt: skip
    net = there["net"]
    assert [net[name].MAC() for name in ("sta2", "sta3")] == ["00:00:00:00:00:02", None]
    assert "sta3-wlan0: mac='00:00:00:00:00:02' is the address of sta2-wlan0" in capsys.readouterr().out


def test_what_has_no_effect_in_mininet_wifi_is_said(installed, capsys):
    there = run(BEGIN + "net.setAssociationCtrl('sf')\nnet.mobility(sta1, 'start', time=1, position='0,0,0', min_v=2)\n"
                "net.setPropagationModel(model='logDistance', exp=5)\nsta1.setRange(700)\n")  # fmt: skip
    exec("for mac in 'zz', '0:0:0:0:0:0', '1:0:0:0:0:1': sta1.setMAC(mac)", there)
    net, sta1 = there["net"], there["sta1"]
    assert sta1.MAC() is None
    assert 410 < net.medium.range_of(sta1.wintf()) < 420 and net.medium.power_of(sta1.wintf()) == 40
    said = capsys.readouterr().out
    assert "ac_method='sf' has no effect: there are ssf and llf\n" in said and not net.watchers
    assert "mobility(sta1): min_v=2 has no effect" in said
    assert said.count("is no address of an interface") == 3
    assert re.search(r"sta1-wlan0: range 700\.0 m takes 9\d dBm; it is 41\d\.\d m with the air's 80 dBm", said)


def test_a_long_range_leaves_what_arrives_as_it_is(installed, capsys):
    """Power and loss are less by the same, so that the air's strongest signal is enough."""
    there = run(BEGIN + "net.addStation('sta2', position='300,0,0', txpower=20)\n"
                "net.setPropagationModel(model='logDistance', exp=4)\n")  # fmt: skip
    net, sta1 = there["net"], there["sta1"]
    sta1.position = (0.0, 0.0, 0.0)
    before = net.medium.received_dbm(net["sta2"], sta1)
    sta1.setRange(800)
    assert net.medium.received_dbm(net["sta2"], sta1) == pytest.approx(before)
    assert net.medium.received_dbm(sta1, net["sta2"]) == pytest.approx(-91 + 40 * math.log10(800 / 300), abs=0.01)
    assert net.medium.power_of(sta1.wintf()) <= 40 and net.medium.range_of(sta1.wintf()) == 800
    assert not capsys.readouterr().out
    sta1.setRange(1500)
    assert net.medium.range_of(sta1.wintf()) == 1500
    assert "sta1-wlan0: range 1500.0 m: from 1349 m on, in cells" in capsys.readouterr().out
    sta1.setRange(50)
    assert net.medium.propagates.tx_power_dbm == 24 and not capsys.readouterr().out


@pytest.mark.slow
def test_a_range_of_hundreds_of_metres_is_reached(stage):
    lines = stage.play("""
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
net.setPropagationModel(model="logDistance", exp=4.5)
here, there = (net.addStation(f"sta{n}", position=f"{n * 380},0,0", range=400) for n in (0, 1))
for sta in (here, there):
    net.addLink(sta, cls=adhoc, ssid="far", mode="g", channel=5)
net.build()
lost = [net.ping([here, there])]
there.setPosition("440,0,0")
print("lost", *lost, net.ping([here, there]), here.wintfs[0].range)
""")
    assert after(lines, "lost") == ["0.0 100.0 400.0"]


@pytest.mark.slow
def test_an_access_point_without_clients_is_in_a_cell_or_a_mesh(stage):
    lines = stage.play("""
from mn_wifi.link import adhoc, mesh
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi()
for number, cls in enumerate((adhoc, mesh), 1):
    sta, ap = net.addStation(f"sta{number}"), net.addAccessPoint(f"ap{number}", channel=1)
    for node in (sta, ap):
        net.addLink(node, cls=cls, ssid=f"peers{number}", channel=1 + 5 * (number > 1))
net.build()
for number in (1, 2):
    ap = net[f"ap{number}"]
    ap.start([])
    print("type", *[line.split()[1] for line in ap.cmd(f"iw dev ap{number}-wlan1 info").splitlines() if "type" in line])
net["ap1"].cmd("ip addr add 10.0.0.9/8 dev ap1-wlan1")
print("lost", "1 received" not in net["sta1"].cmd("ping -c1 10.0.0.9"))
""")
    assert after(lines, "type") == ["IBSS", "mesh"] and after(lines, "lost") == ["False"]


def test_an_unknown_model_that_moves_nobody_is_said(installed, capsys):
    exec(BEGIN + "sta1.setPosition('1,2,0')\nnet.setMobilityModel(time=0, model='static')\nassert not net.mobile", {})
    assert "there is no model 'static' here" in capsys.readouterr().out


def test_a_station_goes_one_way_after_the_other(installed):
    there = run(BEGIN + "net.startMobility(time=0, mob_rep=2, reverse=True)\n"
                "for at, x in (10, 1), (19, 31), (20, 31), (30, 47):\n"
                "    net.mobility(sta1, 'stop' if at in (19, 30) else 'start', time=at, position=(x, 0, 0))\n"
                "net.stopMobility(time=100)\npath = net.mobility_plan.scripted(sta1)")  # fmt: skip
    assert [(each.at_s, each.position[0]) for each in there["path"]] == [
        (10, 1), (19, 31), (20, 31), (30, 47), (110, 47), (120, 31), (121, 31), (130, 1),
    ]  # fmt: skip
    exec("net.mobility(sta1, 'stop', time=40, position='0,0,0')", there)
    with pytest.raises(errors.Misuse, match=r"mobility\(sta1\): give a 'start', and a 'stop' at a later time, once"):
        there["net"].mobility_plan.scripted(there["sta1"])


def test_a_plot_by_its_class_films_the_network(installed):
    there = run(BEGIN + "from mn_wifi.plot import PlotGraph\n"
                "PlotGraph(max_x=100, nodes=net.get_mn_wifi_nodes(), links=net.get_links())")  # fmt: skip
    assert there["net"].filmed


def test_names_are_found_where_mininet_imports_them(installed):
    there = run("from mn_wifi.net import Station, CLI\nfrom mininet.net import OVSSwitch, info\n"
                "from mn_wifi.manetRoutingProtocols import batmand\n"
                "from mn_wifi.node import Station as same")  # fmt: skip
    assert there["Station"] is there["same"] and there["batmand"].__name__ == "batmand"
    with pytest.raises(errors.Misuse, match=r"mn_wifi\.net\.Nothing is not supported"):
        exec("from mn_wifi.net import Nothing", {})


def test_what_an_editor_imports_is_refused_on_use_only(installed):
    sys.modules.pop("turtle", None)
    there = run("from turtle import position")
    with pytest.raises(errors.Misuse, match=r"turtle\.position is not supported: a lane has no windows"):
        there["position"]()
    sys.modules.pop("turtle")


def test_scripts_before_2019_are_taken(installed):
    there = run("from mininet.wifi.node import OVSKernelAP\nfrom mininet.wifi.link import wmediumd\n"
                "from mininet.wifi.cli import CLI_wifi\nfrom mininet.wifi.net import Mininet_wifi\n"
                "net = Mininet_wifi(accessPoint=OVSKernelAP, link=wmediumd, enable_interference=True,\n"
                "                   disableAutoAssociation=True, autoSetPositions=True)\n"
                "net.propagationModel(model='logDistance', exp=4.5)\n"
                "nodes = [net.addStation('sta1'), net.addStation('sta2'), net.addBaseStation('ap1')]\n")  # fmt: skip
    assert there["net"].params["autoAssociation"] is False
    assert [node.position for node in there["nodes"]] == [(1, 0, 0), (101, 0, 0), (1, 50, 0)]
    with pytest.raises(errors.Misuse, match=r"mininet\.wifi\.sixLoWPAN\.link is not supported: 802"):
        exec("from mininet.wifi.sixLoWPAN import link; link()", {})


def test_the_first_wire_of_a_station_that_is_an_access_point_is_its_second_port(installed):
    there = run(BEGIN + "sta1.setMasterMode(intf='sta1-wlan0', ssid='x', channel='1')\n"
                "made = net.addLink(sta1, net.addStation('sta2'), link='wired')\n"
                "names = made.intf1.name, net.addLink(sta1, net.addHost('h1')).intf1.name")  # fmt: skip
    assert there["names"] == ("sta1-eth2", "sta1-eth3")


RADIOS = """
from time import sleep
from mn_wifi.energy import Energy  # not used
from mn_wifi.link import adhoc
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi(ac_method='ssf')
net.addAccessPoint('ap1', ssid='x', channel='1', position='0,10,0', failMode='standalone')
stas = [net.addStation(f'sta{i}', wlans=2, ip=f'10.1.0.{i}/16,10.0.0.{i}/16', position=(10 * i, 0, 0)) for i in (1, 2)]
for sta in stas:
    net.addLink(sta, cls=adhoc, intf=f'{sta}-wlan0', ssid='cell', channel=6)
    sta.setIP6(f'2001::{sta.name[-1]}/64', intf=f'{sta}-wlan0')
net.build()
sleep(3)
print([str(sta.wintfs[1].associatedTo) for sta in stas], stas[0].wintfs[0].mac, stas[0].wintfs[1].band, stas[0].pos)
print(repr(stas[0].cmd("ping -c 1 2001::2 | grep -o ' 0%'")))
for sta in stas:
    sta.wintfs[0].setChannel(11)
channel = "iw dev sta1-wlan0 info | grep -o '(2462 MHz)'"
print(stas[0].cmd("for ip in 10.1.0.2 2001::2; do ping -c 1 $ip | grep -o ' 0%'; done; " + channel).split())
stas[0].wintfs[1].setChannel(6)
stas[0].cmd('xterm -geometry 80x24 -hold -T "one two" -e "cd /; no-such-program -x; echo in a window" &')
sleep(1)
print(open('one-two.log').read())
net['ap1'].setChannel(11, intf='ap1-wlan1')
sleep(3)
print([sta.cmd(f"iw dev {sta}-wlan1 link | grep -o 'freq: .*'").split() for sta in stas], net['ap1'].wintfs[0].freq)
net.stop()
"""


def test_radios_of_two_kinds_and_windows(stage):
    """Association control looks at clients alone; a cell and an access point change their channels; programs of windows
    write files."""
    lines, command = stage.play(RADIOS), "cd /; no-such-program -x; echo in a window"
    assert [line for line in lines if line][-9:] == [
        "['ap1-wlan1', 'ap1-wlan1'] 02:00:00:00:00:00 20 (10.0, 0.0, 0.0)",
        repr(" 0%\r\n"),
        "['0%', '0%', '(2462', 'MHz)']",
        "*** dcflab: sta1-wlan1: setChannel(6) has no effect: a client follows its access point",
        f"*** dcflab: xterm: a lane has no terminals; the output of '{command}' is in one-two.log",
        f"*** dcflab: xterm: {programs.missing_message('no-such-program')}",
        "sh: 1: no-such-program: not found",
        "in a window",
        "[['freq:', '2462'], ['freq:', '2462']] 2.462",
    ]


TIMERS = """
import time
from mn_wifi.net import Mininet_wifi
import matplotlib.pyplot as plt
began, at = time.time(), []
def call():
    at.append(round(time.time() - began, 2))
    return len(at) < 3
timer = plt.gcf().canvas.new_timer(interval=500)
timer.add_callback(call)
timer.start()
once = plt.gcf().canvas.new_timer(interval=1750)
once.single_shot = True
once.add_callback(timer.stop)
once.add_callback(call)
once.start()
plt.pause(5)
print('at', at)
"""


def test_timers_of_matplotlib_run_without_a_window(stage):
    """Until a callback has enough, or another one stops them."""
    assert after(stage.play(TIMERS), "at") == ["[0.5, 1.0, 1.5, 1.75]"]


def test_olsrds_options():
    said = kinds.routing_arguments("x", "olsr", "-hint 6 -tcint 2.5")
    assert said == ",hello_interval_ms=6000,tc_interval_ms=2500"
    for routing, wrong in (("olsr", "-d 1"), ("olsr", "-hint"), ("batman-adv", "-hint 6")):
        with pytest.raises(Misuse, match=f"x: proto_args='{wrong}': {routing} is the lab's own"):
            kinds.routing_arguments("x", routing, wrong)


def test_functions_of_mininets_util():
    assert (util.ipStr(0x0A000001), util.ipNum(10, 0, 0, 1), util.ipParse("10.1")) == ("10.0.0.1", *[0x0A000001] * 2)
    assert util.netParse("192.168.5.0/24") == (0xC0A80500, 24)
    assert sorted(["h10", "h2"], key=util.natural) == ["h2", "h10"]


def test_a_torus():
    made = topo.TorusTopo(3, 3)
    assert len(made.switches()) == len(made.hosts()) == 9 and len(made.links()) == 9 + 18


def test_a_host_without_a_link_is_named(stage):
    with pytest.raises(LaneError, match="h1: a host has no link yet; add one"):
        stage.play("from mininet.net import Mininet\nnet = Mininet()\nnet.addHost('h1')\nnet.start()\n")


NATTED = """
from mininet.net import Mininet
from mininet.nodelib import NAT
net = Mininet(controller=None)
h0, h1 = net.addHost('h0', ip='10.0.0.9/8'), net.addHost('h1', ip='192.168.1.100/24', defaultRoute='via 192.168.1.1')
nat1 = net.addHost('nat1', cls=NAT, subnet='192.168.1.0/24', inetIntf='nat1-eth0', localIntf='nat1-eth1')
net.addLink(nat1, h0, intfName1='nat1-eth0')
net.addLink(nat1, h1, intfName1='nat1-eth1', params1={'ip': '192.168.1.1/24'})
net.start()
print('out', h1.cmd("ping -c1 10.0.0.9 | grep -o ' 0%'").strip(), 'in', h0.cmd('ping -c1 -W1 192.168.1.100').strip())
net.stop()
"""


@pytest.mark.skipif(not programs.path_of("nft"), reason="nftables is not installed")
def test_a_nat_between_two_networks(stage):
    assert "out 0% in ping: connect: Network is unreachable" in stage.play(NATTED)


def test_a_nat_without_nftables(installed, monkeypatch):
    monkeypatch.setattr(programs, "path_of", lambda program: None)
    there = run(NATTED.partition("net.start()")[0])
    with pytest.raises(Misuse, match="nat1: there is no nft on this machine: install the package nftables"):
        there["nat1"].config()


ISOLATED = """
from mn_wifi.net import Mininet_wifi
net = Mininet_wifi(client_isolation=True)
net.addController('c1')
sta1, sta2, h1 = net.addStation('sta1'), net.addStation('sta2'), net.addHost('h1')
ap1 = net.addAccessPoint('ap1', ssid='x', channel='1')
net.addLink(ap1, h1)
net.start()
print('clients', round(net.ping([sta1, sta2])), 'wire', round(net.ping([sta1, h1])))
ap1.stop()
print('stopped', round(net.ping([sta1, h1])))
ap1.start()
said = ap1.cmd('hostapd_cli -i ap1-wlan1 status')
print('started', round(net.ping([sta1, h1])), isinstance(sta1.pid, int), said[:13])
sta1.cmd('exit')
print('again', sta1.cmd('echo there').strip())
net.stop()
"""


def test_isolated_clients_and_a_bridge_that_stops(stage):
    lines = [line for line in stage.play(ISOLATED) if line.split(" ")[0] in ("clients", "stopped", "started", "again")]
    assert lines == ["clients 100 wire 0", "stopped 100", "started 0 True state=ENABLED", "again there"]


def test_a_script_finds_what_lies_beside_it_and_writes_into_the_run_folder(stage, tmp_path, monkeypatch):
    """From its first line on; also a file that an argument names, and one below the working directory that it names
    itself. `input` asks the user."""
    (tmp_path / "here" / "data").mkdir(parents=True)
    (tmp_path / "here" / "given.txt").write_text("given\n")
    (tmp_path / "here" / "data" / "more.txt").write_text("more\n")
    monkeypatch.chdir(tmp_path / "here")
    stage.folder.with_name("beside.py").write_text("print('beside')\n")
    lines = stage.play(
        "print('early', file=open('early.txt', 'w'))\nfrom mininet.net import Mininet\n"
        "import sys; print(open(sys.argv[1]).read(), end='')\n"
        "import os; print(open(f'{os.getcwd()}/data/more.txt').read(), end='')\n"
        "print('before', file=open('/tmp/before', 'w')); print(open('/tmp/before').read(), end='')\n"
        "net = Mininet()\nfor name in ('h1', 's1'):\n"
        "    (net.addHost if name == 'h1' else net.addSwitch)(name)\nnet.addLink('h1', 's1')\nnet.build()\n"
        "print(net['h1'].cmd('python3 beside.py; echo 1 > mine.txt; echo 2 > /tmp/gone; cat /tmp/gone'))\n"
        "print(input('what? '))\nnet.stop()\n",
        "given.txt",
        typed=["that"],
        kept=True,
    )
    assert [line for line in lines if line] == ["given", "more", "before", "beside", "2", "that"]
    assert {file.name for file in stage.folder.iterdir()} == {"early.txt", "mine.txt", "script.py", "console.log"}


def test_modes_b_and_g_in_one_network(stage):
    """An access point of mode g has a station with mode b's rates, and protects it."""
    lines = stage.play("mixed")
    old = "02 04 0b 16"
    assert "lost 0.0" in lines and after(lines, "sta1 has") == [f"{old} 0c 12 18 24 30 48 60 6c"]
    assert after(lines, "sta2 has") == after(lines, "sta3 has") == [old]
    assert after(lines, "ap") == ["1 has 1 without ERP", "2 has 0 without ERP"]


@pytest.mark.parametrize(
    ("mode", "cap", "rate", "least_mbps"),
    [
        ("ac", "vht_capab='[VHT80]', ht_capab='[HT40+]'", "866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2", 250),
        ("n", "channel=11, ht_cap='HT40-'", "270.0 MBit/s MCS 15 40MHz", 120),
        ("ax2", "", "286.7 MBit/s HE-MCS 11 HE-NSS 2 HE-GI 0 HE-DCM 0", 120),
    ],
)
def test_modes_of_80211n_and_later(stage, mode, cap, rate, least_mbps):
    """A host's TCP to a station that says nothing of modes, and one with legacy rates beside it."""
    lines = stage.play(
        BEGIN + f"ap1, h1 = net.addAccessPoint('ap1', mode={mode!r}, failMode='standalone', {cap}), net.addHost('h1')\n"
        f"sta2 = net.addStation('sta2', mode={'a' if mode == 'ac' else 'g'!r})\n"
        "net.addLink(ap1, h1)\nnet.build()\n"
        "for name, sta in (('down', sta1), ('old', sta2)):\n"
        "    print(name, *net.iperf((h1, sta), seconds=2, fmt='M'))\n"
        "print(ap1.cmd('iw dev ap1-wlan1 station dump'))\nnet.stop()\n"
    )
    (down,), (old,) = (after(lines, word) for word in ("down", "old"))
    assert float(down.split()[0]) > least_mbps and 10 < float(old.split()[0]) < 30
    assert after(lines, "\trx bitrate:") == [rate, "54.0 MBit/s"]


def test_an_access_point_of_80211ac_changes_its_channel(stage):
    lines = stage.play(
        BEGIN + "from time import sleep\nap1 = net.addAccessPoint('ap1', mode='ac', band=80, failMode='standalone')\n"
        "sta2 = net.addStation('sta2')\nnet.build()\nap1.setChannel(149)\nsleep(3)\n"
        "print('lost', net.ping([sta1, sta2]))\nprint(sta1.cmd('iw dev sta1-wlan0 info'))\n"
        "for mode, channel in (('ac', 165), ('n', 1)):\n    ap1.wintf().mode = mode\n"
        "    try:\n        ap1.setChannel(channel)\n"
        "    except ValueError as error:\n        print('no', error)\nnet.stop()\n"
    )
    assert after(lines, "lost") == ["0.0"]
    assert after(lines, "\tchannel") == ["149 (5745 MHz), width: 80 MHz, center1: 5775 MHz"]
    assert after(lines, "no") == [
        "ap1-wlan1: band=80: channel 165 is in no block of 80 MHz",
        "ap1-wlan1: setChannel(1) to a band that the network does not have while the network runs is not supported: "
        "give an access point that band",
    ]


def test_an_access_point_changes_its_band(stage):
    """hostapd begins anew, and a station follows; to a band that no access point began with it cannot."""
    lines = stage.play(
        BEGIN
        + "from time import sleep\nap1, ap2 = (net.addAccessPoint(f'ap{i}', ssid=f's{i}', mode='n', channel=channel,"
        " failMode='standalone') for i, channel in ((1, 1), (2, 36)))\n"
        "h1 = net.addHost('h1')\nnet.addLink(ap1, h1)\nnet.addLink(ap1, sta1)\nnet.build()\n"
        "for channel in 40, 6:\n    ap1.setChannel(channel)\n    sleep(3)\n"
        "    print('lost', net.ping([sta1, h1]), sta1.cmd('iw dev sta1-wlan0 link').split('freq: ')[1].split()[0])\n"
        "net.stop()\n"
    )
    assert after(lines, "lost") == ["0.0 5200", "0.0 2437"]


def test_a_station_joins_a_cell_of_80211n_later(stage):
    """And leaves it. A mode that the network does not have is refused."""
    lines = stage.play(
        BEGIN + "from mn_wifi.link import adhoc, mesh\nsta2, sta3 = net.addStation('sta2'), net.addStation('sta3')\n"
        "net.addLink(sta2, cls=adhoc, ssid='cell', mode='n2', channel=5)\n"
        "net.addLink(sta3, cls=mesh, mode='ax2', channel=5)\nnet.build()\n"
        "sta1.setAdhocMode(ssid='cell', mode='n2', channel=5)\nnet.ping([sta1, sta2])\n"
        "print('lost', net.ping([sta1, sta2]))\nprint(sta2.cmd('iw dev sta2-wlan0 station dump'))\n"
        "for mode, channel in (('g', 5), ('n', 36), ('ax2', 5)):\n    try:\n"
        "        sta1.setAdhocMode(ssid='cell', mode=mode, channel=channel)\n"
        "    except ValueError as error:\n        print('no', error)\n"
        "sta1.setManagedMode()\nprint('gone', net.ping([sta1, sta2]))\nnet.stop()\n"
    )
    assert after(lines, "lost") == ["0.0"] and after(lines, "gone") == ["100.0"]
    assert any("MCS" in line for line in after(lines, "\trx bitrate:"))
    said = after(lines, "no sta1-wlan0:")
    assert [word in each for word, each in zip(("mode 'g'", "mode 'n'", "an independent BSS"), said, strict=True)] == [
        True
    ] * 3


@pytest.mark.parametrize(("model", "slowest", "fastest", "pause"), [
    ("RandomDirection", 1, 10, 5), ("RandomWayPoint", 1, 10, 5), ("RandomWalk", 1, 1, 0), ("ReferencePoint", 0.1, 1, 0),
])  # fmt: skip
def test_models_have_the_speeds_and_pauses_of_mininet_wifi(model, slowest, fastest, pause, installed):
    for said, low, high, longest in (({}, slowest, fastest, pause), ({"max_v": 0.5, "max_wt": 0}, 0.1, 0.5, 0)):
        speeds, still = [], [0.0]
        for path in paths(model=model, stopTime=900, **said):
            for a, b in itertools.pairwise(path):
                length, seconds = math.dist(a.position, b.position), b.at_s - a.at_s
                (speeds if length > 1 else still).append(length / seconds if length > 1 else seconds)
        if speeds:
            assert low - 1e-3 <= min(speeds) and max(speeds) <= high + 1e-3
        assert max(still) <= max(longest, 1.1 / low)


def test_an_aircraft_and_a_satellite_are_stations(installed, capsys):
    there = run(BEGIN + "from mn_wifi.node import Aircraft, Satellite\n"
                "a, s = net.addAircraft('a1', position='1,2,90'), net.addSatellite('s1', cls=Satellite)")  # fmt: skip
    assert there["net"].stations == [there["sta1"], there["a"], there["s"]] and there["a"].position == (1.0, 2.0, 90.0)
    assert "s1 is a station: setPosition, mobility" in capsys.readouterr().out


def test_old_networks_of_mininet_have_radios(installed):
    there = run("from mininet.net import Mininet\nfrom mininet.node import OVSKernelAP, Controller\n"
                "net = Mininet(controller=Controller, accessPoint=OVSKernelAP, enable_wmediumd=True)\n"
                "net.addStation('sta1')\nplain = Mininet()")  # fmt: skip
    assert type(there["net"]).__name__ == "Mininet_wifi" and type(there["plain"]).__name__ == "Mininet"


MADE = """
from mininet.node import RemoteController
from mn_wifi.net import Mininet_wifi
c0 = RemoteController("c0", ip="172.17.0.2", port=6653)
net = Mininet_wifi(controller=c0)
ap1 = net.addAccessPoint("ap1", ssid="x", mode="a", channel=36)
sta1, sta2 = net.addStation("sta1"), net.addStation("sta2")
net.build()
c0.start()
ap1.start([c0])
print("lost", net.pingAll(), sta1.wintfs[0].channel, sta1.wintfs[0].freq)
net.stop()
"""


def test_a_controller_that_the_script_made_and_a_client_on_its_channel(stage):
    assert after(stage.play(MADE), "lost") == ["0.0 36 5.18"]
