# SPDX-License-Identifier: BSD-3-Clause
"""Scripts with OpenFlow: flows, controllers, and what is said where there are none."""

import contextlib
import re
import shutil
import socket
import struct

import pytest

from emulation import lanes
from emulation.features.mininet import controllers
from emulation.lane import outside, programs
from emulation.lane.errors import Misuse
from emulation.lanes import Clock, LaneError, Listener
from emulation.play.session import provide
from emulation.setup import stock
from tests.features.mininet.conftest import SCRIPTS, run


def results(lines):
    """Return the lines of the scripts' own output."""
    words = ("apart", "together", "lost", "metered", "mirrored", "stopped", "started", "True", "at ")
    return [line for line in lines if line.startswith(words)]


def test_stations_that_are_kept_apart_reach_each_other_by_flows(stage):
    lines = stage.play("isolated_flows", typed=["dpctl add-flow actions=drop", "sh ovs-ofctl dump-flows ap1"])
    assert results(lines) == ["together, lost 0.0", "apart, lost 100.0"]
    assert any("actions=drop" in line for line in lines)


def test_a_slice_a_group_a_meter_and_a_mirror(stage):
    nothing, pair, group, metered, *rest = results(stage.play("tables"))
    assert [float(line.split()[1]) for line in (nothing, pair, group)] == pytest.approx([100, 1000 / 12, 800 / 12])
    assert 950 < float(re.findall(r"[\d.]+", metered)[0]) < 1050  # kb/s, of 5 Mb/s
    assert rest == ["mirrored 10", "stopped 100.0", "started 0.0", "True"]


def test_a_controller_of_osken_controls_a_handover(stage, tmp_path):
    """One seed gives one trace, also with such a program; and it may be at an address that is not the lane's."""
    lines = stage.play("controlled", "192.168.7.7")
    sent, received = re.search(r"(\d+) packets transmitted, (\d+) received", "".join(lines)).groups()
    assert sent == "200" and int(received) > 180
    assert results(lines) == ["at ap2-wlan1 lost 0.0"]
    assert any(line.startswith("1 moves") for line in lines) and not any("no controller" in line for line in lines)
    (tmp_path / "again").mkdir()
    assert type(stage)(stage.lab, tmp_path / "again").play("controlled", "192.168.7.7") == lines


def test_an_application_of_ryu_is_asked_over_http(stage):
    lines = stage.play("rest")
    assert results(lines) == ["at [1]", "lost 100.0", "at 200", "lost 0.0"]
    assert any("os-ken, Ryu's successor, runs" in line for line in lines)


LOOP = """
from mininet.net import Mininet
from mininet.node import Controller, OVSSwitch, RemoteController
from mininet.nodelib import LinuxBridge
net = Mininet(controller={controller})
s1, s2, s3 = (net.addSwitch('s%d' % i{switch}) for i in (1, 2, 3))
h1, h2 = net.addHost('h1'), net.addHost('h2')
for a, b in ((s1, s2), (s2, s3), (s3, s1), (h1, s1), (h2, s2)):
    net.addLink(a, b)
net.addController('c0')
net.start()
net.waitConnected()
print('lost', net.ping([h1, h2]))
for status in 'down', 'up':
    net.configLinkStatus('s1', 's2', status)
    print('lost', net.ping([h1, h2]))
net.stop()
"""


@pytest.mark.parametrize(
    ("controller", "switch"),
    [("None", ", failMode='standalone'"), ("None", ", cls=LinuxBridge"), ("Controller", ""), ("RemoteController", "")],
)
def test_a_wire_that_closes_a_loop_of_switches_that_learn_stays_down_until_another_is(stage, controller, switch):
    lines = stage.play(LOOP.format(controller=controller, switch=switch))
    assert results(lines) == ["lost 0.0"] * 3
    said = "*** dcflab: s3 - s2 - s1 - s3: broadcasts would never end in this loop, so s3-eth2<->s1-eth2 is down: with"
    assert sum(line.startswith(said) for line in lines) == 1
    assert "*** dcflab: s3-eth2<->s1-eth2 is up again: it closes no loop of switches that learn" in lines


def test_a_loop_with_a_spanning_tree_and_nobody_who_controls(stage):
    lines = stage.play(LOOP.format(controller="RemoteController", switch=", failMode='standalone', stp=True"))
    assert results(lines)[0] == "lost 0.0"
    (said,) = (line for line in lines if "c0: no controller answers at 127.0.0.1:6653, so switches learn" in line)
    assert "add --lane vm --clock real" in said


MIXED = """
from mininet.net import Mininet
from mininet.node import OVSSwitch
from mininet.nodelib import LinuxBridge
net = Mininet(controller=None)
kinds = [dict(cls=each) if each is LinuxBridge else dict(failMode='standalone') for each in ({kinds})]
s1, s2, s3 = (net.addSwitch('s%d' % i, stp=i in {trees}, **kind) for i, kind in enumerate(kinds, 1))
h1, h2 = net.addHost('h1'), net.addHost('h2')
for a, b in ((s1, s2), (s2, s3), (s3, s1), (h1, s1), (h2, s2)):
    net.addLink(a, b)
net.start()
net.waitConnected()
print('lost', net.ping([h1, h2]))
net.configLinkStatus('s1', 's2', 'down')
h1.cmd('sleep 60')
print('lost', net.ping([h1, h2]))
net.stop()
"""


@pytest.mark.parametrize(
    ("kinds", "trees", "cut"),
    [("OVSSwitch, OVSSwitch, OVSSwitch", (1,), True), ("OVSSwitch, LinuxBridge, LinuxBridge", (1,), False),
     ("LinuxBridge, OVSSwitch, LinuxBridge", (1,), True), ("OVSSwitch, LinuxBridge, OVSSwitch", (1, 2, 3), False),
     ("LinuxBridge, LinuxBridge, LinuxBridge", (1,), False)],
)  # fmt: skip
def test_a_spanning_tree_of_some_switches(stage, kinds, trees, cut):
    """The kernel's bridges forward its messages if they have none. Open vSwitch drops them."""
    lines = stage.play(MIXED.format(kinds=kinds, trees=trees))
    assert results(lines) == ["lost 0.0"] * 2
    assert sum("with stp=True at each a spanning tree decides" in line for line in lines) == cut


REMOTE = """
from mininet.net import Mininet
from mininet.node import RemoteController
net = Mininet(controller=lambda name: RemoteController(name, ip="10.20.30.40", port=6634))
s1 = net.addSwitch("s1", protocols="OpenFlow13")
for name in "h1", "h2":
    net.addLink(net.addHost(name), s1)
net.addController("c0")
net.build()
s1.start(net.controllers)  # Mininet's RemoteController needs no start
print("lost", net.pingAll())
print("at", [line.split(",")[-1].strip() for line in s1.dpctl("dump-flows").split("\\r\\n") if "priority=0" in line])
net.stop()
"""


@pytest.mark.parametrize(
    ("option", "said"),
    [(None, ["lost 0.0", "at ['priority=0 actions=NORMAL']"]), ("none", ["lost 100.0", "at []"]),
     ("osken-manager osken_app.py", ["lost 0.0", "at ['priority=0 actions=CONTROLLER:65535']"])],
)  # fmt: skip
def test_what_runs_where_a_remote_controller_answers_nowhere(stage, tmp_path, option, said):
    shutil.copy(SCRIPTS / "osken_app.py", tmp_path)  # beside the script
    stage.options = {"controller": option} if option else {}
    assert results(stage.play(REMOTE)) == said


OWN = """
from mininet.node import Controller
class Own(Controller):
    def start(self):
        self.cmd("{program} > own.log 2>&1 &")
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [("no/such/pox.py my_app", ["lost 0.0", "at ['priority=0 actions=NORMAL']"]),
     ("osken-manager osken_app.py --ofp-tcp-listen-port 6634",
      ["lost 0.0", "at ['priority=0 actions=CONTROLLER:65535']"])],
)  # fmt: skip
def test_a_class_of_the_script_that_starts_its_controller(stage, tmp_path, program, said):
    """Its program alone decides; without it switches learn, and a note says so."""
    shutil.copy(SCRIPTS / "osken_app.py", tmp_path)
    made = REMOTE.replace('RemoteController(name, ip="10.20.30.40", port=6634)', "Own(name, port=6634)")
    lines = stage.play(OWN.format(program=program) + made.replace("s1.start", "net.get('c0').start()\ns1.start"))
    assert results(lines) == said
    assert any("c0: no controller answers at 127.0.0.1:6634" in line for line in lines) == ("pox" in program)


def test_an_option_for_a_controller_that_is_not_there_is_refused(stage):
    stage.options = {"controller": "no-such-program --port %d"}
    with pytest.raises(LaneError, match="--controller: there is no no-such-program on this machine"):
        stage.play(REMOTE)


LEARNING = """
from functools import partial
from mininet.net import Mininet
from mininet.node import Controller, OVSSwitch
from mininet.topo import SingleSwitchTopo
for protocols in "", "OpenFlow13":
    net = Mininet(SingleSwitchTopo(3), switch=partial(OVSSwitch, protocols=protocols), controller=Controller)
    net.start()
    h1, h2, h3 = net.hosts
    h1.cmd("ping -c 20 -i 0.1", h2.IP())
    print("overheard", h3.cmd("cat /sys/class/net/h3-eth0/statistics/rx_packets"))
    net.stop()
"""


def test_switches_that_learn_send_a_packet_to_its_port_only(stage):
    heard = [int(line.split()[1]) for line in stage.play(LEARNING) if line.startswith("overheard")]
    assert len(heard) == 2 and max(heard) <= 5  # an ARP request, and what comes before the switch knows


MANY = """
from mininet.net import Mininet
from mininet.topo import TreeTopo
net = Mininet(TreeTopo(depth=2, fanout=3))
net.start()
print("at most", max(times[2] for _, _, times in net.pingFull()), "ms")
net.stop()
"""


def test_daemons_of_switches_leave_pings_alone(stage):
    """Their reads of the clock let no time pass, however many pings there were."""
    (said,) = results(stage.play(MANY))
    assert float(said.split()[2]) < 0.1


KERNELS = [image for image in stock.installed() if (stock.modules_of(stock.release_of(image)) / "build").exists()]
OUTSIDE = """
import sys
from mininet.net import Mininet
from mininet.node import OVSSwitch, RemoteController
net = Mininet(switch=OVSSwitch, controller=None)
net.addController("c0", RemoteController, port=int(sys.argv[1]))
s1 = net.addSwitch("s1", dpid="2a", protocols="OpenFlow13")
net.addLink(net.addHost("h1"), s1)
net.start()
way = f'target="tcp:127.0.0.1:{sys.argv[1]}"'  # there is another one, which waits for dpctl, so s1 names none
record = s1.cmd(f"ovs-vsctl --bare --columns=_uuid find controller '{way}'").strip()
s1.cmd(f"ovs-vsctl --timeout=100 wait-until controller {record} is_connected=true")
if "true" in s1.cmd(f"ovs-vsctl get controller {record} is_connected"):
    print("connected")
net.stop()
"""
MESSAGE = struct.Struct("!BBHI")  # version, type, length, number: OpenFlow 1.3.5, 7.1.1
VERSION, HELLO, FEATURES_REQUEST, FEATURES_REPLY = 4, 0, 5, 6


@pytest.mark.stock
@pytest.mark.skipif(not shutil.which("qemu-system-x86_64"), reason="no qemu-system-x86_64")
@pytest.mark.skipif(not KERNELS, reason="no kernel of the distribution with mac80211_hwsim and headers")
def test_in_real_time_a_switch_has_its_controller_outside(tmp_path):
    datapaths = []

    def control(made):
        with made, made.makefile("rb") as said, contextlib.suppress(ConnectionError):  # the first only tries the way
            for kind in HELLO, FEATURES_REQUEST:
                made.sendall(MESSAGE.pack(VERSION, kind, MESSAGE.size, 1))
            while head := said.read(MESSAGE.size):
                _, kind, length, _ = MESSAGE.unpack(head)
                content = said.read(length - MESSAGE.size)
                if kind == FEATURES_REPLY:
                    datapaths.append(content[:8].hex().lstrip("0"))

    def accept():
        with contextlib.suppress(OSError):
            while True:
                outside.start(control, listener.accept()[0])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread, port = outside.start(accept), listener.getsockname()[1]
        way = {"clock": Clock.REAL, "outside": [f"127.0.0.1:{port}"]}
        lab = provide(lane=lanes.with_settings(lanes.find("vm"), way))
        (script := tmp_path / "script.py").write_text(OUTSIDE)
        lines, command = [], ["script", str(script), str(port)]
        lab.lane.run(lab.kernel, lab.modules, tmp_path, command, wall_limit_s=300, listener=Listener(lines.append))
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert "connected" in lines and "2a" in datapaths


@pytest.fixture
def bare(installed, monkeypatch):
    """A machine without Open vSwitch."""
    monkeypatch.setattr(programs, "path_of", lambda program: None)


BEGIN = "from mininet.net import Mininet\nfrom mininet.node import *\nnet = Mininet(controller=Controller)\n"


@pytest.mark.parametrize("call", ["addSwitch('s1', failMode='secure')", "addController('s1', RemoteController)"])
def test_what_needs_open_vswitch_says_its_package(call, bare):
    there = run(f"{BEGIN}net.{call}")
    with pytest.raises(Misuse, match="s1: there is no ovs-vswitchd on this machine: install the package openvs"):
        there["net"].has_openflow  # noqa: B018


def test_what_does_without_open_vswitch_runs(bare, capsys):
    there = run(BEGIN + "s1, c0 = net.addSwitch('s1'), net.addController('c0')")
    assert there["s1"].apart and there["s1"].bridge() == {"stp": False}
    assert "the kernel's bridges, without OpenFlow" in capsys.readouterr().out


def test_a_switch_has_its_numbers_datapath_id(bare):
    there = run(BEGIN + "s = [net.addSwitch(name, dpid=dpid) for name, dpid in (('s12', None), ('core', '00:0a:1'))]")
    assert [each.dpid for each in there["s"]] == ["000000000000000c", "00000000000000a1"]
    assert controllers.Ryu("c0", "my.py").cargs == "--ofp-tcp-listen-port %d my.py"


CHOSEN = """
from mininet.net import Mininet
from mininet.node import Controller, OVSSwitch, RemoteController
c0 = Controller("c0", port=6633)
chosen = {"s1": c0, "s2": RemoteController("c2", ip="127.0.0.1", port=6633)}
class Own(OVSSwitch):
    def start(self, controllers):
        return OVSSwitch.start(self, [chosen[self.name]])
net = Mininet(switch=Own)
for name in "s1", "s2":
    net.addLink(net.addHost(name.replace("s", "h")), net.addSwitch(name))
net.addLink("s1", "s2")
net.addController(c0)
net.start()
print("lost", net.pingAll(), "tcp:127.0.0.1:6633" in net["s2"].cmd("ovs-vsctl get-controller s2").split())
net.stop()
"""


def test_a_switch_of_a_script_chooses_a_controller_that_the_network_has_not(stage):
    assert [line for line in stage.play(CHOSEN) if line.startswith("lost")] == ["lost 0.0 True"]
